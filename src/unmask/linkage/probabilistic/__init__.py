"""Probabilistic linkage after Fellegi and Sunter.

`link_probabilistic` fits by EM over all pairs, without one known pair, how often attributes agree in records of one
person and of two, and links by match weight; `learn_from_patterns` does the same
from counts of patterns alone.
"""

from unmask.linkage.probabilistic.counted import counted_probabilistic, learn_from_patterns
from unmask.linkage.probabilistic.levels import Comparison, compare
from unmask.linkage.probabilistic.measure import link_probabilistic

__all__ = ["Comparison", "compare", "counted_probabilistic", "learn_from_patterns", "link_probabilistic"]
