"""How each attribute was made when several maskings follow each other, on different columns or on the same one.

Steps without chance that come first are run again on the original. After noise, a step without chance leaves the cell
that the noisy value was in: the likelihood is the chance of that cell. After rank swapping it moves the support.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import polars as pl

from unmask.errors import UnmaskError
from unmask.kernels.likelihood import FACTOR, GAUSSIAN, Makings
from unmask.linkage.transparent.again import ABSENT, flatten, masked_together, run_again
from unmask.linkage.transparent.makings import (
    KNOWN,
    Column,
    assemble,
    column_of,
    make,
    redone,
    unknown,
    window,
)
from unmask.masking import Chain, Masking, Pram, ReverseMapped, categorical, chosen
from unmask.tables import Encoding, Release, centre_and_spread


def peel(release: Release, masking: Masking) -> tuple[Release, Masking]:
    """Run the first steps again as far as chance plays no part; return what the others were applied to, and these."""
    steps = flatten(masking)
    free = 0
    while free < len(steps) - 1 and steps[free].family not in ABSENT and _free(steps[free], release.original):
        free += 1
    if not free:
        return release, masking
    first, rest = Chain(tuple(steps[:free])), Chain(tuple(steps[free:]))
    for names in (masked_together(release), release.original.columns):
        try:
            again = run_again(first, release.original.select(names))
        except (UnmaskError, pl.exceptions.PolarsError):
            continue
        if again is not None:
            original = release.original.with_columns(again.get_columns())
            return release.with_tables(original, release.released, release.truth).with_kinds({}), rest
    return release, masking


def _free(step: Masking, table: pl.DataFrame) -> bool:
    """Whether chance plays no part in a step: asked of a few rows, which suffice to see it."""
    try:
        return run_again(step, table.head(200)) is not None
    except (UnmaskError, pl.exceptions.PolarsError):
        return False


def describe(release: Release, encoding: Encoding, masking: Masking) -> Makings:
    """Say of every attribute that the intruder knows how it was made."""
    columns = {name: column_of(encoding, name) for name in encoding.names}
    touched: dict[str, list[Masking]] = {name: [] for name in columns}
    steps = flatten(masking)
    for number, single in enumerate(steps):
        if single.family not in KNOWN:
            raise unknown(single.family)
        names = [name for name in _names(release, single) if name in columns]
        fresh = [name for name in names if not touched[name] or single.family in ABSENT]
        for name in names:
            if name not in fresh:
                _follow(release, columns[name], touched[name], single)
            if single.family not in ABSENT:
                touched[name].append(single)
        later = {name: _added(release, name, steps[number + 1 :]) for name in fresh}
        make(release, single, [columns[name] for name in fresh], later)
    return assemble(list(columns.values()))


def _names(release: Release, masking: Masking) -> tuple[str, ...]:
    """The columns that a masking touches, by its own rules."""
    inner = masking.masking if isinstance(masking, ReverseMapped) else masking
    if isinstance(inner, Chain):
        raise unknown("a chain inside reverse_map")
    given = getattr(masking, "columns", None) or getattr(inner, "columns", None)
    if given is not None:
        return tuple(given)
    if inner.family in ABSENT:
        return tuple(release.original.columns)
    return categorical(release.original) if isinstance(inner, Pram) else chosen(release.original, None)


def _added(release: Release, name: str, steps: list[Masking]) -> float:
    """Variance that later rounding adds to a column, for noise whose columns are taken together."""
    roundings = [cast("Any", s) for s in steps if s.family == "rounding" and name in _names(release, s)]
    return float(sum(s.base**2 / (6 if s.method == "random" else 12) for s in roundings))


def _follow(release: Release, column: Column, before: list[Masking], step: Masking) -> None:
    """Write into a column that was masked already what a further step made of it."""
    families = [earlier.family for earlier in before]
    given = cast("Any", step)
    cell = step.family in {"rounding", "top_bottom"} and getattr(given, "method", "") != "random"
    if families == ["correlated_noise"] and step.family == "rounding":
        return  # its variance is in that of the noise
    noisy = set(families) <= {"noise", "multiplicative_noise", "rounding", "top_bottom", "microaggregation"}
    if noisy and cell and column.kind in {GAUSSIAN, FACTOR}:
        column.before = _cell(column, given)
    elif noisy and column.kind == GAUSSIAN and column.before is None and step.family in ADDS:
        column.scale = float(np.sqrt(column.scale**2 + ADDS[step.family](column, given)))
    elif families == ["rank_swap"] and cell:
        column.x = redone(release, column, given)
        window(release, column, before[0])
    else:
        raise unknown(f"{' then '.join([*families, step.family])} on one column")


def _cell(column: Column, given: Any) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401 - the masking's parameters
    """What a value can have been before it was rounded or cut."""
    low, high = column.before or (column.y, column.y)
    if given.family == "rounding":
        return low - given.base / 2, high + given.base / 2
    least, most = np.nanmin(column.y, initial=np.inf), np.nanmax(column.y, initial=-np.inf)
    low = np.where(column.y <= least, -np.inf, low) if given.bottom is not None else low
    return low, np.where(column.y >= most, np.inf, high) if given.top is not None else high


def _more_noise(column: Column, given: Any) -> float:  # noqa: ANN401
    return float(given.kappa**2 * (centre_and_spread(column.x)[1] ** 2 + column.scale**2))


def _random_rounding(_column: Column, given: Any) -> float:  # noqa: ANN401
    return float(given.base**2 / 6)


def _lost(column: Column, _given: Any) -> float:  # noqa: ANN401
    """Variance that was lost in groups, to the noisy values."""
    whole = centre_and_spread(column.x)[1] ** 2 + column.scale**2
    return max(0.0, float(whole - centre_and_spread(column.y)[1] ** 2))


ADDS = {"noise": _more_noise, "rounding": _random_rounding, "microaggregation": _lost}
