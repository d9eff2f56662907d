"""How far each person of the original stands apart from the others: what no draw of the masking changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.arrays import Codes, Floats, Ints
from unmask.study import Study
from unmask.tables import Release, canonical_order

PAIRS = 20_000_000  # that are compared: fewer of the others where there are many people
FEWEST = 200
NEIGHBOURS = (1, 5)
BLOCK = 256
NEAR = 0.01  # in standard deviations: what is nearer than this is as good as equal


def isolation(release: Release) -> Floats:
    """Log distances of each person to the nearest and to the fifth nearest other person of the original.

    Numbers are standardised, a category that differs counts as two standard deviations of a number do, and a missing
    number as the mean. Where people are many, the others are a sample that does not depend on the order of rows.
    """
    original, n = release.original, release.original.height
    hidden = {release.id, release.weight, release.household, *release.ignored, *release.confidential}
    names = release.quasi or tuple(name for name in original.columns if name not in hidden)
    if n <= max(NEIGHBOURS) or not names:
        return np.zeros((n, 0))
    alone = release.with_tables(original, original, np.arange(n)).with_roles(replace(release.roles, quasi=names))
    side = Study(alone).encoding().original
    numbers, codes, step = _placed(side.numeric, side.codes)
    many = min(n, max(FEWEST, PAIRS // n))
    others = canonical_order(numbers, codes)[np.linspace(0, n - 1, many).astype(int)]
    found = np.empty((n, len(NEIGHBOURS)))
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(n, start + BLOCK))
        found[rows] = _to_others(numbers, codes, step, rows, others)
    return np.asarray(np.log(NEAR + found))


def _placed(numeric: Floats, codes: Codes) -> tuple[Floats, Codes, Floats]:
    """Standardised numbers, and what a difference of each category adds to the squared distance."""
    numbers = np.zeros_like(numeric)
    for k in range(numeric.shape[1]):
        there = ~np.isnan(numeric[:, k])
        spread = numeric[there, k].std() if there.any() else 0.0
        numbers[there, k] = (numeric[there, k] - numeric[there, k].mean()) / (spread or 1.0)
    step = np.zeros(codes.shape[1])
    for k in range(codes.shape[1]):
        share = np.unique(codes[:, k], return_counts=True)[1] / len(codes)
        differ = 1.0 - float(np.sort(share**2).sum())
        step[k] = 2.0 / differ if differ > 0 else 0.0
    return numbers, codes, step


def _to_others(numbers: Floats, codes: Codes, step: Floats, rows: Ints, others: Ints) -> Floats:
    squared = np.zeros((rows.size, others.size))
    for k in range(numbers.shape[1]):
        squared += (numbers[rows, k][:, None] - numbers[others, k]) ** 2
    for k in range(codes.shape[1]):
        squared += step[k] * (codes[rows, k][:, None] != codes[others, k])
    squared[rows[:, None] == others] = np.inf
    ranks = [number - 1 for number in NEIGHBOURS]
    return np.asarray(np.sqrt(np.partition(squared, ranks, axis=1)[:, ranks]))
