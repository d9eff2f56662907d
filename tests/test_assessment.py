from __future__ import annotations

import sys

import pytest

import unmask
from unmask.assessment import choose, discover, run_measure
from unmask.errors import EngineError, ParameterError
from unmask.evidence.finding import Absence, Evidence, Observation
from unmask.evidence.measure import Context, Measure

PEOPLE = unmask.datasets.census(100)
COPY = unmask.Release(PEOPLE, PEOPLE)


def entry(run, applies=lambda _: None):
    return Measure("m", "M", "story", ("nearest.rate",), run, applies, 1)


@pytest.fixture(scope="module")
def whole():
    return unmask.assess(COPY, seed=5)


def test_a_copy_is_unsafe_and_a_stranger_is_not(whole):
    assert whole.verdict == "unsafe"
    one, two = (unmask.datasets.census(450, seed=k).with_row_index("nr") for k in (1, 9))
    core = unmask.Policy.load().core["paired"]
    assert unmask.assess(unmask.Release(one, two, id="nr"), only=core).verdict == "safe"
    by_order = unmask.Release(one.drop("nr"), two.drop("nr"))  # perhaps only the order of the rows is wrong
    assert unmask.assess(by_order, only=core).verdict == "inconclusive"


def test_policy_decides():
    masked = unmask.Release(PEOPLE, unmask.parse_masking("noise(1.2)").apply(PEOPLE, 1))
    value = unmask.link_nearest(masked).estimate.value
    assert 0.05 < value < 0.2
    assert unmask.assess(masked, only="nearest", policy="strict").verdict == "unsafe"
    assert unmask.assess(masked, only="nearest", policy="internal").verdict != "unsafe"


def test_what_cannot_run_is_never_safe():
    def broken(_release, _context):
        raise EngineError("it did not converge")

    def bug(_release, _context):
        raise KeyError("secret value")

    def hungry(_release, _context):
        raise MemoryError

    for run, words in ((broken, "converge"), (bug, "KeyError"), (hungry, "memory")):
        absence = run_measure(entry(run), COPY, Context())
        assert isinstance(absence, Absence)
        assert absence.outcome == "could not run"
        assert words in absence.reason
        assert "secret" not in absence.reason
    absence = run_measure(entry(broken, lambda _: "no weights"), COPY, Context())
    assert (absence.outcome, absence.reason) == ("does not apply", "no weights")


def test_a_crash_in_a_measure_can_be_found(monkeypatch, capsys):
    """Without being asked nothing is told; with UNMASK_DEBUG the frames, and neither values nor the error's words."""

    def where_it_breaks(_release, _context):
        cell = "secret".upper()  # not in this line of code, which is shown
        try:
            {}[cell]
        except KeyError as error:
            raise TypeError(cell) from error

    quiet = run_measure(entry(where_it_breaks), COPY, Context())
    assert capsys.readouterr().err == ""
    assert "run again with --debug" in quiet.reason and "UNMASK_DEBUG=1" in quiet.reason
    monkeypatch.setenv("UNMASK_DEBUG", "1")
    assert run_measure(entry(where_it_breaks), COPY, Context()) == quiet  # the report stays the same
    told = capsys.readouterr().err
    assert "in where_it_breaks" in told and "test_assessment.py" in told
    assert told.index("KeyError") < told.index("TypeError (its words may quote data: --show-values shows them)")
    assert "SECRET" not in told
    run_measure(entry(where_it_breaks), COPY, Context(show_values=True))
    assert "TypeError: SECRET" in capsys.readouterr().err


def test_same_seed_same_bits_whatever_else_runs(whole):
    alone = unmask.assess(COPY, seed=5, only=["nearest"])
    assert whole.document.digest == unmask.assess(COPY, seed=5).document.digest
    assert whole.records["nearest"].to_list() == alone.records["nearest"].to_list()
    kept = [finding for finding in whole.findings if finding.measure == "nearest"]
    assert list(alone.findings) == kept


def test_choose():
    measures = discover()
    assert {"nearest", "uniqueness"} <= set(measures)
    assert [m.name for m in choose(measures, ["nearest"], ())] == ["nearest"]
    assert "nearest" not in [m.name for m in choose(measures, None, ["nearest"])]
    with pytest.raises(ParameterError, match="did you mean 'nearest'"):
        choose(measures, ["nearst"], ())
    with pytest.raises(ParameterError, match="no measure is left"):
        choose(measures, ["nearest"], ["nearest"])


def test_every_registered_measure_shows_up_everywhere(whole):
    """By being registered: in the findings, in the JSON, in the per-record table, with story and title."""
    assert "risk" not in discover()
    names = {*discover(), "risk"}  # the risk of people follows from all attacks and is none itself
    assert {finding.measure for finding in whole.findings} == names
    assert {measure.name for measure in whole.document.measures} == names
    for measure in discover().values():
        assert measure.title and len(measure.story) > 30 and measure.keys


def test_progress_is_told():
    seen = []
    unmask.assess(COPY, only=["nearest", "uniqueness"], progress=lambda done, words: seen.append((done, words)))
    assert seen[0][0] == 0.0
    assert seen[-1] == (1.0, "done")
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)  # of the whole, not of each measure
    titles = [discover()[name].title for name in ("nearest", "uniqueness")]
    assert {words.split(": ")[0] for _, words in seen[:-1]} == set(titles)
    assert max(done for done, words in seen if words.startswith(titles[0])) == 0.5


def test_evidence_without_records_is_fine(monkeypatch):
    from unmask.evidence.estimate import exact

    def run(_release, _context):
        return Evidence((Observation("nearest.rate", "claim.", exact(0.0, n=1, chance=0.0)),))

    monkeypatch.setattr(sys.modules["unmask.assessment"], "discover", lambda: {"m": entry(run)})
    assessment = unmask.assess(COPY)
    assert assessment.findings[0].outcome == "for"
    assert assessment.verdict == "inconclusive" and "not enough to say safe" in assessment.reason
    assert assessment.records.columns == ["row", "risk"]
