"""Networks of people: what is common to two who are tied, who fits whom, shortest paths, communities.

A network is two arrays: the neighbours of person i are ``indices[start[i]:start[i + 1]]``, ascending, each tie in both
rows. `sum_over_common` adds numbers up over common neighbours; `best_fits` finds for people of one network those of
another with most neighbours known to be the same (scores PLAIN, COSINE, ALIKE); `count_distances` and `move_people`
(one level of Louvain) describe a network.
"""

from unmask.kernels.networks.common import sum_over_common
from unmask.kernels.networks.communities import move_people
from unmask.kernels.networks.marks import ALIKE, COSINE, PLAIN, best_fits
from unmask.kernels.networks.paths import count_distances

__all__ = ["ALIKE", "COSINE", "PLAIN", "best_fits", "count_distances", "move_people", "sum_over_common"]
