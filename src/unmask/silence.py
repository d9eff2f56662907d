"""Warnings of libraries that tell a user nothing: what they warn of is meant."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def many_kinds() -> Iterator[None]:
    """Learn a category that nearly everybody has for themselves: scikit-learn asks whether it should be a number."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        yield
