"""CELLS: which cells to blank so that every record has a crowd of k, and how few could do.

`blank_cells` gives the `Lots` to blank, exact on small tables and near to the best on large ones, with the number of
cells that any suppression must blank. `Units` are the classes of a table; `suppress` is the greedy search that it
begins with, and the only one where every crowd needs several confidential values.
"""

from unmask.masking.cells.blank import blank_cells
from unmask.masking.cells.greedy import Units, suppress
from unmask.masking.cells.moving import Lots

__all__ = ["Lots", "Units", "blank_cells", "suppress"]
