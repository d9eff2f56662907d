"""The fewest cells there are, by integer programming (HiGHS): for small tables, with a proof.

x[c, g] records of class c are published as group g, and y[g] says whether g is used: x[c, g] <= n_c y[g], the records
of g are at least k y[g], every record is somewhere, and the cells that go are the fewest possible. Of groups with the
same classes only the one that shows most is looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Flags
from unmask.masking.cells.moving import Groups, Lots

Places = NDArray[np.int64]
MOST_CHOICES = 8_000  # classes times groups for which it is tried
NODES = 500  # of the search tree; a limit in seconds would give other answers on other machines


def fewest(groups: Groups, there: Flags) -> tuple[Lots | None, int]:
    """Lots with the fewest blanked cells (None where none was found), and how many cells any suppression blanks.

    The bound is 0 where the table is too large to be tried.
    """
    if groups.group.size > 100 * MOST_CHOICES:
        return None, 0
    of, place, group = _choices(groups)
    if not of.size or of.size > MOST_CHOICES:
        return None, 0
    found = _solved(groups, of, place, group)
    bound = 0 if found.mip_dual_bound is None else int(np.ceil(found.mip_dual_bound - 1e-6))
    if found.x is None:
        return None, max(bound, 0)
    many = np.rint(found.x[: of.size]).astype(np.int64)
    used = many > 0
    m = there.shape[1]
    blank = ((place[used, None] >> np.arange(m)) & 1 == 1) & there[of[used]]
    return Lots(of[used], blank, many[used]), max(bound, 0)


def _choices(groups: Groups) -> tuple[Places, ...]:
    """Class, set of attributes and group of each choice that can be worth it."""
    n, sets = groups.group.shape
    entries = np.stack([groups.group.ravel(), np.repeat(np.arange(n), sets), groups.cost.ravel()])
    order: Places = np.asarray(np.lexsort(entries[::-1]))
    first = np.ones(order.size, dtype=bool)
    first[1:] = (np.diff(entries[:2, order], axis=1) != 0).any(axis=0)
    order = order[first]  # for each class in a group, the set that costs least
    group, of = entries[0, order], entries[1, order]
    large = np.asarray(np.bincount(group, groups.count[of]) >= groups.k)
    marks: Places = np.random.default_rng(0).integers(1, 2**40, size=(n,))
    same = np.zeros(large.size, np.int64)
    np.add.at(same, group, marks[of])  # groups with the same classes have the same sum
    spent = np.bincount(group, entries[2, order])
    ranked: Places = np.asarray(np.lexsort((spent, same)))
    shown = np.zeros(large.size, dtype=bool)
    shown[ranked[np.r_[True, np.diff(same[ranked]) != 0]]] = True
    kept = (large & shown)[group]
    return of[kept], order[kept] % sets, np.unique(group[kept], return_inverse=True)[1]


def _solved(groups: Groups, of: Places, place: Places, group: Places) -> Any:  # noqa: ANN401 - SciPy's result
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - heavy
    from scipy.sparse import coo_array  # noqa: PLC0415

    choices, n, open_ = of.size, len(groups.count), int(group.max()) + 1
    at, ones = np.arange(choices), np.ones(choices)
    everybody = coo_array((ones, (of, at)), shape=(n, choices + open_))
    enough = coo_array(
        (
            np.r_[ones, np.full(open_, -float(groups.k))],
            (np.r_[group, np.arange(open_)], np.r_[at, choices + np.arange(open_)]),
        ),
        shape=(open_, choices + open_),
    )
    most = groups.count[of].astype(np.float64)
    used = coo_array(
        (np.r_[ones, -most], (np.r_[at, at], np.r_[at, choices + group])), shape=(choices, choices + open_)
    )
    return milp(
        np.r_[groups.cost[of, place].astype(np.float64), np.zeros(open_)],
        integrality=np.ones(choices + open_),
        bounds=Bounds(0, np.r_[most, np.ones(open_)]),
        constraints=[
            LinearConstraint(everybody, groups.count, groups.count),
            LinearConstraint(enough, 0, np.inf),
            LinearConstraint(used, -np.inf, 0),
        ],
        options={"node_limit": NODES, "mip_rel_gap": 0.0},
    )
