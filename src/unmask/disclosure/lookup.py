"""Look people up in a synthetic table by what is known of them, the keys: the figures that the field has names for.

Definitions and names after synthpop [SYNTHPOP]_ and the correct attribution probability [CAP]_; all shares are of the
people of the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Ints
from unmask.errors import ParameterError, RoleError, check_name
from unmask.shown import Shown


@dataclass(frozen=True, slots=True)
class KeyDisclosure(Shown):
    """What each person's keys find. Arrays have a place for each person of the original; shares are derived.

    ``cap``: share of the synthetic rows with the person's keys that have the person's target; NaN where there are none.
    """

    keys: tuple[str, ...]
    target: str | None
    unique: Flags = field(repr=False)  # alone with the keys in the original
    replicated: Flags = field(repr=False)  # and the keys stand once in the release
    present: Flags = field(repr=False)  # the keys stand in the release
    disclosed: Flags = field(repr=False)  # and all rows with them have one target
    correct: Flags = field(repr=False)  # which is the person's
    in_both: Flags = field(repr=False)  # and all people with these keys have it
    cap: Floats = field(repr=False)
    certain: Flags = field(repr=False)  # all people with these keys have one target: disclosive in the original itself
    own_cap: Floats = field(repr=False)  # share of the people with these keys who have the person's target
    row_unique: Flags = field(repr=False)  # of each row of the release: alone with its keys there
    weap: Floats = field(repr=False)  # of each row: share of the rows with its keys that have its target

    @property
    def shares(self) -> dict[str, float]:
        """All figures by the names that the field gives them."""
        told = {"UiO": self.unique, "UiOiS": self.unique & self.present, "repU": self.replicated, "iS": self.present}
        if self.target is not None:
            told |= {"DiS": self.disclosed, "DiSCO": self.correct, "DiSDiO": self.in_both, "Dorig": self.certain}
        found = {name: float(flags.mean()) for name, flags in told.items()} | {"UiS": float(self.row_unique.mean())}
        if self.target is not None:
            known = self.cap[~np.isnan(self.cap)]
            found["DCAP"] = float(np.nan_to_num(self.cap).mean())  # who is not there counts as not found
            found["DCAP of those present"] = float(known.mean()) if known.size else float("nan")
            found["CAP of the original"] = float(self.own_cap.mean())
            found["WEAP"] = float(self.weap.mean())
            found["TCAP"] = float(self.correct.sum() / self.disclosed.sum()) if self.disclosed.any() else float("nan")
        return found


def key_disclosure(
    original: pl.DataFrame, synthetic: pl.DataFrame, *, keys: Iterable[str], target: str | None = None
) -> KeyDisclosure:
    """Look every person of the original up in a synthetic table by their keys; values are compared as they are.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"town": ["a", "a", "b"], "ill": ["yes", "no", "yes"]})
    >>> unmask.key_disclosure(people, people, keys=["town"], target="ill").shares["DiSCO"] == 1 / 3
    True

    """
    named = tuple(keys)
    _check(original, synthetic, named, target)
    mine, rows = codes_of(original, synthetic, named)
    wanted = None if target is None else codes_of(original, synthetic, (target,))
    return looked_up(mine, rows, wanted, named, target)


def _check(original: pl.DataFrame, synthetic: pl.DataFrame, keys: tuple[str, ...], target: str | None) -> None:
    if not keys:
        raise ParameterError("no keys are named", hint="name the columns that an intruder knows")
    for name in (*keys, *([] if target is None else [target])):
        for table in (original, synthetic):
            check_name(name, table.columns, f"column {name!r} is not in both tables", RoleError)
    if target in keys:
        raise RoleError(f"{target!r} is a key and the target", hint="what is known cannot be learnt")
    if not original.height or not synthetic.height:
        raise ParameterError("a table has no rows", hint="both need some")


def codes_of(original: pl.DataFrame, synthetic: pl.DataFrame, columns: tuple[str, ...]) -> tuple[Ints, Ints]:
    """One number for each combination of values, the same in both tables; missing is a value of its own."""
    code = np.zeros(original.height + synthetic.height, dtype=np.int64)
    for name in columns:
        both = pl.concat(_as_text(original[name], synthetic[name]))
        level = both.rank("dense").fill_null(0).to_numpy().astype(np.int64)
        code = np.unique(code * (level.max() + 1) + level, return_inverse=True)[1].ravel()
    return code[: original.height], code[original.height :]


def _as_text(x: pl.Series, y: pl.Series) -> list[pl.Series]:
    """Both as text, numbers alike whether whole or not."""
    kinds = [pl.Float64, pl.String] if x.dtype.is_numeric() and y.dtype.is_numeric() else [pl.String]
    for kind in kinds:
        x, y = x.cast(kind), y.cast(kind)
    return [x, y]


def looked_up(
    mine: Ints,
    rows: Ints,
    targets: tuple[Ints, Ints] | None,
    keys: tuple[str, ...] = (),
    target: str | None = None,
) -> KeyDisclosure:
    """Look people up among rows, both by one number for their keys, and one for their target if there is any."""
    size = int(max(mine.max(), rows.max())) + 1
    here, there = np.bincount(mine, minlength=size), np.bincount(rows, minlength=size)
    unique, present = here[mine] == 1, there[mine] > 0
    replicated, alone = unique & (there[mine] == 1), there[rows] == 1
    if targets is None:
        none, no_cap = np.zeros(mine.size, dtype=bool), np.full(mine.size, np.nan)
        empty = (none, none, none, no_cap, none, no_cap, alone, np.full(rows.size, np.nan))
        return KeyDisclosure(keys, target, unique, replicated, present, *empty)
    my_target, row_target = targets
    width = int(max(my_target.max(), row_target.max())) + 1
    cells, at, counts = np.unique(rows * width + row_target, return_inverse=True, return_counts=True)
    weap = counts[at] / there[rows]
    one_target = np.bincount(cells // width, minlength=size) == 1
    wanted = mine * width + my_target
    place = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
    alike = np.where(cells[place] == wanted, counts[place], 0)
    disclosed = present & one_target[mine]
    correct = disclosed & (alike > 0)
    pairs, pair, people = np.unique(wanted, return_inverse=True, return_counts=True)
    certain = (np.bincount(pairs // width, minlength=size) == 1)[mine]
    cap = np.where(present, alike / np.maximum(there[mine], 1), np.nan)
    known = (unique, replicated, present, disclosed, correct, correct & certain, cap, certain)
    return KeyDisclosure(keys, target, *known, people[pair] / here[mine], alone, weap)
