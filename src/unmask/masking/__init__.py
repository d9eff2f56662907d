"""PROTECT: maskings, which make a release out of an original.

Each is a frozen dataclass with ``apply(table, seed)``, and a `Chain` of them is one too; the same table and seed give
the same release. `parse_masking` reads what people type, as in "noise(0.1)". `chosen`, `categorical` and
`transition_matrix` say what a masking does to which columns, to whoever knows that it was used.
"""

from unmask.masking.base import Masking, chosen
from unmask.masking.chain import Chain
from unmask.masking.coding import TopBottomCoding
from unmask.masking.coordinates import CoordinateNoise, Donut
from unmask.masking.generalising import Age, Dates, Drop, Hierarchy, Prefix, Pseudonym, Rare
from unmask.masking.microaggregation import Microaggregation
from unmask.masking.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from unmask.masking.parse import parse_masking
from unmask.masking.places import PlaceMasking
from unmask.masking.pram import Pram, categorical, transition_matrix
from unmask.masking.rank_swapping import RankSwap
from unmask.masking.recoding import Recoding
from unmask.masking.reverse_mapping import ReverseMapped
from unmask.masking.rounding import Rounding
from unmask.masking.sampling import Sampling
from unmask.masking.suppression import Suppression
from unmask.masking.swapping import Shuffle, Swap

__all__ = [
    "Age", "Chain", "CoordinateNoise", "CorrelatedNoise", "Dates", "Donut", "Drop", "Hierarchy", "Masking",
    "Microaggregation", "MultiplicativeNoise", "Noise", "PlaceMasking", "Pram", "Prefix", "Pseudonym", "RankSwap",
    "Rare", "Recoding", "ReverseMapped", "Rounding", "Sampling", "Shuffle", "Suppression", "Swap", "TopBottomCoding",
    "categorical", "chosen", "parse_masking", "transition_matrix",
]  # fmt: skip
