"""A masking in words that somebody who never typed one understands: drop town; publish birth date by decade."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from unmask.masking import Chain, Consistent, Masking, parse_masking
from unmask.shares import percent

CELLS = "local_suppression"


def in_words(masking: str, *, most: int | None = None, people: int = 0, of: Container[str] | None = None) -> str:
    """What is done to the columns, as an order.

    ``most``: how many dropped columns are named; ``people``: of whom single cells are blanked, where that is known;
    ``of``: the columns that there are to drop (default: all that are named).
    """
    steps = _steps(parse_masking(masking))
    dropped = [name for step in steps if step.family == "drop" for name in step.columns or ()]
    dropped = [name for name in dropped if of is None or name in of]
    changed: dict[str, list[str]] = {}
    for step in steps:
        if step.family not in {"drop", CELLS}:
            names = getattr(step, "columns", None) or ("dates" if step.family == "dates" else "the rest",)
            changed.setdefault(listed(names), []).append(_how(step))
    ways = [f"{names} {', '.join(how)}" for names, how in changed.items()]
    told = [f"drop {listed(dropped, most)}"] if dropped else []
    told += [f"publish {listed(ways)}"] if ways else []
    told += [f"blank single cells{f' of {people:,} people' if people else ''}"] * any(s.family == CELLS for s in steps)
    return "; ".join(told)


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names as people list them: a, b and c; of many the first, and how many more."""
    shown = list(names)
    if most is not None and len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} more columns"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _steps(masking: Masking) -> list[Any]:
    if isinstance(masking, Consistent):
        return _steps(masking.masking)
    return [one for step in masking.maskings for one in _steps(step)] if isinstance(masking, Chain) else [masking]


def _how(step: Any) -> str:  # noqa: ANN401 - any masking, which has its own fields
    tell = HOW.get(step.family)
    return f"after {step}" if tell is None else tell(step)


def _bands(step: Any) -> str:  # noqa: ANN401 - a recoding
    widths = np.unique(np.round(np.diff(step.breaks), 9)) if step.breaks else np.array([step.width])
    if widths.size == 1:
        return f"in bands of {widths[0]:,g}"
    return f"as below {step.breaks[0]:,g} or not" if len(step.breaks) == 1 else f"in {len(step.breaks) + 1} bands"


HOW: dict[str, Callable[[Any], str]] = {  # by the name that is typed
    "dates": lambda step: f"by {step.period}",
    "age": lambda step: f"as the age on {step.on}",
    "prefix": lambda step: f"by {'its first character' if step.keep == 1 else f'the first {step.keep} characters'}",
    "rare": lambda _: "rare values together",
    "recoding": _bands,
    "rounding": lambda step: f"rounded to {step.base:g}",
    "noise": lambda step: f"with noise of {step.kappa:g} sd",
    "microaggregation": lambda step: (
        f"as means of {step.k} people or more" if step.method == "univariate" else f"averaged in groups of {step.k}"
    ),
    "data_shuffling": lambda _: "drawn anew",
    "top_bottom": lambda _: "with its extremes cut off",
    "rank_swap": lambda step: f"swapped within {percent(step.share)} of the ranks",
    "pram": lambda _: "with some values changed by lot",
    "sampling": lambda step: f"of only {percent(step.fraction)} of the people",
    "hierarchy": lambda step: f"at level {step.level} of its hierarchy",
}
