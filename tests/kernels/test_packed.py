"""Pairs that agree on every set of attributes, from packed records, against a count pair by pair."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unmask.kernels import packed


def by_pairs(left, right, kept, gaps):
    """Pairs in each state (equal, present where some miss, any) of all attributes but the first ``kept``."""
    states = [("equal", "present", "any") if gap else ("equal", "any") for gap in gaps[kept:]]
    found = np.zeros([len(one) for one in states], dtype=np.int64)
    for a, b in product(left, right):
        if (a[:kept] != b[:kept]).any():
            continue
        for at in np.ndindex(found.shape):
            meets = {"equal": lambda x, y: x == y >= 0, "present": lambda x, y: min(x, y) >= 0, "any": lambda *_: True}
            found[at] += all(meets[one[k]](x, y) for one, k, x, y in zip(states, at, a[kept:], b[kept:], strict=True))
    return found


@pytest.mark.parametrize("block", [1, 7, 100_000])
@pytest.mark.parametrize("word", [5, 62])
@pytest.mark.parametrize("kept", [0, 1, 2])
def test_sums_equal_those_pair_by_pair(monkeypatch, block, word, kept):
    monkeypatch.setattr(packed, "BLOCK", block)
    monkeypatch.setattr(packed, "WORD", word)
    rng = np.random.default_rng(block + word + kept)
    widths, gaps = [9, 4, 3, 2], [False, kept < 2, True, False]
    left, right = (
        np.column_stack([rng.integers(-1 if gap else 0, w - 1, n) for w, gap in zip(widths, gaps, strict=True)])
        for n in (30, 25)
    )
    fields = packed.fields_of(widths, gaps)
    assert (fields[-1].word > 0) == (word == 5)
    records = packed.pack(left, right, fields)
    assert packed.sums_of_sets(records, fields[:kept], fields[kept:]).tolist() == (
        by_pairs(left, right, kept, gaps).tolist()
    )


def test_no_attribute_and_one_file_only():
    two, none = np.empty((2, 0), dtype=np.int32), np.empty((0, 0), dtype=np.int32)
    assert packed.sums_of_sets(packed.pack(two, two, []), [], []).tolist() == 4
    assert packed.sums_of_sets(packed.pack(two, none, []), [], []).tolist() == 0
