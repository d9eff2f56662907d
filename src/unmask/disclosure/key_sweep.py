"""Many sets of keys at once: every figure of each beside what the original, other people and models would tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import polars as pl

from unmask.disclosure.key_baselines import Beyond, Pairs, beyond_fresh, independent, modelled, tally
from unmask.disclosure.key_codes import Coded, column_codes
from unmask.disclosure.key_lookup import KeyDisclosure, check_keys, looked_up
from unmask.errors import ParameterError
from unmask.evidence import Progress, silent
from unmask.shown import Shown


@dataclass(frozen=True, slots=True)
class KeyFigures(Shown):
    """What one set of keys tells, by the names of the field.

    ``shares``: by the release, and what the original itself tells (UiO, Dorig, CAP of the original). ``independent``:
    expected by rows whose columns are drawn by themselves. ``modelled``: by rows of a model that was learnt without
    the person. ``beyond``: by half of the release and by other people, and what the one has beyond the other.
    """

    keys: tuple[str, ...]
    target: str | None
    shares: dict[str, float] = field(repr=False)
    independent: dict[str, float] = field(repr=False)
    modelled: dict[str, float] = field(repr=False)
    beyond: dict[str, Beyond] = field(repr=False)

    @property
    def told(self) -> float:
        """By what sets of keys are put in order: replicated uniques, and targets that are told rightly."""
        return self.shares["repU"] + self.shares.get("DiSCO", 0.0)


@dataclass(frozen=True, slots=True)
class KeySweep(Shown):
    """Sets of keys with their figures, in the order in which they were named."""

    sets: tuple[KeyFigures, ...] = field(repr=False)

    @property
    def worst(self) -> KeyFigures:
        """The set that tells most of the people; of equals the one with fewer keys."""
        return max(self.sets, key=lambda one: (one.told, -len(one.keys), one.keys, one.target or ""))

    def to_frame(self) -> pl.DataFrame:
        """A row for each set, target and figure: by the release, by independent columns, by the model, by others."""
        return pl.DataFrame(
            [row for one in self.sets for row in _rows(one)],
            schema={
                "keys": pl.String, "target": pl.String, "figure": pl.String, "release": pl.Float64,
                "independent": pl.Float64, "model": pl.Float64, "half": pl.Float64, "others": pl.Float64,
                "excess": pl.Float64, "low": pl.Float64, "high": pl.Float64,
            },
            orient="row",
        )  # fmt: skip


def _rows(one: KeyFigures) -> Iterator[tuple[object, ...]]:
    for name, share in one.shares.items():
        beyond = one.beyond.get({"repU": "replicated", "DiSCO": "correct"}.get(name, ""))
        more = (None,) * 5
        if beyond is not None:
            e = beyond.excess
            more = (beyond.released, beyond.fresh, e.value, e.low, e.high)  # type: ignore[assignment]
        yield ", ".join(one.keys), one.target, name, share, one.independent.get(name), one.modelled.get(name), *more


def key_sweep(
    original: pl.DataFrame,
    synthetic: pl.DataFrame,
    *,
    key_sets: Iterable[Iterable[str]],
    targets: Iterable[str] = (),
    progress: Progress = silent,
) -> KeySweep:
    """Look every person up by several sets of keys, and hold what is found against what others would tell.

    Parameters
    ----------
    original, synthetic
        The tables; values are compared as they are.
    key_sets
        The columns that an intruder may know, set by set.
    targets
        The columns that they want to learn; each with each set that does not hold it. None: identities only.
    progress
        Called with the fraction done and a word.

    Examples
    --------
    >>> import unmask
    >>> people, others = unmask.datasets.patients(200, seed=1), unmask.datasets.patients(200, seed=2)
    >>> sets = [["sex", "town"], ["sex", "birth date"]]
    >>> unmask.key_sweep(people, others, key_sets=sets, targets=["diagnosis"]).worst.keys
    ('sex', 'town')

    """
    sets = [(keys,) if isinstance(keys, str) else tuple(keys) for keys in key_sets]
    wanted = (targets,) if isinstance(targets, str) else tuple(targets)
    if not sets:
        raise ParameterError("no keys are named", hint="name sets of columns that an intruder may know")
    work = [(keys, target) for keys in sets for target in (wanted or (None,)) if target not in keys]
    if not work:
        raise ParameterError("each target is a key of every set", hint="what is known cannot be learnt")
    for keys, target in work:
        check_keys(original, synthetic, keys, target)
    names = dict.fromkeys(name for keys, target in work for name in (*keys, *([target] if target else [])))
    codes = {name: column_codes(original[name], synthetic[name]) for name in names}
    pairs, found = Pairs(codes), []
    for number, (keys, target) in enumerate(work):
        found.append(figures_of(codes, pairs, keys, target)[0])
        progress((number + 1) / len(work), "sets of keys")
    return KeySweep(tuple(found))


def figures_of(
    codes: dict[str, Coded], pairs: Pairs, keys: tuple[str, ...], target: str | None
) -> tuple[KeyFigures, KeyDisclosure]:
    """All figures of one set of keys, and who is found by it."""
    found, counted = looked_up(codes, keys, target)
    wanted = None if target is None else codes[target]
    counts, n_rows = tally(counted), counted.key.rows.size
    alone = independent(counts, [codes[name] for name in keys], wanted, n_rows)
    model = modelled(counts, pairs, keys, target, n_rows)
    beyond = beyond_fresh(counts, n_rows, targets=target is not None)
    return KeyFigures(keys, target, found.shares, alone, model, beyond), found
