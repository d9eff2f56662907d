"""The tables of the benchmark: the generated census, masked by the product's maskings, in the product's space.

Masked tables are kept in a folder of the system's temporary one, so that a measuring process does not carry the memory
of the masking, and so that all parts of a run see the same numbers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

from unmask import Release, datasets, parse_masking
from unmask.study.metric import build_space
from unmask.tables.encode import encode

ATTRIBUTES = 13
MASKINGS = {
    "noise 0.1": "noise(0.1)",
    "noise 0.5": "noise(0.5)",
    "noise 1": "noise(1)",
    "rank swap 5 %": "rank_swap(share=0.05)",
    "microaggregation 5": "microaggregation(5)",
}
FOLDER = Path(tempfile.gettempdir()) / "unmask-linkage"


def prepare(n, masking):
    """Write the two tables of a setting, once."""
    FOLDER.mkdir(exist_ok=True)
    original, released = (FOLDER / f"{n}-{name}.parquet" for name in ("census", MASKINGS[masking]))
    if not original.exists():
        datasets.census(n).write_parquet(original)
    if not released.exists():
        parse_masking(MASKINGS[masking]).apply(pl.read_parquet(original), 1).write_parquet(released)
    return original, released


def release_of(n, masking):
    return Release(*(pl.read_parquet(path) for path in prepare(n, masking)))


def space_of(n, masking, metric="euclidean", *, back=False):
    """Both files as coordinates; ``back``: the release asks and the original is searched, the paper's direction."""
    space = build_space(encode(release_of(n, masking)), metric=metric)
    assert space.queries.shape[1] == ATTRIBUTES  # noqa: S101 - a benchmark of something else is worth nothing
    return space.swapped() if back else space
