"""The register of measures: what a measure draws follows from its name, and a renamed one keeps its numbers."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import polars as pl
import pytest

from unmask import Release
from unmask.assessment import discover
from unmask.evidence.measure import FORMER, NO_ORIGINAL, RELEASE_ALONE, UNPAIRED, measure, registered


def test_the_stream_of_a_measure_is_its_first_name():
    for name, entry in discover().items():
        first = FORMER.get(name, name)
        assert entry.seed == int.from_bytes(first.encode(), "big") % 2147483648
    assert len({entry.seed for entry in discover().values()}) == len(discover())


def test_measures_that_need_pairs_say_so_of_a_synthetic_release():
    table = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    paired, synthetic = Release(table, table), Release(table, table, synthetic=True)
    measures = discover()
    assert measures["nearest"].applies(synthetic) == UNPAIRED
    assert measures["nearest"].applies(paired) is None
    assert measures["singling"].applies(synthetic) != UNPAIRED
    assert list(measures) == sorted(measures)


@pytest.mark.parametrize("pairs", [True, False])
def test_a_measure_is_registered_with_its_stream_and_what_it_needs(monkeypatch, pairs):
    monkeypatch.setattr(sys.modules[measure.__module__], "_REGISTER", {})
    make = measure("zebra", title="", story="", keys=("zebra.rate",), pairs=pairs, applies=lambda _: "not here")
    run = make(lambda _study, _context: None)
    entry = registered()["zebra"]
    assert entry.run is run and entry.seed == int.from_bytes(b"zebra", "big") % 2147483648
    assert entry.applies(SimpleNamespace(alone=False, synthetic=True, quasi=("a",))) == (
        UNPAIRED if pairs else "not here"
    )
    assert entry.applies(SimpleNamespace(alone=False, synthetic=False, quasi=("a",))) == "not here"


def test_without_an_original_only_measures_of_the_release_alone_apply(monkeypatch):
    monkeypatch.setattr(sys.modules[measure.__module__], "_REGISTER", {})
    alone = SimpleNamespace(alone=True, synthetic=False, quasi=("a",))
    for name in ("zebra", *RELEASE_ALONE):
        measure(name, title="", story="", keys=(), applies=lambda _: "not here")(lambda _study, _context: None)
        assert registered()[name].applies(alone) == (NO_ORIGINAL if name == "zebra" else "not here")
