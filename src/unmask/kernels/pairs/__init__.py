"""Agreement patterns of all pairs of two files: counted exactly without a list of pairs, and summed up for EM.

A pattern has one level per attribute, 0 the closest (`level_of`). `patterns_by_groups` counts exact agreement through
groups, `patterns_by_pairs` any levels pair by pair; `sums_by_groups` adds up a product of factors over everybody.
`weigh_categories` and `count_categories` go over the categories of all pairs in a matrix.
"""

from unmask.kernels.pairs.categories import count_categories, weigh_categories
from unmask.kernels.pairs.mixture import expect, expect_kinds, expect_people, kinds_of_pairs, level_shares
from unmask.kernels.pairs.patterns import level_of, levels_of, patterns_by_pairs
from unmask.kernels.pairs.sets import Patterns, patterns_by_groups, sums_by_groups

__all__ = [
    "Patterns", "count_categories", "expect", "expect_kinds", "expect_people", "kinds_of_pairs", "level_of",
    "level_shares", "levels_of", "patterns_by_groups", "patterns_by_pairs", "sums_by_groups", "weigh_categories",
]  # fmt: skip
