"""PROTECT: maskings, which make a release out of an original.

Each is a frozen dataclass with ``apply(table, seed)``, and a `Chain` of them is one too; the same table and seed give
the same release. `parse_masking` reads what people type, as in "noise(0.1)", and `quoted` writes the name of a column
for it. `chosen`, `categorical` and `transition_matrix` say what a masking does to which columns, to whoever knows that
it was used; `names_people` says which columns are names, `is_code` which whole numbers are no amounts, `lost_sums`
which columns were sums. `blank_cells` says which cells of a table of `Units` to blank so that nobody stands alone
(`Lots`); `suppress` is its quick beginning. `Synthesiser` is a command of somebody else, and `as_maker` makes a
`Maker`, a function of a table and a seed, of whatever makes releases. `claim_of` is the `Claim` of a masking that is
differentially private.
"""

from unmask.masking.base import Chain, Masking, chosen, is_code, names_people
from unmask.masking.cells import Lots, Units, blank_cells, suppress
from unmask.masking.consistency import Consistent, lost_sums
from unmask.masking.coordinates import CoordinateNoise, Donut
from unmask.masking.data_shuffling import DataShuffling
from unmask.masking.generalising import Age, Dates, Drop, Groups, Hierarchy, Prefix, Pseudonym, Rare
from unmask.masking.local_suppression import LocalSuppression
from unmask.masking.microaggregation import Microaggregation
from unmask.masking.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from unmask.masking.parse import parse_masking
from unmask.masking.places import PlaceMasking
from unmask.masking.pram import Pram, categorical, transition_matrix
from unmask.masking.private import Claim, Gaussian, Geometric, Laplace, claim_of
from unmask.masking.private_histogram import PrivateHistogram
from unmask.masking.recoding import Recoding, Rounding, TopBottomCoding
from unmask.masking.reverse_mapping import ReverseMapped
from unmask.masking.spelling import quoted
from unmask.masking.suppression import Sampling, Suppression
from unmask.masking.swapping import RankSwap, Shuffle, Swap
from unmask.masking.synthesis import Synthetic
from unmask.masking.synthesiser import Maker, Synthesiser, as_maker

__all__ = [
    "Age", "Chain", "Claim", "Consistent", "CoordinateNoise", "CorrelatedNoise", "DataShuffling", "Dates", "Donut",
    "Drop", "Gaussian", "Geometric", "Groups", "Hierarchy", "Laplace", "LocalSuppression", "Lots", "Maker", "Masking",
    "Microaggregation", "MultiplicativeNoise", "Noise", "PlaceMasking", "Pram", "Prefix", "PrivateHistogram",
    "Pseudonym", "RankSwap", "Rare", "Recoding", "ReverseMapped", "Rounding", "Sampling", "Shuffle", "Suppression",
    "Swap", "Synthesiser", "Synthetic", "TopBottomCoding", "Units", "as_maker", "blank_cells", "categorical", "chosen",
    "claim_of", "is_code", "lost_sums", "names_people", "parse_masking", "quoted", "suppress", "transition_matrix",
]  # fmt: skip
