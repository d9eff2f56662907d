"""Maskings that need a loop: microaggregation and rank swapping."""
