"""What competition adds: of very many people some are asked for one by one, though all of them want records.

Whoever looks for everybody at once finds more, since a record that suits somebody else better is nobody else's. Among
fewer people, drawn at random with their records, both can be had: the same people asked for one by one, and all at
once. What that adds rises from nothing, where everybody is found anyway, ever more slowly with the logarithm of their
number, and falls again as people get lost in the crowd. So it is at most what it would be if it went on rising as it
does last, or if it falls, what it was; or, where nearly everybody is found and it has hardly begun to rise, the same
share of those who are missed one by one. More people are found no oftener than fewer are, all at once. Expected is that
what is added goes on falling by the same share each time that people are four times as many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.evidence import Z95, rate, wilson
from unmask.study import Study
from unmask.tables import canonical_order

if TYPE_CHECKING:
    from unmask.arrays import Floats, Rows
    from unmask.evidence import Estimate
    from unmask.tables import Release

TOGETHER = 20_000  # people, with their records, who are looked for all at once
FEWER = 4  # times: to see whether what is added falls
Z99 = 2.576  # of those who are missed there may be few, and they stand for many

Pair = tuple["Floats", "Floats"]  # credits of the same people: as they were asked for, and by the whole attack


@dataclass(frozen=True, slots=True)
class Added:
    """What competition may add to a share of people, and the share of fewer people that is found with it."""

    most: float  # upper end of what is added
    together: float  # upper end of what is found of fewer people, all at once
    expected: float = 0.0  # what is added, if it goes on as it does
    least: float = 0.0  # lower end: below 0 where competition may do harm
    regained: float = 0.0  # upper end of the share of those missed one by one who are found all at once

    def widen(self, estimate: Estimate) -> Estimate:
        """The estimate, its upper end raised by what competition may add."""
        high = min(estimate.high + max(self.most, (1.0 - estimate.high) * self.regained), self.together)
        return replace(estimate, high=min(1.0, max(estimate.high, high)))

    def raise_to(self, estimate: Estimate) -> Estimate:
        """The estimate of all at once: raised by what is expected, between what may be lost and what may be added."""
        wide = self.widen(estimate)
        value = min(max(estimate.value + self.expected, 0.0), wide.high)
        return replace(wide, value=value, low=min(value, max(0.0, estimate.low + min(0.0, self.least))))


def added(fewer: Pair, more: Pair, steps: float, seed: int) -> Added:
    """What competition adds among so many steps more, by what it adds to fewer people and to more."""
    before, now = (whole - plain for plain, whole in (fewer, more))
    error = Z95 * now.std() / np.sqrt(now.size)
    rising = max(0.0, float(now.mean() - before.mean())) * steps
    falls = float(np.clip(now.mean() / before.mean(), 0.0, 1.0)) if before.mean() > 0 < now.mean() else 1.0
    return Added(
        max(0.0, float(now.mean() + error)) + rising,
        rate(more[1], chance=0.0, seed=seed).high,
        float(now.mean()) * falls**steps,
        float(now.mean() - error),
        wilson(max(0.0, float(now.sum())), float((1.0 - more[0]).sum()), Z99)[1],
    )


def competition_of(
    study: Study,
    people: Rows,
    attack: Callable[[Study], Sequence[Pair]],
    seed: int,
    *,
    together: int = TOGETHER,
    everyone: int | None = None,
) -> tuple[Added, ...]:
    """Measure on fewer of these people what each figure of an attack gains when all are looked for at once.

    ``everyone``: how many all are; None: those of the study.
    """
    most = min(together, people.size)
    sizes = max(1, most // FEWER), most
    fewer, more = (attack(Study(fewer_people(study, people, size, seed))) for size in sizes)
    steps = float(np.log((everyone or len(study.release.paired_rows)) / most) / np.log(FEWER))
    return tuple(added(*pairs, steps, seed) for pairs in zip(fewer, more, strict=True))


def fewer_people(study: Study, people: Rows, size: int, seed: int) -> Release:
    """So many of these people, with their records and as large a share of the records of nobody.

    They are drawn by what both files hold of them, not by their rows; a larger draw of the same seed contains them.
    """
    release, encoding, draw = study.release, study.encoding(), np.random.default_rng([seed, 8])
    a, b, truth = encoding.original, encoding.released, np.asarray(release.truth)
    own = truth[people]
    order = canonical_order(a.numeric[people], a.codes[people], b.numeric[own], b.codes[own])
    chosen = np.sort(people[order[draw.permutation(people.size)[:size]]])
    nobodys = np.setdiff1d(np.arange(release.released.height), truth[truth >= 0])
    nobodys = nobodys[canonical_order(b.numeric[nobodys], b.codes[nobodys])]
    spare = draw.permutation(nobodys)[: round(nobodys.size * chosen.size / len(release.paired_rows))]
    records = np.concatenate((truth[chosen], np.sort(spare)))
    return release.with_tables(release.original[chosen], release.released[records], np.arange(chosen.size))
