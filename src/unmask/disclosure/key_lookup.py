"""Who is looked up by what is known of them in a synthetic table, person by person [SYNTHPOP]_ [CAP]_."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Counts, Flags, Floats
from unmask.disclosure.key_codes import Coded, column_codes, combined, total
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
    common: Floats = field(repr=False)  # of each person: share of all people who have their target
    met: Flags = field(repr=False)  # of each row: somebody of the original has its keys

    @property
    def shares(self) -> dict[str, float]:
        """All figures by the names that the field gives them."""
        told = {"UiO": self.unique, "UiOiS": self.unique & self.present, "repU": self.replicated, "iS": self.present}
        if self.target is not None:
            told |= {"DiS": self.disclosed, "DiSCO": self.correct, "DiSDiO": self.in_both, "Dorig": self.certain}
        found = {name: float(flags.mean()) for name, flags in told.items()} | {"UiS": float(self.row_unique.mean())}
        if self.target is not None:
            known = self.cap[~np.isnan(self.cap)]
            found["Dsyn"] = float((self.weap == 1).mean())
            found["DCAP"] = total(known) / self.cap.size  # who is not there counts as not found
            found["DCAP of those present"] = total(known) / known.size if known.size else float("nan")
            found["CAP of the original"] = total(self.own_cap) / self.own_cap.size
            found["CAP of the target alone"] = total(self.common) / self.common.size
            found["WEAP"] = total(self.weap) / self.weap.size
            found["TCAP"] = float(self.correct.sum() / self.disclosed.sum()) if self.disclosed.any() else float("nan")
        return found

    def synthpop(self, digits: int = 2) -> dict[str, float]:
        """The figures in percent under the names that synthpop's `disclosure()` prints, without its exclusions.

        DCAPs, TCAPs divide what was found of people by the rows of the release; DCAPb, TCAPb by its rows whose keys
        somebody has.
        """
        told = self.shares
        found = {name: told[name] for name in ("UiO", "UiS", "UiOiS", "repU")}
        if self.target is not None:
            found |= {name: told[name] for name in ("Dorig", "Dsyn", "iS", "DiS", "DiSCO")}
            found |= {"DCAPd": told["DCAP"], "DiSDiO": told["DiSDiO"], "baseCAPd": told["CAP of the target alone"]}
            found |= {"CAPd": told["CAP of the original"], "CAPs": told["WEAP"]}
            right, sure = total(np.nan_to_num(self.cap)), float(self.correct.sum())
            rows, both = self.met.size, int(self.met.sum())
            for name, number in (("DCAP", right), ("TCAP", sure)):
                found[f"{name}b"] = number / both if both else float("nan")
                found[f"{name}s"] = number / rows
            found["TCAP"] = told["TCAP"]
        return {name: round(100 * value, digits) for name, value in found.items()}


class Counted(NamedTuple):
    """Numbers of keys, and of keys with the target (of the keys again where there is none), and how often each is."""

    key: Coded
    cell: Coded
    here: Counts  # people with each key
    there: Counts  # rows
    people: Counts  # people of each cell
    made: Counts  # rows


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
    named = (keys,) if isinstance(keys, str) else tuple(keys)
    check_keys(original, synthetic, named, target)
    codes = {name: column_codes(original[name], synthetic[name]) for name in (*named, *([target] if target else []))}
    return looked_up(codes, named, target)[0]


def check_keys(original: pl.DataFrame, synthetic: pl.DataFrame, keys: tuple[str, ...], target: str | None) -> None:
    """Refuse what cannot be looked up."""
    if not keys:
        raise ParameterError("no keys are named", hint="name the columns that an intruder knows")
    for name in (*keys, *([] if target is None else [target])):
        for table in (original, synthetic):
            check_name(name, table.columns, f"column {name!r} is not in both tables", RoleError)
    if target in keys:
        raise RoleError(f"{target!r} is a key and the target", hint="what is known cannot be learnt")
    if not original.height or not synthetic.height:
        raise ParameterError("a table has no rows", hint="both need some")


def looked_up(codes: dict[str, Coded], keys: tuple[str, ...], target: str | None) -> tuple[KeyDisclosure, Counted]:
    """Look everybody up by codes of columns; and what was counted for it."""
    key = combined([codes[name] for name in keys])
    mine, rows = key.mine, key.rows
    here, there = (np.bincount(side, minlength=key.size) for side in (mine, rows))
    found = there[mine]
    unique, present = here[mine] == 1, found > 0
    known = unique, unique & (found == 1), present
    alone, met = there[rows] == 1, here[rows] > 0
    if target is None:
        none, no_cap = np.zeros(mine.size, dtype=bool), np.full(mine.size, np.nan)
        empty = (none, none, none, no_cap, none, no_cap, alone, np.full(rows.size, np.nan), no_cap, met)
        return KeyDisclosure(keys, target, *known, *empty), Counted(key, key, here, there, here, there)
    cell = combined([key, codes[target]])
    people, made = (np.bincount(side, minlength=cell.size) for side in (cell.mine, cell.rows))
    weap, own = made[cell.rows] / there[rows], people[cell.mine] / here[mine]
    sure = np.zeros(key.size, dtype=bool)
    sure[rows[weap == 1]] = True
    alike, disclosed = made[cell.mine], sure[mine]
    correct, certain = disclosed & (alike > 0), own == 1
    cap = np.where(present, alike / np.maximum(found, 1), np.nan)
    wanted = codes[target].mine
    common = (np.bincount(wanted) / mine.size)[wanted]
    learnt = KeyDisclosure(
        keys, target, *known, disclosed, correct, correct & certain, cap, certain, own, alone, weap, common, met
    )
    return learnt, Counted(key, cell, here, there, people, made)
