"""The one-to-one matching of least total distance, with a proof over all pairs.

`solve` runs an auction (Bertsekas) over candidate lists and returns a `Matching` with its dual variables, the bound
that they prove and the gap to it; up to CERTIFIED the gap is rounding. `solve_in_rounds` does the same where searching
is done elsewhere: whoever is given to it as `Ask` answers a `Look` with `Pairs`. Where files fall into blocks,
`match_block` matches each of them, `least_of_block` asks it for others, and `gap_of_blocks` is the proof of all.
`credits` shares the optimum among records that several optimal matchings exchange. `classify` groups equal records in
an order that depends on their values alone.
"""

from unmask.kernels.assignment.blocks import gap_of_blocks, least_of_block, match_block
from unmask.kernels.assignment.classes import Classes, classify
from unmask.kernels.assignment.optima import credits  # noqa: A004  # the word of the field
from unmask.kernels.assignment.rounds import Ask, Look, Pairs, solve_in_rounds
from unmask.kernels.assignment.solver import CERTIFIED, Matching, solve

__all__ = [
    "CERTIFIED", "Ask", "Classes", "Look", "Matching", "Pairs", "classify", "credits", "gap_of_blocks",
    "least_of_block", "match_block", "solve", "solve_in_rounds",
]  # fmt: skip
