"""Agreement patterns of all pairs of two files: counted exactly without a list of pairs, and summed up for EM.

A pattern has one level per attribute, 0 the closest (`level_of`). `patterns_by_groups` counts exact agreement through
groups, `patterns_by_pairs` any levels pair by pair; `sums_by_groups` adds up a product of factors over everybody.
"""

from unmask.kernels.pairs.mixture import expect, expect_people, level_shares, levels_of_pairs
from unmask.kernels.pairs.patterns import level_of, patterns_by_pairs
from unmask.kernels.pairs.sets import Patterns, patterns_by_groups, sums_by_groups

__all__ = [
    "Patterns", "expect", "expect_people", "level_of", "level_shares", "levels_of_pairs", "patterns_by_groups",
    "patterns_by_pairs", "sums_by_groups",
]  # fmt: skip
