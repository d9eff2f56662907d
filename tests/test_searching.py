"""The last attacks of `protect`: other seeds, room to the limit, other draws of the masking, who knows the method."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import special

from unmask.evidence import silent
from unmask.protect import Treatment, opened
from unmask.searching import FRESH, LastAttacks, Search, _next, at_the_limit, back_from
from unmask.trying import Job, begin

NOISY, PLAIN = "noise(0.5, columns=[age])", "recoding(20, columns=[age])"


@pytest.fixture(scope="module")
def job():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"age": rng.integers(18, 90, 100), "sex": rng.choice(["f", "m"], 100)})
    return begin(table, "partner", "maximum", (), 0, {})[0]


@pytest.fixture
def attacked(monkeypatch):
    """Attacks that find what the test says: by the seed of the attack and the seed of the masking."""
    made, said = [], {"used": lambda _seed: 0.5, "verdict": lambda _seed, _draw: "safe"}

    def attack(self, masking, seed, stage, glance):
        made.append((self.seed, seed))
        used = (("channel.rate", said["used"](self.seed)),)
        return replace(glance, stage=stage, verdict=said["verdict"](self.seed, seed), reason="as told", used=used)

    monkeypatch.setattr(Job, "attack", attack)
    monkeypatch.setattr(Job, "attack_method", lambda _self, _masking, _seed, safe: replace(safe, reason="by method"))
    return made, said


def proven(job, masking, store=None):
    first = job.attack(masking, 1, "whole", job.glance(masking, 1))
    return LastAttacks(job, store, silent).prove(first)


def test_other_seeds_other_draws_and_the_method_are_tried(job, attacked):
    made, _ = attacked
    assert proven(job, NOISY).reason == "by method"
    again = [(k * FRESH, 1) for k in (1, 2, 3)]
    assert made == [(0, 1), *again, (FRESH, 1 + FRESH), (2 * FRESH, 1 + 2 * FRESH)]


def test_a_masking_without_chance_has_no_other_draw(job, attacked):
    made, _ = attacked
    assert proven(job, PLAIN).verdict == "safe"
    assert [draw for _, draw in made] == [1, 1, 1, 1]


def test_a_draw_that_was_luck_is_refused(job, attacked):
    _, said = attacked
    said["verdict"] = lambda _seed, draw: "safe" if draw == 1 else "inconclusive"
    found = proven(job, NOISY)
    assert found.verdict == "inconclusive"
    assert found.reason == "another draw of the same masking is inconclusive: as told"
    assert proven(job, PLAIN).verdict == "safe"


def test_what_the_next_seed_may_bring_above_the_limit_is_refused(job, attacked):
    """Between 60 and 95 % of the limit by turns: mean 0.78, sd 0.18, one of a hundred seeds brings 130 % or more."""
    made, said = attacked
    said["used"] = lambda seed: 0.95 if seed // FRESH % 2 else 0.6
    found = proven(job, NOISY)
    assert found.verdict == "inconclusive"
    assert "too near to the limit" in found.reason
    assert "channel.rate" in found.reason
    assert len(made) == 1 + 20  # it was not given up before: more seeds could have told that there is room
    said["used"] = lambda seed: 0.8 if seed == FRESH else 0.7
    assert proven(job, NOISY).verdict == "safe"
    said["used"] = lambda _seed: 1.0  # at the limit, and the same for every seed: counted, not drawn
    assert proven(job, NOISY).verdict == "safe"


def test_a_low_figure_that_jumps_once_is_asked_for_more_seeds(job, attacked):
    """Four seeds leave open whether 0.9 comes often; a dozen that do not bring it again show that there is room."""
    made, said = attacked
    said["used"] = lambda seed: 0.9 if seed == FRESH else 0.1
    assert proven(job, PLAIN).verdict == "safe"
    assert 10 < len(made) < 20
    said["used"] = lambda _seed: 0.75
    made.clear()
    assert proven(job, PLAIN).verdict == "safe"
    assert len(made) == 4


def test_the_next_figure_is_above_its_bound_one_time_in_a_hundred():
    """Normal figures: the eleventh is above what ten say of it as often as it is said."""
    drawn = np.random.default_rng(1).normal(0.0, 0.1, (20_000, 11))
    above = np.mean([row[10] > _next(row[:10].tolist(), special.stdtrit) for row in drawn])
    assert above == pytest.approx(0.01, abs=0.002)


def test_room_is_asked_of_each_figure(job, attacked):
    first = job.glance(NOISY, 1)
    points = [replace(first, used=(("a", a), ("b", b))) for a, b in ((0.2, 0.5), (0.25, 0.8), (0.15, 0.6))]
    assert at_the_limit(points) == ["b"]
    assert at_the_limit(points[:1]) == []


def test_finished_attacks_are_not_made_again(job, attacked, tmp_path):
    made, _ = attacked
    with opened(tmp_path / "run", {"table": "x"}, resume=False) as store:
        first = proven(job, NOISY, store)
        before = len(made)
        assert proven(job, NOISY, store) == first
    assert len(made) == before + 1  # only that of the search, which this test makes itself


def test_where_the_gentler_release_is_refused_the_one_before_it_is_tried(job, attacked, monkeypatch):
    _, said = attacked
    plain, gentler = ({"age": Treatment("age", text)} for text in (PLAIN, "recoding(15, columns=[age])"))

    def softened(self, _state):
        self._verdict("glance", gentler)
        return [plain, gentler]

    def attack(self, masking, _seed, stage, glance):
        lucky = "recoding(15" in masking and self.seed > 0
        return replace(glance, stage=stage, verdict="unsafe" if lucky else "safe", reason=said["verdict"](0, 1))

    monkeypatch.setattr(Search, "_softened", softened)
    monkeypatch.setattr(Job, "attack", attack)
    monkeypatch.setattr(
        Search, "_better", lambda self, state, than: state is not than and self._point(state) is not None
    )
    search = Search(job, {}, None, None, silent)
    assert search.best([[plain]]) is plain
    assert [point.masking for point in search.refused] == ["recoding(15, columns=[age])"]
    assert search.again.masking == PLAIN


def test_halfway_back_is_tried_before_the_first(job, monkeypatch):
    """Treatments ever gentler: the gentlest is safe by luck, the one halfway is not, and is taken."""
    left = {f"recoding({size}, columns=[age])": 1 - size / 100 for size in (60, 45, 30, 20, 10)}
    steps = [Treatment("age", text, part, 1 - part) for text, part in left.items()]
    whole = Job.glance

    def glance(self, masking, seed):
        return replace(whole(self, masking, seed), verdict="open", utility=left[masking])

    def attack(self, masking, _seed, stage, glance):
        lucky = masking == steps[-1].masking and self.seed > 0
        return replace(glance, stage=stage, verdict="unsafe" if lucky else "safe")

    monkeypatch.setattr(Job, "glance", glance)
    monkeypatch.setattr(Job, "attack", attack)
    monkeypatch.setattr(Job, "attack_method", lambda _self, _masking, _seed, safe: safe)
    search = Search(job, {"age": tuple(steps)}, None, None, silent)
    assert search.best([[{"age": steps[0]}]]) == {"age": steps[2]}
    assert [point.masking for point in search.refused] == [steps[-1].masking]
    verdicts = {point.masking: point.verdict for point in search.told()}
    assert verdicts[steps[-1].masking] == "unsafe"  # no point is shown as safe that was refused
    assert verdicts[steps[2].masking] == "safe"
    fresh = Search(job, {"age": tuple(steps)}, None, None, silent, dict(search.tried))
    assert [one["age"] for one in fresh._softened({"age": steps[0]})] == steps
    assert [one["age"] for one in search._softened({"age": steps[0]})] == steps[:-1]  # luck is not tried twice


def test_what_is_proven_in_turn():
    states = [{"age": Treatment("age", str(k))} for k in range(7)]
    assert back_from(states) == (states[6], states[3], states[0])
    assert back_from(states[:2]) == (states[1], states[0])
    assert back_from(states[:1]) == (states[0],)
