"""The types of arrays and tables, declared once: what a function takes and gives, not what is checked when it runs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rows = NDArray[np.int64]  # places of rows in a table
Counts = NDArray[np.int64]
Codes = NDArray[np.int32]  # categories as numbers
Flags = NDArray[np.bool_]
Table = Any  # any frame that narwhals takes
