"""A masking without chance can be run again: the intruder masks the original and looks for their own masked row.

Microaggregation, rounding, coding, recoding: whoever holds the whole original and knows the method makes the release
themselves. The rows are masked in the order of their content, never in that of the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from unmask.errors import UnmaskError
from unmask.linkage.nearest import link_nearest
from unmask.linkage.result import Linkage
from unmask.masking import Chain, Consistent, Masking
from unmask.study import Study
from unmask.tables import Release

ABSENT = (
    "suppression",
    "local_suppression",
    "sampling",
    "drop",
    "pseudonym",
)  # they take cells, rows or columns away; no intruder has a key


def run_again(masking: Masking, table: pl.DataFrame) -> pl.DataFrame | None:
    """The masked table, row by row, if the masking gives the same for two seeds; None if chance plays a part."""
    steps = tuple(step for step in flatten(masking) if step.family not in ABSENT)
    if not steps or not table.width:
        return None
    order = table.select(pl.arg_sort_by(table.columns)).to_series().to_numpy()
    first, second = (Chain(steps).apply(table[order], seed) for seed in (0, 1_000_003))
    if first.height != table.height or not first.equals(second, null_equal=True):
        return None
    return first[np.argsort(order)]


def link_again(study: Study, masking: Masking, *, sample: int | None = None, seed: int = 0) -> Linkage | None:
    """Link people by their own masked rows; None where the masking cannot be run again.

    It is not said which columns the owner masked with it: those that are known, or the whole table. Both are tried.
    """
    release, found = study.release, []
    for table in _tables(study):
        try:
            again = run_again(masking, table)
        except (UnmaskError, pl.exceptions.PolarsError):  # not for this table: the other may do
            continue
        if again is not None and set(release.quasi) <= set(again.columns):
            remade = Study(release.with_tables(again, release.released, release.truth).with_kinds({}))
            found.append(link_nearest(remade, sample=sample, seed=seed))
    return max(found, key=lambda linkage: linkage.estimate.value, default=None)


def _tables(study: Study) -> list[pl.DataFrame]:
    whole, known = study.release.original, masked_together(study.release)
    return [whole.select(known)] if set(known) == set(whole.columns) else [whole.select(known), whole]


def masked_together(release: Release) -> list[str]:
    """The known columns of the original, with those that no attack looks at since they repeat another."""
    repeated = [name for name, role in release.roles.redundant.items() if role == "quasi"]
    return [*release.quasi, *(name for name in repeated if name in release.original.columns)]


def flatten(masking: Any) -> list[Masking]:  # noqa: ANN401 - a Masking
    """Return the maskings of a chain in turn, and what `consistent` wraps; reverse mapping keeps what it wraps."""
    if isinstance(masking, Chain):
        return [single for part in masking.maskings for single in flatten(part)]
    if isinstance(masking, Consistent):  # what it puts right says nothing of one person
        return flatten(masking.masking)
    return [masking]
