"""What a synthetic release tells of its people beyond what it, or other people's rows, tell of anybody.

With people outside the answer is plain: who is in the original is looked up in the release, and so are they. With
nobody outside the original is cut in halves at random, and of the people of one half is asked what the release tells,
and what the other half, which holds other people, would have told in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.arrays import Floats, Ints
from unmask.disclosure.lookup import KeyDisclosure, looked_up
from unmask.evidence import Z95, Estimate, newcombe, wilson

SPLITS = 10  # of the original in halves
MOST_AGREEING = 6  # rows behind a claim; more count as so many
Codes = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class Beyond:
    """A share by the release and by those it is held against, and what the one has beyond the other."""

    released: float
    fresh: float
    excess: Estimate
    outside: bool = False  # held against people outside, looked up in the same release


def beyond_outside(key: tuple[Ints, Ints, Ints], target: tuple[Ints, Ints, Ints]) -> Beyond:
    """Right targets of the people of the original beyond those of people outside; codes of people, rows, outsiders.

    Both are looked up in the whole release, so that what its noise or its model does to everybody alike cancels. All
    who have the same keys find the same rows: they are one draw for the interval.
    """
    (mine, rows, others), (my_target, row_target, their_target) = key, target
    ours = looked_up(mine, rows, (my_target, row_target)).correct
    theirs = looked_up(others, rows, (their_target, row_target)).correct
    gain = float(ours.mean()) - float(theirs.mean())
    crowds = int(max(mine.max(), others.max())) + 1
    parts = [
        np.bincount(who, right - right.mean(), crowds) / who.size for who, right in ((mine, ours), (others, theirs))
    ]
    return Beyond(
        float(ours.mean()),
        float(theirs.mean()),
        _estimate(
            gain,
            parts[0] - parts[1],
            newcombe((float(ours.sum()), ours.size), (float(theirs.sum()), theirs.size)),
            mine.size,
        ),
        outside=True,
    )


def beyond_fresh(key: Codes, target: Codes | None, rng: np.random.Generator) -> dict[str, Beyond]:
    """What the release tells of people beyond other people's rows: replicated uniques, and targets that are right.

    Both are asked of one half of the people, with as many rows of the release as the other half has people. A row that
    was made from a person is among these rows as often as they are part of all rows: the gain is divided by that.
    People with the same keys are found or not together, so they are one draw for the interval.

    A release can have more keys whose rows agree than people have, by its noise alone, and nothing tells that from
    memory. So the lower end of right targets holds only as far as its claims are right more often (`_surer`).
    """
    mine, rows = key
    n, told = mine.size, dict.fromkeys(("replicated", "correct"), 0.0)
    gains, fresh, claims = {name: np.zeros(n) for name in told}, dict.fromkeys(told, 0.0), _Claims(mine)
    for _ in range(SPLITS):
        order = rng.permutation(n)
        for half, other in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
            some = min(other.size, rows.size)
            drawn, others = rng.permutation(rows.size)[:some], other[:some]
            by_release = looked_up(mine[half], rows[drawn], _targets(target, half, drawn, of=1))
            by_others = looked_up(mine[half], mine[others], _targets(target, half, others, of=0))
            claims.add(half, mine[others], by_others)
            for name in told:
                a, b = (getattr(one, name).astype(np.float64) for one in (by_release, by_others))
                gains[name][half] += (a - b) * rows.size / (some * SPLITS)
                told[name] += float(a.sum()) / (n * SPLITS)
                fresh[name] += float(b.sum()) / (n * SPLITS)
    found = {name: Beyond(told[name], fresh[name], _clustered(gains[name], mine)) for name in told}
    if target is None:
        return {"replicated": found["replicated"]}
    surer = claims.surer(looked_up(mine, rows, target), rows, float(np.bincount(target[0]).max()) / n)
    right = found["correct"]
    return found | {"correct": replace(right, excess=replace(right.excess, low=min(right.excess.low, surer.low)))}


def _targets(target: Codes | None, half: Ints, picked: Ints, *, of: int) -> Codes | None:
    return None if target is None else (target[0][half], target[of][picked])


class _Claims:
    """How often claims that so many rows of other people agree on are right, by the crowd of who is asked for."""

    def __init__(self, mine: Ints) -> None:
        self.mine = mine
        self.made, self.right = (np.zeros((int(mine.max()) + 1, MOST_AGREEING + 1)) for _ in range(2))

    def add(self, half: Ints, rows: Ints, found: KeyDisclosure) -> None:
        """Count the claims that some rows make about some people."""
        agree = _agreeing(self.mine[half], rows)
        for counts, which in ((self.made, found.disclosed), (self.right, found.correct)):
            np.add.at(counts, (self.mine[half][which], agree[which]), 1.0)

    def surer(self, found: KeyDisclosure, rows: Ints, blind: float) -> Estimate:
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


def _clustered(gains: Floats, crowd: Ints) -> Estimate:
    """The mean gain, at least 0, with an interval in which people of one crowd are one draw."""
    n, sums = gains.size, np.bincount(crowd, gains)
    mean, error = float(sums.sum()) / n, Z95 * float(np.sqrt(np.sort(sums**2).sum())) / n
    error = max(error, Z95**2 / (n + Z95**2) if mean <= 0 else 0.0)  # nothing seen among n is not nothing
    low, high = (min(max(end, 0.0), 1.0) for end in (mean - error, mean + error))
    return Estimate(max(mean, 0.0), low, high, n, 0.0, None, "clustered")
