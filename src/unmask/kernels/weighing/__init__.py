"""Each record's best candidates by match weight: over all pairs (`weigh`), or over blocks that miss none.

Blocks are cut once for a `scale_of` levels and weights; `weigh_blocks` and `pairs_in_blocks` leave out what cannot
reach the wanted weight. Weights are natural logarithms; those within TIE are equal. `blank` and `take` keep the best
candidates for other kernels that pass over pairs.
"""

from unmask.kernels.weighing.blocking import MARGIN, cut_blocks, pairs_in_blocks, weigh_blocks
from unmask.kernels.weighing.weighing import TIE, Weighing, blank, scale_of, take, weigh

__all__ = [
    "MARGIN", "TIE", "Weighing", "blank", "cut_blocks", "pairs_in_blocks", "scale_of", "take", "weigh", "weigh_blocks",
]  # fmt: skip
