"""How closely a cell follows from all that is published: its least and its largest possible value.

Whatever stands behind the tables, it is 0 or more in every inner cell (a whole number of people where counts are
published) and adds up to what is published. The least and the largest value of a cell over all such fillings are found
by linear or integer programming with HiGHS [SDC]_ section 4.2; every filling found on the way is kept, since a cell
whose largest value was already seen, and that no published cell leaves more room, needs no program of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, sparse

from unmask.arrays import Flags, Floats
from unmask.errors import EngineError, TableError
from unmask.evidence import Progress, silent
from unmask.tabular.cells import Cells

SECONDS = 5.0  # for one integer program; then its own bound is taken, which may be wider
SLACK = 1e-6  # relative, of the solver


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and largest value of each cell asked for; ``proven``: whether both ends are reached by some filling."""

    low: Floats
    high: Floats
    proven: Flags


class Fillings:
    """All ways to fill the inner cells of some published tables."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        empty = np.asarray(cells.covers[cells.high == 0].sum(axis=0)).ravel() > 0
        self.open = np.flatnonzero(~empty)  # inner cells that may hold something
        told = np.isfinite(cells.high) & (cells.high > 0) | (cells.low > 0)
        self.covers = sparse.csr_matrix(cells.covers[told][:, self.open])
        self.low, self.high = cells.low[told], cells.high[told]
        self.bounded = np.asarray(self.covers[np.isfinite(self.high)].sum(axis=0)).ravel() > 0  # some cell caps it
        self.seen: list[Floats] = []
        self._example()

    def _example(self) -> None:
        """Find one filling, or say which cells contradict the others."""
        if not self.open.size:
            if bool((self.low > 0).any()):
                raise TableError(f"the tables contradict each other: {self._contradiction()}")
            self.seen.append(np.zeros(0))
            return
        found = self._solve(np.zeros(self.open.size))
        if found is None:
            raise TableError(
                f"the tables contradict each other: {self._contradiction()}",
                hint="are they of the same people, rounded (--rounding), or are cells that are not listed withheld "
                "(--unlisted withheld)?",
            )

    def _solve(self, goal: Floats) -> float | None:
        """Least value of a goal; None: there is no filling. The filling is kept."""
        constraint = optimize.LinearConstraint(self.covers, self.low, self.high)
        found = optimize.milp(
            goal, constraints=constraint, bounds=optimize.Bounds(0, np.inf),
            integrality=np.full(goal.size, int(self.cells.whole)), options={"time_limit": SECONDS},
        )  # fmt: skip
        if found.status == 2:
            return None
        if found.x is not None:
            self.seen.append(np.rint(found.x) if self.cells.whole else np.maximum(0.0, found.x))
        if found.status == 0:
            return float(found.fun)
        if getattr(found, "mip_dual_bound", None) is None:
            raise EngineError("the solver gave no bound", hint=str(found.message))
        return float(found.mip_dual_bound)

    def _contradiction(self) -> str:
        """Name the cells that must change for the rest to fit: the least total change finds them."""
        cells = self.cells
        told = np.flatnonzero(np.isfinite(cells.high) | (cells.low > 0))
        n, m = cells.covers.shape[1], told.size
        matrix = sparse.hstack([cells.covers[told], sparse.identity(m), -sparse.identity(m)], format="csr")
        most = np.concatenate([cells.high[told], -cells.low[told]])
        kept = np.isfinite(most)
        found = optimize.linprog(
            np.concatenate([np.zeros(n), np.ones(2 * m)]),
            A_ub=sparse.vstack([matrix, -matrix]).tocsr()[kept],
            b_ub=most[kept],
        )
        if found.x is None:
            return "which cells could not be found out"
        change = found.x[n : n + m] + found.x[n + m :]
        named = [_place(cells, i) for i in told[change > SLACK * max(1.0, float(change.max()))][:5]]
        return "; ".join(named) + (" ..." if int((change > SLACK).sum()) > 5 else "")

    def bound(self, asked: sparse.csr_matrix, progress: Progress = silent) -> Bounds:
        """Least and largest value of each cell asked for (rows of 0 and 1 over the inner cells)."""
        wanted = sparse.csr_matrix(asked[:, self.open])
        floor, ceiling = self._outer(asked)
        low, high = np.full(wanted.shape[0], np.nan), np.full(wanted.shape[0], np.nan)
        proven = np.ones(wanted.shape[0], dtype=bool)
        reached_low, reached_high, used = np.full(low.size, np.inf), np.full(low.size, -np.inf), 0
        for i in range(wanted.shape[0]):
            if used < len(self.seen):
                values = np.column_stack([wanted @ one for one in self.seen[used:]])
                reached_low, reached_high = (
                    np.minimum(reached_low, values.min(axis=1)), np.maximum(reached_high, values.max(axis=1)),
                )  # fmt: skip
                used = len(self.seen)
            low[i], sure_low = self._end(wanted, i, floor[i], reached_low[i], 1.0)
            high[i], sure_high = self._end(wanted, i, ceiling[i], reached_high[i], -1.0)
            proven[i] = sure_low and sure_high
            if i % 20 == 0:
                progress(i / wanted.shape[0], "bounds of the cells")
        return Bounds(low, high, proven)

    def _end(self, wanted: sparse.csr_matrix, i: int, outer: float, reached: float, sign: float) -> tuple[float, bool]:
        """One end of one cell: what was reached if there is no room beyond it, else by a program."""
        if sign * (reached - outer) <= SLACK * max(1.0, abs(reached)):
            return float(reached), True
        goal = sign * np.asarray(wanted[[i]].todense()).ravel()
        if sign < 0 and bool((goal[~self.bounded] != 0).any()):
            return np.inf, True
        before = len(self.seen)
        value = self._solve(goal)
        if value is None:
            raise EngineError("the solver lost the filling that it had found")
        end = sign * value
        if self.cells.whole:
            end = float(np.ceil(end - 1e-6) if sign > 0 else np.floor(end + 1e-6))
        attained = len(self.seen) > before and abs(float(goal @ self.seen[-1]) * sign - end) <= SLACK * max(
            1.0, abs(end)
        )
        return end, attained

    def _outer(self, asked: sparse.csr_matrix) -> tuple[Floats, Floats]:
        """Ends that follow from one published cell: at least those inside it, at most those around it."""
        cells = self.cells
        shared = sparse.coo_matrix(asked @ cells.covers.T)
        size_asked = np.asarray(asked.sum(axis=1)).ravel()
        size_cell = np.asarray(cells.covers.sum(axis=1)).ravel()
        low, high = np.zeros(asked.shape[0]), np.full(asked.shape[0], np.inf)
        around = shared.data == size_asked[shared.row]
        np.minimum.at(high, shared.row[around], cells.high[shared.col[around]])
        inside = shared.data == size_cell[shared.col]
        np.maximum.at(low, shared.row[inside], cells.low[shared.col[inside]])
        return low, high


def _place(cells: Cells, i: int) -> str:
    row = f"row {cells.row[i]}" if cells.row[i] else "a cell that is not listed"
    return f"table {cells.table[i] + 1}, {row}"
