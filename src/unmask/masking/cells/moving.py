"""Fewer blanked cells: lots of a class move to groups that show more, as long as nobody is left in a group below k.

Unlike the greedy search, a class may be split: of ten equal records four are blanked to keep one other company, and six
stay as they are. All sets of attributes that a class can show are numbered once; a group is what a class shows of
itself, and equal numbers are equal groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Codes, Counts, Flags, Ints
from unmask.study import number_rows

MOST_GROUPS = 4_000_000  # classes times sets of attributes that are numbered
ROUNDS = 20
MOST_MEMBERS = 400  # of a group that are asked for company
Move = tuple[int, int, int, int]  # a class, the set of attributes that is blanked before and after, records


@dataclass(frozen=True, slots=True)
class Lots:
    """Records of one class that are blanked alike: the class, the attributes that are blanked, how many records."""

    of: Ints
    blank: Flags  # lots x attributes: cells that were there and go
    count: Ints

    @property
    def cells(self) -> int:
        """Cells that are blanked in all."""
        return int((self.blank.sum(axis=1) * self.count).sum())


@dataclass(frozen=True, slots=True)
class Groups:
    """What each class shows when a set of attributes is blanked; sets are numbered by their bits, 0 blanks nothing."""

    group: NDArray[np.int64]  # classes x sets
    cost: NDArray[np.int64]  # classes x sets: cells that go
    count: Counts
    k: int


def number_groups(codes: Codes, gap: Codes, count: Counts, k: int) -> Groups | None:
    """Number what classes can show; None where there is too much of it."""
    n, m = codes.shape
    if m > 20 or n * 2**m > MOST_GROUPS:
        return None
    sets = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1
    shown = np.where(sets[None], gap, codes[:, None, :]).reshape(-1, m)
    cost = ((codes != gap) @ sets.T.astype(np.int64)).astype(np.int64)
    return Groups(number_rows(shown).reshape(n, 2**m), cost, count, k)


class Moves:
    """The present lots, as records of each class in each set of attributes, and the sizes of the groups."""

    def __init__(self, groups: Groups, start: Flags) -> None:
        """``start``: attributes of each class that are blanked."""
        self.groups = groups
        self.at: list[dict[int, int]] = []
        self.size = np.zeros(int(groups.group.max()) + 1, np.int64)
        self.inside: dict[int, set[int]] = {}
        self.order = np.argsort(groups.group.ravel(), kind="stable")
        self.ordered = groups.group.ravel()[self.order]
        for c, place in enumerate((start @ (1 << np.arange(start.shape[1]))).tolist()):
            self.at.append({})
            self._put(c, place, int(groups.count[c]))

    def _put(self, c: int, place: int, many: int) -> None:
        g = int(self.groups.group[c, place])
        there = self.at[c].get(place, 0) + many
        self.size[g] += many
        if there:
            self.at[c][place] = there
            self.inside.setdefault(g, set()).add(c)
            return
        del self.at[c][place]
        if not any(self.groups.group[c, other] == g for other in self.at[c]):
            self.inside[g].discard(c)

    def _shift(self, c: int, old: int, new: int, many: int) -> None:
        self._put(c, old, -many)
        self._put(c, new, many)

    def _back(self, c: int, place: int) -> bool:
        """Show more of what the group can spare, where a group of k is or comes about."""
        groups, k = self.groups, self.groups.k
        spare = min(self.at[c][place], int(self.size[groups.group[c, place]]) - k)
        if spare <= 0:
            return False
        better = np.flatnonzero(groups.cost[c] < groups.cost[c, place])
        better = better[self.size[groups.group[c, better]] + spare >= k]
        if not better.size:
            return False
        self._shift(c, place, int(better[np.argmin(groups.cost[c, better])]), spare)
        return True

    def _closed(self, g: int) -> bool:
        """Give everybody of a group another one, or company of their own, where that costs less in all."""
        before, done = self.cells_of(g), list[Move]()
        gain = before
        for c in sorted(self.inside[g]):
            for place, many in [*self.at[c].items()]:
                if self.groups.group[c, place] != g:
                    continue
                cost, moves = self._elsewhere(c, place, many, gain)
                gain -= cost
                if not moves or gain <= 0:
                    self._undo(done)
                    return False
                for move in moves:
                    self._shift(*move)
                done += moves
        return True

    def cells_of(self, g: int) -> int:
        """Cells that a group costs now."""
        lots = [(c, place, many) for c in self.inside[g] for place, many in self.at[c].items()]
        return sum(many * int(self.groups.cost[c, p]) for c, p, many in lots if self.groups.group[c, p] == g)

    def _undo(self, moves: list[Move]) -> None:
        for c, old, new, many in reversed(moves):
            self._shift(c, new, old, many)

    def _elsewhere(self, c: int, place: int, many: int, most: int) -> tuple[int, list[Move]]:
        """The cheapest other group for a lot, with the company that it needs; nothing from ``most`` cells on."""
        groups, old = self.groups, int(self.groups.group[c, place])
        best, found = most, list[Move]()
        for new in np.argsort(groups.cost[c], kind="stable").tolist():
            cost, g = many * int(groups.cost[c, new]), int(groups.group[c, new])
            if cost >= best:
                break
            lacking = groups.k - many - int(self.size[g])
            if g == old:
                continue
            if lacking <= 0:
                best, found = cost, [(c, place, new, many)]
            elif cost + lacking < best:
                extra, company = self._company(g, old, lacking)
                if company and cost + extra < best:
                    best, found = cost + extra, [(c, place, new, many), *company]
        return best, found

    def _company(self, g: int, old: int, lacking: int) -> tuple[int, list[Move]]:
        """Records that other groups can spare for this one, the cheapest first."""
        spare, offers = dict[int, int](), list[tuple[int, Move]]()
        for c, new in self._members(g):
            for place, many in self.at[c].items():
                h = int(self.groups.group[c, place])
                spare.setdefault(h, 0 if h in {g, old} else int(self.size[h]) - self.groups.k)
                if spare[h] > 0:
                    offers.append((int(self.groups.cost[c, new] - self.groups.cost[c, place]), (c, place, new, many)))
        cost, moves = 0, list[Move]()
        for each, (c, place, new, many) in sorted(offers):
            h = int(self.groups.group[c, place])
            take = min(many, spare[h], lacking)
            if take > 0:
                cost, lacking, spare[h] = cost + each * take, lacking - take, spare[h] - take
                moves.append((c, place, new, take))
        return (cost, moves) if lacking == 0 else (0, [])

    def _members(self, g: int) -> list[tuple[int, int]]:
        """Classes that can be in a group, each with a set of attributes that puts it there; of very many some."""
        first, last = np.searchsorted(self.ordered, [g, g + 1])
        entries = self.order[first : min(last, first + MOST_MEMBERS)]
        return list(
            {int(e) // self.groups.group.shape[1]: int(e) % self.groups.group.shape[1] for e in entries}.items()
        )

    def improve(self) -> None:
        """Move while something gets cheaper."""
        for _ in range(ROUNDS):
            dear = [(c, place) for c, lots in enumerate(self.at) for place in lots if self.groups.cost[c, place]]
            moved = [self._back(c, place) for c, place in dear if place in self.at[c]]
            open_ = sorted({int(self.groups.group[c, place]) for c, place in dear if place in self.at[c]})
            moved += [self._closed(g) for g in open_ if self.size[g]]
            if not any(moved):
                return

    def lots(self, there: Flags) -> Lots:
        """What is blanked now; ``there``: cells of each class that are not missing."""
        found = [(c, place, many) for c, lots in enumerate(self.at) for place, many in sorted(lots.items())]
        of, places, count = (np.array(part, dtype=np.int64) for part in zip(*found, strict=True))
        return Lots(of, ((places[:, None] >> np.arange(there.shape[1])) & 1 == 1) & there[of], count)
