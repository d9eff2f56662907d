"""READ: files and frames become a Release, and a Release becomes arrays.

A `Release` is the original and the released table, with kinds and roles of columns and who belongs to whom, frozen once
it is made. An `Encoding` is the one way from a table to arrays, the same for both tables. Files are read, checked and
written here and nowhere else: whole, atomically, readable by their owner only.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
