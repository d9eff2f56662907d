"""Classes of equal keys, counted where the data lives.

Every function takes a frame of any library and names of key columns. `count_classes` returns the sizes of the classes,
`group_sizes` and `record_sizes` how many records carry what each person is known by; the wildcard functions count a
missing key as whatever it could be.
"""

from unmask.groups.counting.classes import (
    Classes,
    Frame,
    as_key,
    check_keys,
    check_people,
    collect,
    count_classes,
    encode,
    open_table,
    select_keys,
)
from unmask.groups.counting.keys import Sizes, group_sizes, record_sizes
from unmask.groups.counting.wildcard import Crowds, wildcard_sizes, wildcard_values

__all__ = [
    "Classes", "Crowds", "Frame", "Sizes", "as_key", "check_keys", "check_people", "collect", "count_classes", "encode",
    "group_sizes", "open_table", "record_sizes", "select_keys", "wildcard_sizes", "wildcard_values",
]  # fmt: skip
