"""Slow, obvious twins: the definition of each method, one file per room. Nothing here is clever."""
