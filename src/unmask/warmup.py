"""Compile the kernels of all attacks beforehand, by attacking small generated tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from unmask import datasets
from unmask.assessment import assess
from unmask.errors import EngineError
from unmask.evidence import Progress, silent
from unmask.kernels.compiling import kept_bytes, kept_in, while_compiling
from unmask.masking import parse_masking
from unmask.network_assessment import assess_network
from unmask.networks import Network
from unmask.persons import Persons
from unmask.persons_assessment import assess_persons
from unmask.shown import Shown
from unmask.tables import Release

PEOPLE = 200
NUMBERS = ("nearest", "one_to_one", "learned", "likelihood", "channel")
COUNTED = ("special_uniques", "knowledge_sweep")  # columns of more than 256 values have kernels of their own
MANY_VALUES = 300
WIDE = 40  # columns of files whose searches have kernels of their own (kernels/search/wide.py)
MASKINGS = ("noise(0.3)", "rank_swap(share=0.1)", "microaggregation(5)")


@dataclass(frozen=True, slots=True)
class Warmed(Shown):
    """Where compiled kernels are kept, how much room they take, and how many had to be compiled now."""

    folder: Path
    megabytes: float
    compiled: int


def warmup(*, progress: Progress | None = None) -> Warmed:
    """Compile what attacks need, so that nobody waits for it later; what is kept already is not compiled again.

    Kernels are kept in the folder ``NUMBA_CACHE_DIR``, else beside the installed package, else in the user's own.

    Parameters
    ----------
    progress
        Called with the share that is done, and words.

    """
    tell, jobs = progress or silent, _jobs()
    _check_kept()
    names: list[str] = []
    for place, (words, run) in enumerate(jobs.items()):

        def note(name: str, place: int = place, words: str = words) -> None:
            names.append(name)
            tell(place / len(jobs), f"{words}: compiling {name}")

        tell(place / len(jobs), words)
        with while_compiling(note):
            run()
    folders = kept_in()
    return Warmed(Path(os.path.commonpath(folders)), kept_bytes(folders) / 1e6, len(names))


def _check_kept() -> None:
    """Refuse where nothing would be kept, or not where it was asked for."""
    wanted, folders = os.environ.get("NUMBA_CACHE_DIR"), kept_in()
    if not folders or (wanted and not any(folder.is_relative_to(Path(wanted).absolute()) for folder in folders)):
        got = f"NUMBA_CACHE_DIR={wanted}" if wanted else "no folder that can be written"
        hint = "set NUMBA_CACHE_DIR to a folder that can be written"
        raise EngineError("compiled kernels cannot be kept there", got=got, hint=hint)


def _jobs() -> dict[str, Callable[[], object]]:
    return {
        "a table of people": _people,
        "columns of many values": _many_values,
        "a synthetic table": _synthetic,
        "a table of numbers": _numbers,
        "a table of many columns": _wide,
        "people with many rows": _persons,
        "a network": _network,
    }


def _people() -> None:
    everybody = datasets.patients(PEOPLE + 60, seed=1)
    people, others = everybody[:PEOPLE], everybody[PEOPLE:]
    released = parse_masking("noise(0.3)").apply(people, 1)
    assess(
        Release(
            people, released, id="patient", confidential=["diagnosis", "cost"], control=others, masking="noise(0.3)",
            coordinates=["longitude", "latitude"],
        ),
        utility="none",
    )  # fmt: skip


def _many_values() -> None:
    people = datasets.patients(MANY_VALUES, seed=1)
    assess(Release(people, people, id="patient", confidential=["diagnosis"]), only=COUNTED, utility="none")


def _synthetic() -> None:
    people = datasets.patients(PEOPLE, seed=1)
    made = datasets.patients(PEOPLE, seed=2)
    assess(Release(people, made, id="patient", confidential=["diagnosis"], synthetic=True), utility="none")


def _numbers() -> None:
    people = datasets.census(PEOPLE, seed=1)
    for masking in MASKINGS:
        assess(Release(people, parse_masking(masking).apply(people, 1)), only=NUMBERS, utility="none")


def _wide() -> None:
    columns = np.random.default_rng(1).normal(size=(WIDE, PEOPLE))
    people = pl.DataFrame({f"c{k}": column for k, column in enumerate(columns)})
    assess(Release(people, parse_masking("noise(0.5)").apply(people, 1)), only=NUMBERS[:2], utility="none")


def _persons() -> None:
    visits = datasets.visits(60)
    assess_persons(Persons(visits, visits, id="patient"))


def _network() -> None:
    ties = datasets.friends(60)
    assess_network(Network(ties, ties))
