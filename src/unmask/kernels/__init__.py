"""FAST: numba kernels. Arrays in, arrays out; no frames, no I/O, no options parsing."""
