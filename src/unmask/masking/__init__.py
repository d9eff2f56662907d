"""PROTECT: maskings, which make a release out of an original. Each is a frozen dataclass with apply(table, seed)."""

from unmask.masking.base import Masking
from unmask.masking.microaggregation import Microaggregation
from unmask.masking.noise import CorrelatedNoise, MultiplicativeNoise, Noise
from unmask.masking.parse import MASKINGS, parse_masking
from unmask.masking.pram import Pram
from unmask.masking.rank_swapping import RankSwap
from unmask.masking.rounding import Rounding

__all__ = [
    "MASKINGS",
    "CorrelatedNoise",
    "Masking",
    "Microaggregation",
    "MultiplicativeNoise",
    "Noise",
    "Pram",
    "RankSwap",
    "Rounding",
    "parse_masking",
]
