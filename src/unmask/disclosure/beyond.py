"""What a synthetic release tells of its people beyond what it tells of people outside; and how sure its claims are.

With people outside the answer is plain: who is in the original is looked up in the release, and so are they. With
nobody outside (`key_baselines.beyond_fresh`) a release can have more keys whose rows agree than people have, by its
noise alone, and nothing tells that from memory: its claims must be right more often than those of other people's rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unmask.arrays import Flags, Floats, Ints
from unmask.disclosure.key_baselines import Beyond
from unmask.disclosure.key_codes import Coded
from unmask.disclosure.key_lookup import looked_up
from unmask.evidence import Z95, Estimate, newcombe, wilson

SPLITS = 10  # of the original in halves
MOST_AGREEING = 6  # rows behind a claim; more count as so many
Codes = tuple[Ints, Ints]


class Told(NamedTuple):
    """Of each person whether the rows with their keys agree on a target, and whether it is theirs."""

    disclosed: Flags
    correct: Flags


def told_by(key: Codes, target: Codes) -> Told:
    """Look people up among rows, both by one number for their keys and one for their target."""
    codes = {
        name: Coded(np.concatenate(both), int(max(side.max() for side in both)) + 1, both[0].size)
        for name, both in (("key", key), ("target", target))
    }
    found = looked_up(codes, ("key",), "target")[0]
    return Told(found.disclosed, found.correct)


def beyond_outside(key: tuple[Ints, Ints, Ints], target: tuple[Ints, Ints, Ints]) -> Beyond:
    """Right targets of the people of the original beyond those of people outside; codes of people, rows, outsiders.

    Both are looked up in the whole release, so that what its noise or its model does to everybody alike cancels. All
    who have the same keys find the same rows: they are one draw for the interval.
    """
    (mine, rows, others), (my_target, row_target, their_target) = key, target
    ours = told_by((mine, rows), (my_target, row_target)).correct
    theirs = told_by((others, rows), (their_target, row_target)).correct
    gain = float(ours.mean()) - float(theirs.mean())
    crowds = int(max(mine.max(), others.max())) + 1
    parts = [
        np.bincount(who, right - right.mean(), crowds) / who.size for who, right in ((mine, ours), (others, theirs))
    ]
    hits = [(float(side.sum()), int(side.size)) for side in (ours, theirs)]
    return Beyond(
        float(ours.mean()),
        float(theirs.mean()),
        _estimate(gain, parts[0] - parts[1], newcombe(hits[0], hits[1]), mine.size),
        outside=True,
    )


def no_surer(right: Beyond, key: Codes, target: Codes, rng: np.random.Generator) -> Beyond:
    """The same with a lower end that holds only as far as claims are right more often than other people's (`surer`)."""
    (mine, rows), n = key, key[0].size
    if n < 2:
        return right
    claims = _Claims(mine)
    for _ in range(SPLITS):
        order = rng.permutation(n)
        for half, other in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
            others = other[: min(other.size, rows.size)]
            claims.add(half, mine[others], told_by((mine[half], mine[others]), (target[0][half], target[0][others])))
    surer = claims.surer(told_by(key, target), rows, float(np.bincount(target[0]).max()) / n)
    return right._replace(excess=replace(right.excess, low=min(right.excess.low, surer.low)))


class _Claims:
    """How often claims that so many rows of other people agree on are right, by the crowd of who is asked for."""

    def __init__(self, mine: Ints) -> None:
        self.mine = mine
        self.made, self.right = (np.zeros((int(mine.max()) + 1, MOST_AGREEING + 1)) for _ in range(2))

    def add(self, half: Ints, rows: Ints, found: Told) -> None:
        """Count the claims that some rows make about some people."""
        agree = _agreeing(self.mine[half], rows)
        for counts, which in ((self.made, found.disclosed), (self.right, found.correct)):
            np.add.at(counts, (self.mine[half][which], agree[which]), 1.0)

    def surer(self, found: Told, rows: Ints, blind: float) -> Estimate:
        """What the claims of the release have right beyond as many by other people's rows that agree alike.

        Where other people's rows claim next to nothing the commonest value is the guess. Crowds are one draw.
        """
        agree, n, total = _agreeing(self.mine, rows), self.mine.size, self.made.sum(0)
        usual = (self.right.sum(0) + SPLITS * blind) / (total + SPLITS)
        gains = found.correct - found.disclosed * usual[agree]
        gain, weight = float(gains.mean()), np.bincount(agree[found.disclosed], minlength=total.size) / n
        taught = ((self.right - usual * self.made) * weight / np.maximum(total, 1.0)).sum(1)
        return _estimate(
            gain, np.bincount(self.mine, gains - gain, taught.size) / n - taught, wilson(max(gain, 0.0) * n, n), n
        )


def _agreeing(people: Ints, rows: Ints) -> Ints:
    """Rows with the keys of each person, at most so many as are told apart."""
    there = np.bincount(rows, minlength=int(people.max()) + 1)[people]
    return np.asarray(np.minimum(there, MOST_AGREEING))


def _estimate(gain: float, parts: Floats, least: tuple[float, float], n: int) -> Estimate:
    """A gain, at least 0, to which each crowd adds a part that is 0 on average; an interval no narrower than given."""
    error = Z95 * float(np.sqrt(np.sort(parts**2).sum()))
    ends = min(gain - error, least[0]), max(gain + error, least[1])
    low, value, high = (min(max(one, 0.0), 1.0) for one in (ends[0], gain, ends[1]))
    return Estimate(value, low, high, n, 0.0, None, "clustered")
