"""Audit: is a mechanism as private as it claims to be? Its releases with a person, and without them, are told apart.

The auditor makes the release again and again, of two tables that differ in one person, and tells which of the two each
release was made of. How often they are right bounds epsilon from below, at a stated confidence [JAGIELSKI]_, [NASR]_.
An audit can show that a claim is false, never that it is true.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.disclosure.canaries import Worlds, make_worlds
from unmask.disclosure.epsilon import CONFIDENCE, Counted, Rule, choose_rule, least_runs, most_shown
from unmask.disclosure.sightings import Sightings
from unmask.errors import ParameterError, TableError, check_name
from unmask.evidence import Figure, Progress, Series, silent
from unmask.masking import Chain, Claim, Masking, as_maker, claim_of, parse_masking
from unmask.shares import percent
from unmask.shown import Shown
from unmask.tables import check_columns, read_table

LEARNT = 0.25  # share of the runs that choose the attack and its rule; the others count
FEWEST = 20  # runs: below, nothing can be chosen and counted
PEOPLE = 100  # beside the canary: fewer make it more visible
REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Audit(Shown):
    """What an audit has shown: counts are of runs that chose nothing."""

    claimed: float | None
    delta: float
    confidence: float
    runs: int  # with the canary, and as many without
    counted: Counted
    attack: str
    neighbours: str
    curve: tuple[Floats, Floats] = field(repr=False)  # wrong and right answers, over all levels of the attack's score

    @property
    def shown(self) -> float:
        """Epsilon is at least this, at the confidence."""
        return self.counted.shown(self.delta, self.confidence)

    @property
    def value(self) -> float:
        """Epsilon by the shares as they are."""
        return self.counted.value(self.delta)

    @property
    def most(self) -> float:
        """What this number of runs can show at most."""
        return most_shown(self.counted.runs, self.delta, self.confidence)

    @property
    def refuted(self) -> bool | None:
        """Whether more was shown than is claimed; None where nothing is claimed."""
        return None if self.claimed is None else self.shown > self.claimed

    @property
    def words(self) -> str:
        """The result in a sentence or two."""
        sure = percent(self.confidence)
        at_delta = f" at delta {self.delta:g}" if self.delta else ""
        shown = f"shown at least {self.shown:.2f} ({sure}){at_delta}"
        if self.claimed is None:
            return f"Epsilon: {shown}. Nothing is claimed."
        if self.refuted:
            return f"Epsilon: claimed {self.claimed:g}, {shown}. The claim is false: do not publish with it."
        return (
            f"Epsilon: claimed {self.claimed:g}, {shown}. The claim is not refuted. That is no proof: these runs can "
            f"show {self.most:.1f} at most, and another attack may show more."
        )

    @property
    def figure(self) -> Figure:
        """Right answers against wrong ones, beside what the claim allows."""
        wrong, right = self.curve
        series = [Series("audit", tuple(wrong.tolist()), tuple(right.tolist()))]
        if self.claimed is not None:
            series.append(_allowed(self.claimed, self.delta))
        return Figure(
            shape="line",
            title="Are releases with the person told from releases without?",
            caption="Where the audit is above what the claim allows, the claim is doubtful; the counts decide.",
            alt=f"Right against wrong answers; {self.words}",
            x_label="said to be there, and is not",
            y_label="said to be there, and is",
            series=(*series, Series("blind guess", (0.0, 1.0), (0.0, 1.0))),
            percent=(True, True),
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "claimed": self.claimed, "delta": self.delta, "shown": self.shown, "value": self.value,
            "confidence": self.confidence, "refuted": self.refuted, "most": self.most, "runs": self.runs,
            "counted": self.counted._asdict(), "attack": self.attack, "neighbours": self.neighbours,
            "words": self.words,
        }  # fmt: skip


def audit_privacy(  # noqa: PLR0913 - the choices of an audit
    original: Any,  # noqa: ANN401 - a path or any frame
    masking: Any,  # noqa: ANN401 - whatever makes releases
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    runs: int = 2000,
    people: int = PEOPLE,
    neighbours: str | None = None,
    columns: Sequence[str] | None = None,
    canary: Any = None,  # noqa: ANN401
    confidence: float = CONFIDENCE,
    seed: int = 0,
    progress: Progress = silent,
) -> Audit:
    """Bound the epsilon of a mechanism from below, by making its releases with and without a person.

    Parameters
    ----------
    original
        A table of people such as the mechanism is meant for: a path or any frame. A few of them, by lot, stand beside
        the canary.
    masking
        A masking or its text ("laplace(1, [(age, 0, 100)])"), a ``Synthesiser``, or a function of a table and a seed.
    epsilon, delta
        What is claimed. None: what the masking promises of itself, or nothing; delta 0.
    runs
        Releases with the canary, and as many without. A quarter of them chooses the attack, the others count.
    people
        How many stand beside the canary.
    neighbours
        "replaced": another row stands in the canary's place; "removed": none does. None: as the masking promises it,
        else "replaced" (a claim for people who are added or removed is twice as large for these).
    columns
        Those that are claimed to be private. None: those of the masking's own promise, else all.
    canary
        The person, and for "replaced" who stands in their place, as a table of one or two rows; columns that it lacks
        get the worst that is seen. None: ends of columns, and beyond where nothing bounds them.
    confidence, seed, progress
        Of the bound; of every choice; called with the fraction done and a word.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.patients(50).select("height")
    >>> found = unmask.audit_privacy(people, "laplace(1, [(height, 100, 220)])", runs=200)
    >>> found.refuted
    False

    """
    how = parse_masking(masking) if isinstance(masking, str) else masking
    claim = claim_of(how) if isinstance(how, Masking) else None
    claimed, allowed = _claimed(epsilon, delta, claim)
    which = neighbours or (claim.neighbours if claim else REPLACED)
    tests = _tests(claimed, allowed, runs, confidence)
    check_name(which, (REPLACED, "removed"), "neighbours are unknown")
    if people < 1:
        raise ParameterError("somebody must stand beside the canary", got=str(people), allowed="from 1")
    table = read_table(original, name="original")
    if not table.height or not table.width:
        raise TableError("there is nobody in the table to stand beside the canary")
    names = check_columns(columns or (claim.columns if claim else table.columns), table.columns, "columns", "original")
    rng = np.random.default_rng([seed, 19])
    some = table[np.sort(rng.permutation(table.height)[:people])]
    second = None if canary is None else read_table(canary, name="canary")
    worlds = make_worlds(some, names, replaced=which == REPLACED, bounds=_bounds(how), given=second)
    seen = _run(how, worlds, names, runs, rng, progress)
    inside = np.arange(2 * runs) % 2 == 0
    learn = np.arange(2 * runs) < 2 * (runs - tests)
    name, rule, scores = _best(seen.scores(inside, learn), inside, learn, allowed, confidence)
    mine, others = scores[inside & ~learn], scores[~inside & ~learn]
    return Audit(
        claimed, allowed, confidence, runs, rule.counted(mine, others), name, which, _curve(mine, others, rule)
    )


def _claimed(epsilon: float | None, delta: float | None, claim: Claim | None) -> tuple[float | None, float]:
    claimed = epsilon if epsilon is not None else claim.epsilon if claim else None
    allowed = delta if delta is not None else claim.delta if claim else 0.0
    if claimed is not None and not (np.isfinite(claimed) and claimed > 0):
        raise ParameterError("epsilon is out of range", got=f"{claimed:g}", allowed="a number, more than 0")
    if not 0 <= allowed < 1:
        raise ParameterError("delta is out of range", got=f"{allowed:g}", allowed="from 0, less than 1")
    return claimed, float(allowed)


def _tests(claimed: float | None, delta: float, runs: int, confidence: float) -> int:
    """How many of the runs count; refuse so few that no attack could refute the claim."""
    if not 0.5 <= confidence < 1:
        raise ParameterError("the confidence is out of range", got=f"{confidence:g}", allowed="from 0.5, less than 1")
    tests = _counting(runs)
    least = least_runs(claimed or 0.0, delta, confidence)
    if least is None:
        raise ParameterError(
            "no number of runs that can be made would refute this claim", got=f"epsilon {claimed:g}, delta {delta:g}"
        )
    needed = max(FEWEST, int(least / (1 - LEARNT)))
    while _counting(needed) < least:
        needed += 1
    if runs < needed:
        raise ParameterError(
            "so few runs could not refute the claim, whatever they show", got=f"{runs:,} runs",
            allowed=f"from {needed:,}",
        )  # fmt: skip
    return tests


def _counting(runs: int) -> int:
    """Runs that are left to count when some have chosen."""
    return runs - int(np.ceil(LEARNT * runs))


def _bounds(how: Any) -> dict[str, tuple[float, float]]:  # noqa: ANN401 - whatever makes releases
    """Bounds that a masking states, of a chain too: the canary need not be beyond them."""
    if isinstance(how, Chain):
        return {name: ends for step in how.maskings for name, ends in _bounds(step).items()}
    promises = isinstance(how, Masking) and claim_of(how) is not None
    stated = [*getattr(how, "bounds", ()), *getattr(how, "cells", ())] if promises else []
    return {one[0]: (float(one[1]), float(one[2])) for one in stated if len(one) > 2}


def _run(
    how: Any,  # noqa: ANN401 - whatever makes releases
    worlds: Worlds,
    names: Collection[str],
    runs: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Sightings:
    """Make releases, in turn with and without the canary."""
    make: Callable[[pl.DataFrame, int], pl.DataFrame] = how.apply if isinstance(how, Masking) else as_maker(how)
    stays = getattr(how, "keeps_people", True) and worlds.outside.height == worlds.inside.height
    seen = Sightings(worlds, names, rows_stay=bool(stays))
    for number in range(2 * runs):
        table = worlds.inside if number % 2 == 0 else worlds.outside
        seen.look(make(table, int(rng.integers(2**62))))
        if number % 50 == 0:
            progress(number / (2 * runs), "releases with and without the person")
    progress(1.0, "what they tell")
    return seen


def _best(
    attacks: dict[str, Floats], inside: np.ndarray, learn: np.ndarray, delta: float, confidence: float
) -> tuple[str, Rule, Floats]:
    """The attack that shows most on the runs that choose, in either direction; of equal ones the first named."""
    found: tuple[str, Rule, Floats] | None = None
    most = -1.0
    for name, scores in attacks.items():
        for sign in (1.0, -1.0):
            signed = sign * scores
            rule, shown = choose_rule(signed[inside & learn], signed[~inside & learn], delta, confidence)
            if shown > most:
                found, most = (name, rule, signed), shown
    if found is None:  # every release is the same: nothing is told
        nothing = np.zeros(inside.size)
        return "nothing differs", Rule(0.0, above=True), nothing
    return found


def _curve(mine: Floats, others: Floats, rule: Rule) -> tuple[Floats, Floats]:
    """Wrong and right answers from each level of the score on; of a rule that says "without", of that answer."""
    yes, no = (mine, others) if rule.above else (-others, -mine)
    levels = np.unique(np.concatenate([yes, no]))[::-1]
    levels = levels[np.unique(np.linspace(0, levels.size - 1, 200).astype(int))]
    right, wrong = ([float((side >= level).mean()) for level in levels] for side in (yes, no))
    return np.array([0.0, *wrong]), np.array([0.0, *right])


def _allowed(epsilon: float, delta: float) -> Series:
    """The most that may be right at each share of wrong answers, if the claim is true."""
    wrong = np.unique(np.concatenate([np.linspace(0, 1, 101), np.geomspace(1e-4, 1, 40)]))
    right = np.minimum(np.exp(min(epsilon, 50.0)) * wrong + delta, 1 - np.exp(-epsilon) * (1 - delta - wrong))
    return Series("allowed by the claim", tuple(wrong.tolist()), tuple(np.clip(right, 0, 1).tolist()))
