"""Probabilistic linkage after Fellegi and Sunter.

`link_probabilistic` fits by EM over all pairs, without one known pair, how often attributes agree in records of one
person and of two, and links by match weight.
"""

from unmask.linkage.probabilistic.levels import Comparison, compare
from unmask.linkage.probabilistic.measure import link_probabilistic

__all__ = ["Comparison", "compare", "link_probabilistic"]
