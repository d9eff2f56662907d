"""The register of measures: a method that registers itself runs in `assess`, in the self-check and in the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from unmask.arrays import Rows
from unmask.evidence.catalogue import ENTRIES, FORMER, NO_ORIGINAL, PAIRS, RELEASE_ALONE, UNPAIRED, Entry, page_of
from unmask.evidence.finding import Evidence

Run = Callable[[Any, "Context"], Evidence]
Cheaper = Literal["", "people"]


Progress = Callable[[float, str], None]  # share done, words
ENDED = "ended: "  # how words begin that tell what an attack found


def silent(_fraction: float, _text: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a measure may use besides the release: its own seed and a way to show progress (fraction done, words).

    ``show_values``: whether its pictures may show values of the original. ``brief``: only what a limit judges is asked
    for; what a report shows beside it may be left out. ``people``: rows of the original of those who
    are asked for, by measures that may ask for some; None: everybody. ``loose``: a matching may be proven to be near
    the best one only.
    """

    seed: int = 0
    progress: Progress = silent
    show_values: bool = False
    brief: bool = False
    people: Rows | None = None
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """A registered method. ``keys`` are the thresholds that its observations are judged by, the headline first."""

    name: str
    title: str
    story: str  # what the intruder holds, wants and does, in one or two sentences
    keys: tuple[str, ...]
    run: Run
    applies: Callable[[Any], str | None]  # the reason why it does not apply, or None
    seed: int  # every measure draws from its own stream
    aliases: tuple[str, ...] = ()  # acronyms and former names
    family: str = ""  # linkage, graph, maximum knowledge, groups, disclosure
    needs: str = ""  # besides two tables
    cheaper: Cheaper = ""  # how it may do with less time

    @property
    def page(self) -> str:
        """Page of the documentation about it."""
        return page_of(self.name)


_REGISTER: dict[str, Measure] = {}
WORDS = {"max_knowledge": "maximum knowledge", "publications": "linkage"}  # rooms whose family has another name
OTHER_NAMES = (
    "it compares columns of the same name, and the release shares none with the original: rename those that are the "
    "same as in the original"
)


def _always(_release: object) -> str | None:
    return None


def measure(  # noqa: PLR0913 - what a report must know of a measure
    name: str,
    *,
    title: str,
    story: str,
    keys: tuple[str, ...],
    applies: Callable[[Any], str | None] = _always,
    pairs: bool = True,
    names: bool = True,
    cheaper: Cheaper = "",
) -> Callable[[Run], Run]:
    """Register the decorated ``run(study, context) -> Evidence`` under ``name``; ``applies`` takes the release.

    ``pairs``: it needs to know which row was made from whom; it then does not apply to a synthetic release.
    ``names``: it needs columns that the intruder knows under the name that they have in the release.
    ``cheaper``: it asks for ``context.people`` alone where some are named ("people").
    """

    def fits(release: Any) -> str | None:  # noqa: ANN401 - a release, which evidence does not know
        if pairs and release.synthetic:
            return UNPAIRED
        if release.alone and name not in RELEASE_ALONE:
            return NO_ORIGINAL
        return OTHER_NAMES if names and not release.quasi else applies(release)

    def register(run: Run) -> Run:
        seeded = FORMER.get(name, name)  # a renamed measure keeps its draws, and so its numbers
        stream = int.from_bytes(seeded.encode(), "big") % (2**31)  # by name: adding a method changes no other's draws
        known = ENTRIES.get(name, Entry(PAIRS if pairs else ""))
        family = run.__module__.removeprefix("unmask.").split(".")[0]
        _REGISTER[name] = Measure(
            name,
            title,
            story,
            keys,
            run,
            fits,
            stream,
            known.aliases,
            WORDS.get(family, family),
            known.needs,
            cheaper,
        )
        return run

    return register


def registered() -> dict[str, Measure]:
    """All measures that have been imported, by name in alphabetical order."""
    return dict(sorted(_REGISTER.items()))
