"""Nearest records, exactly: found, listed, ranked or only decided about, over a kd-tree that excludes in float32.

Make a `Tree` of a Space with `plant` once and hand it to every question about that space. Ties are counted and drawn at
random, never by row; results depend on neither threads nor the order of rows. `distance_of_pairs` is the distance that
decides. `priced` is the same search with a price on every point, for kernels/assignment.
"""

from unmask.kernels.search import priced
from unmask.kernels.search.distance import distance_of_pairs
from unmask.kernels.search.least import least_distances
from unmask.kernels.search.nearest import (
    Decision,
    Nearest,
    count_closer,
    decide,
    decide_few,
    decision_of,
    nearest,
    nearest_k,
    rank_of_truth,
    tied,
)
from unmask.kernels.search.tree import Tree, plant

__all__ = [
    "Decision", "Nearest", "Tree", "count_closer", "decide", "decide_few", "decision_of", "distance_of_pairs",
    "least_distances", "nearest", "nearest_k", "plant", "priced", "rank_of_truth", "tied",
]  # fmt: skip
