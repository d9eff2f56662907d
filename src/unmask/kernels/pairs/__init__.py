"""Sums and best candidates over all pairs of two files, none of them kept."""
