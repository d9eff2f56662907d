"""What was sampled, cut or left out, for page 1: a reader must not take some people for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.evidence import name_of
from unmask.report.words import joined
from unmask.shares import in_words

if TYPE_CHECKING:
    from unmask.report.document import Document

MOST_NAMED = 5


def cut_short(document: Document) -> str:
    """Sentences for page 1; nothing where every attack was done whole."""
    plan = document.manifest.plan
    done = plan.get("measures", {})
    asked: dict[tuple[int, int], list[str]] = {}
    for name, how in done.items():
        if how["form"] == "sampled":
            asked.setdefault((how["people"], how["out_of"]), []).append(name)
    told = [
        f"Only {people:,} of {out_of:,} people were asked for by {_named(names)}."
        for (people, out_of), names in asked.items()
    ]
    bounded = [name for name, how in done.items() if how["form"] == "bounded"]
    told += [f"{_named(bounded)}: matched to within a proven bound, not exactly."] if bounded else []
    late = [name for name, how in done.items() if how["form"] == "left out"]
    if late:
        within = f" within the budget of {in_words(plan['budget'])}" if "budget" in plan else ""
        told.append(f"There was no time{within} for {_named(late)}.")
    return " ".join(told)


def _named(names: list[str]) -> str:
    """Names of attacks in words; of many how many."""
    known = [name_of(name) for name in names[:MOST_NAMED]]
    more = len(names) - MOST_NAMED
    return joined([*known, f"{more} more"] if more > 0 else known)
