"""GRAPH: published distances give people away [KROLL]_.

`link_graph` attacks one file with another, each a table and its distances, and returns a `GraphLinkage`: a
`CliqueLinkage` (methods exact and seeds), a `MapLinkage` (geometric) or a `VoteLinkage` (votes). A tolerance says when
two distances agree, a `Null` how often chance is asked. `sweep` plays the attack on maskings for the owner, and the
measure `graph` runs it in an assessment.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
