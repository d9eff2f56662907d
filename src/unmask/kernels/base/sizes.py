"""Numbers that machine code (compiling/native.py) and the kernels that it serves must agree on."""

LANES = 16  # numbers in a vector: boxes of a group
LEAF = 48  # points of a leaf: a multiple of LANES, at most 63 as their bits go into one integer
ROWS = 4  # queries that meet a leaf at a time, where all queries meet all points (search/wide.py)
PART = 6  # words of four attributes between two looks at whether a point is still near (compiling/blocks.py)
