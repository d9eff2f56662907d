"""Numbers and times that the release has in coarser steps: ages in twenties, hours as days. The intruder sees which.

Rows of one person that were laid on each other show what became of each number. Where nearly all of them follow steps,
many numbers to one and in their order, everybody's number is written as the step that it is on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.tables import Encoded, Encoding

FEWER = 2  # numbers to a step, on average, at least
FOLLOW = 0.9  # share of the pairs that are on their step
IN_ORDER = 0.98  # share of the pairs whose steps rise with the numbers


def in_steps(encoding: Encoding, truth: Rows) -> Encoding:
    """The encoding with the original's numbers on the steps of the release, where it has any."""
    here = np.flatnonzero(truth >= 0)
    numbers, told, spans = encoding.original.numeric.copy(), [], dict(encoding.spans)
    for k, name in enumerate(encoding.numeric_names):
        left, right = encoding.original.numeric[:, k], encoding.released.numeric[:, k]
        found = stepped(left, left[here], right[truth[here]])
        if found is not None and (name not in spans or spans[name].rule):
            spans.pop(name, None)
            told.append(f"{name!r}: the release has coarser steps ({_count(left)} numbers became {_count(right)})")
            numbers[:, k] = found
    own, notes = Encoded(numbers, encoding.original.codes), (*encoding.notes, *told)
    return replace(encoding, original=own, notes=notes, spans=spans)


def _count(column: Floats) -> int:
    return int(np.unique(column[~np.isnan(column)]).size)


def stepped(numbers: Floats, here: Floats, there: Floats) -> Floats | None:
    """The step of each number, learnt from pairs; None where the pairs do not follow steps."""
    both = ~np.isnan(here) & ~np.isnan(there)
    if not both.any():
        return None
    values, which = np.unique(here[both], return_inverse=True)
    steps, at = np.unique(there[both], return_inverse=True)
    if values.size < FEWER * steps.size or steps.size < 2:
        return None
    pairs, times = np.unique(which.ravel() * steps.size + at.ravel(), return_counts=True)
    order = np.lexsort((pairs, -times, pairs // steps.size))
    first = np.unique(pairs[order] // steps.size, return_index=True)[1]
    usual, weight = pairs[order][first] % steps.size, np.bincount(which.ravel())
    rising = np.maximum.accumulate(usual)
    if weight[rising == usual].sum() < IN_ORDER * weight.sum():
        return None
    if (rising[which.ravel()] == at.ravel()).mean() < FOLLOW:
        return None
    middle = (values[1:] + values[:-1]) / 2
    found = steps[rising][np.searchsorted(middle, np.nan_to_num(numbers))]
    return np.where(np.isnan(numbers), np.nan, found)
