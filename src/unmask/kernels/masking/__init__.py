"""Maskings that need a loop: microaggregation (MDAV, and the optimal one of a single column) and rank swapping."""

from unmask.kernels.masking.microaggregation import mdav, optimal_partition
from unmask.kernels.masking.swapping import swap_ranks

__all__ = ["mdav", "optimal_partition", "swap_ranks"]
