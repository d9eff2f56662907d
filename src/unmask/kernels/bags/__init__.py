"""Bags of rows: the cheapest way to lay the rows of one person on those of another, and who is nearest by it.

A row is a code in each column; a `Costs` says what each pair of codes costs. The cost of two bags is that of their
optimal matching, row to row, and of the difference of their sizes. `nearest_bags` finds the least over all bags of the
other side, exactly; `bound_bags` bounds every pair from below and `cost_of_bags` works out pairs; `match_rows` says
which row is laid on which.
"""

from unmask.kernels.bags.costs import Bags, Costs
from unmask.kernels.bags.nearest import bound_bags, cost_of_bags, match_rows, nearest_bags

__all__ = ["Bags", "Costs", "bound_bags", "cost_of_bags", "match_rows", "nearest_bags"]
