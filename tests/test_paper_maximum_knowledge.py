"""The paper's tables, quickly: three replicates instead of thirty, and wider bounds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks/papers"))


@pytest.mark.casc
def test_tables_one_to_three():
    from maximum_knowledge import KAPPAS, UNKNOWN, failures, reproduce

    results = reproduce(3, (UNKNOWN,))
    assert failures(results, ks=0.08, mean=0.1) == []
    means = [results[False, kappa].mean() for kappa in KAPPAS]
    assert means == sorted(means)
    assert results[False, 0.5].ks("I") > 0.8 > results[False, 1].ks("I") > 0.6
