"""All attacks on a release with many rows a person, and what they found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.errors import NothingToTryError
from unmask.evidence import Progress, silent
from unmask.persons.alike import Alike, alike
from unmask.persons.link import BagLink, link_blind, link_taught
from unmask.persons.persons import Persons
from unmask.persons.points import Unicity, sequences, unicity
from unmask.persons.presence import Presence, presence
from unmask.persons.shared import Shared, shared
from unmask.shown import Shown

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class PersonsRisk(Shown):
    """Who is found among people with many rows, by each attack; None: it does not apply, for the reason in ``why``."""

    keys: ClassVar[tuple[str, ...]] = (
        "alike.rate", "alike.small", "bags.rate", "bags.known", "taught.rate", "taught.known", "points.rate",
        "sequences.rate", "shared.excess", "presence.auc", "presence.tpr",
    )  # fmt: skip

    persons: Persons = field(repr=False)
    alike: Alike | None = field(repr=False)
    bags: BagLink = field(repr=False)
    taught: BagLink | None = field(repr=False)
    points: Unicity | None = field(repr=False)
    sequences: Unicity | None = field(repr=False)
    shared: Shared | None = field(repr=False)
    presence: Presence | None = field(repr=False)
    why: dict[str, str] = field(repr=False)
    seed: int

    def credits(self) -> dict[str, Floats]:
        """For each attack, of everybody in the original: the share of it that finds them; NaN: not asked about."""
        there = np.flatnonzero(self.persons.there)
        parts = {"alike": None if self.alike is None else (there, self.alike.credit)}
        parts |= {name: None if one is None else (one.asked, one.best)
                  for name, one in (("bags", self.bags), ("taught", self.taught))}  # fmt: skip
        parts |= {name: None if one is None else (one.asked, one.credit)
                  for name, one in (("points", self.points), ("sequences", self.sequences))}  # fmt: skip
        found = {}
        for name, part in parts.items():
            if part is not None:
                found[name] = np.full(self.persons.n, np.nan)
                found[name][part[0]] = part[1]
        return found

    def shares(self) -> dict[str, float]:
        """The share of the people asked about that each attack finds."""
        return {name: float(np.nanmean(credit)) for name, credit in self.credits().items()}

    def risks(self) -> tuple[Floats, str]:
        """The risk of everybody by the attack that finds most of those it asks about, and its name.

        Whom it did not ask about have the largest that another attack gives them, or else its mean.
        """
        shares, found = self.shares(), self.credits()
        best = max(shares, key=lambda name: (round(shares[name], 12), name))
        others = np.fmax.reduce(list(found.values()))
        risk = np.where(np.isnan(found[best]), np.where(np.isnan(others), shares[best], others), found[best])
        return np.where(self.persons.there, risk, np.nan), best

    def to_frame(self) -> pl.DataFrame:
        """One row a person of the original, in the order of ids: rows, what each attack made of them, their risk."""
        told = {"row": np.arange(1, self.persons.n + 1), "id": self.persons.ids, "rows": self.persons.sizes[0]}
        found = pl.DataFrame({**told, **self.credits(), "risk": self.risks()[0]})
        return found.with_columns(pl.all().exclude("row", "id", "rows").fill_nan(None))


def persons_risk(persons: Persons, *, seed: int = 0, progress: Progress = silent) -> PersonsRisk:
    """Attack a release in which people have many rows: by equal rows, by all rows, by few points, by their order.

    Parameters
    ----------
    persons
        The original and the release: ``Persons(original, released, id="patient")``.
    seed
        Every random choice follows from it.
    progress
        Called with the share done and words.

    """

    def within(begin: float, width: float) -> Progress:
        return lambda done, words: progress(begin + width * done, words)

    why: dict[str, str] = {}
    progress(0.0, "people with the same rows")
    columns = persons.columns()
    same = _tried("alike", lambda: alike(persons), why)
    bags = link_blind(persons, columns, seed=seed, progress=within(0.1, 0.4))
    taught = _tried("taught", lambda: link_taught(persons, columns, seed=seed, progress=within(0.5, 0.2)), why)
    few = _tried("points", lambda: unicity(persons, seed=seed, progress=within(0.7, 0.1)), why)
    ordered = _tried("sequences", lambda: sequences(persons, seed=seed, progress=within(0.8, 0.1)), why)
    progress(0.9, "what candidates share")
    learnt = _tried("shared", lambda: shared(persons, seed=seed), why)
    members = presence(persons, columns, bags, seed=seed)
    return PersonsRisk(persons, same, bags, taught, few, ordered, learnt, members, why, seed)


def _tried(name: str, attack: Callable[[], Found], why: dict[str, str]) -> Found | None:
    try:
        return attack()
    except NothingToTryError as error:
        why[name] = error.what
        return None
