"""GRAPH: published distances give people away [KROLL]_.

`link_graph` attacks one file with another, each a table and its distances, and returns a `GraphLinkage`: a
`CliqueLinkage` (methods exact and seeds), a `MapLinkage` (geometric) or a `VoteLinkage` (votes). A tolerance says when
two distances agree, a `Null` how often chance is asked. `sweep` plays the attack on maskings for the owner, and the
measure `graph` runs it in an assessment.
"""

from unmask.graph.attack import link_graph
from unmask.graph.distances import Coordinates
from unmask.graph.null import Null
from unmask.graph.result import CliqueLinkage, GraphLinkage, MapLinkage, VoteLinkage
from unmask.graph.sweep import SweepPoint, sweep
from unmask.graph.tolerance import Deviations, NoiseTolerance, Relative

__all__ = [
    "CliqueLinkage", "Coordinates", "Deviations", "GraphLinkage", "MapLinkage", "NoiseTolerance", "Null", "Relative",
    "SweepPoint", "VoteLinkage", "link_graph", "sweep",
]  # fmt: skip
