"""How kernels are compiled and spread over threads; the only room that knows numba's options and private features.

`kernel` compiles a function that Python calls; `lean` the same without reference counts, for kernels that allocate
nothing; `inner` and `inlined` what only kernels call. `machine` compiles a function that native.py may replace by
machine code of the same name: that file, blocks.py, planting.py and sides.py use what numba does not promise, and
where they cannot be loaded or UNMASK_PLAIN_KERNELS is set, the function runs as written, with equal results.
`in_chunks`, `in_strides` and `in_threads` share work among threads so that no result depends on their number.
`while_compiling` tells what a user waits for, once.
"""

from unmask.kernels.compiling.bits import fetch, lowest, popcount
from unmask.kernels.compiling.chunks import in_chunks, in_strides, in_threads
from unmask.kernels.compiling.decorators import inlined, inner, kernel, lean, machine
from unmask.kernels.compiling.waiting import kept_bytes, kept_in, while_compiling

__all__ = [
    "fetch", "in_chunks", "in_strides", "in_threads", "inlined", "inner", "kept_bytes", "kept_in", "kernel", "lean",
    "lowest", "machine", "popcount", "while_compiling",
]  # fmt: skip
