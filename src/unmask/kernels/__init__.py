"""Numba kernels: arrays in, arrays out; nothing here knows tables, measures or words.

One room per question, each with one door, its `__init__`: base and compiling carry the others. The files beside the
rooms are rooms of one file. A kernel imports from another room's door, and from files of its own room.
"""
