"""The product graph of two files with distances, and its maximum cliques.

`sides` makes two files ready: distances, records sorted by label, which labels may match, and the `Window` in which two
distances agree. `solve` returns the union of all maximum cliques with a certificate, `reaches` whether a clique of some
size exists, `greedy_clique` a large one; `maximum_cliques` and `greedy` do the same for a graph in rows of bits
(`adjacency_of`). `agreeing` and `misfit` compare all pairs of records by their distances to matches believed already.
"""

from unmask.kernels.cliques.believed import agreeing, misfit
from unmask.kernels.cliques.branch import greedy
from unmask.kernels.cliques.cliques import Cliques, maximum_cliques
from unmask.kernels.cliques.exact import DENSE, copies, greedy_clique, label_of, quasi, reaches, solve
from unmask.kernels.cliques.product import Sides, Window, adjacency_of, sides

__all__ = [
    "DENSE", "Cliques", "Sides", "Window", "adjacency_of", "agreeing", "copies", "greedy", "greedy_clique", "label_of",
    "maximum_cliques", "misfit", "quasi", "reaches", "sides", "solve",
]  # fmt: skip
