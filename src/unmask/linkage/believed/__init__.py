"""Believed: two files without a common id, and whom an intruder would believe to have found in the other one.

Columns that can be compared are found (`related`), each pair of rows is weighed by agreement rates that EM learns from
the two files alone, or by what people who are known in both teach, and every person has one record at most (`shares`).
"""

from unmask.linkage.believed.linkage import Believed, link_believed

__all__ = ["Believed", "link_believed"]
