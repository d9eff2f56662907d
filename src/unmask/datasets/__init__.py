"""Generated tables that look real, at any n: for demos, tests and benchmarks. No person stands behind any row."""

from unmask.datasets.census import census
from unmask.datasets.patients import patients

__all__ = ["census", "patients"]
