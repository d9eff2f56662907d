"""What every kernel takes: arrays, and the space of two files. Imports nothing of ours, and no numba.

A `Space` holds both files as coordinates and codes, and one of three norms; see there how a distance adds up. `Floats`,
`Ints`, `Codes` and `Singles` are arrays of float64, int64, int32 and float32; the sizes are those of a search tree.
"""

from unmask.kernels.base.sizes import LANES, LEAF, PART, ROWS
from unmask.kernels.base.space import CHEBYSHEV, EUCLIDEAN, MANHATTAN, Codes, Floats, Ints, Singles, Space

__all__ = [
    "CHEBYSHEV", "EUCLIDEAN", "LANES", "LEAF", "MANHATTAN", "PART", "ROWS",
    "Codes", "Floats", "Ints", "Singles", "Space",
]  # fmt: skip
