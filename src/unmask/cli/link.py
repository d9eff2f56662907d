"""`unmask link`: the linkage attacks by themselves, with every choice that `assess` makes for you."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from unmask.arrays import Flags, Floats, Ints
from unmask.cli.assess import release_of
from unmask.cli.believe import believe
from unmask.cli.options import Link
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files, write_findings
from unmask.errors import ParameterError
from unmask.evidence import Estimate, Progress, guess, meant
from unmask.linkage import DIFFERENT_PEOPLE, Linkage, link_nearest, link_one_to_one, true_ranks, union_of
from unmask.report import percent
from unmask.study import inverse
from unmask.tables import Release, read_table

ATTACKS = {"nearest": "Nearest record", "one_to_one": "One to one"}


def run(options: Link) -> int:
    """Attack by the options; write one row per person where asked; say what was found."""
    attacks = _attacks(options.attack)
    check_files(options)
    if options.unpaired or options.known is not None or options.truth is not None or _differ(options):
        return believe(options)
    if options.chart is not None:
        raise ParameterError("a chart is for files without a common id", hint="leave out --chart, or say --unpaired")
    release = release_of(options)
    with progress_bar() as tell:
        found = {name: _link(name, release, options, _part(tell, name, attacks)) for name in attacks}
    columns: dict[str, NDArray[Any]] = {"row": np.arange(1, release.original.height + 1)}
    lines: list[str] = []
    for name, linkage in found.items():
        columns |= _columns(name, linkage, release.original.height)
        lines += _words(name, linkage, options.precision)
        if name == "nearest":
            columns["rank of the true record"] = _ranks(release, options)
            lines.append(_tell_ranks(columns["rank of the true record"], options.cap))
    if len(found) == 2:
        columns["either"] = np.maximum(columns["nearest"], columns["one_to_one"])
        if options.sample is None:
            lines.append(f"Either: {_rate(union_of(found['one_to_one'], found['nearest'], release))}.")
    standardised = options.scale == "own" and options.metric in {"euclidean", "manhattan", "chebyshev"}
    if standardised and release.original.height != release.released.height:
        lines.append(f"Note: {DIFFERENT_PEOPLE}.")
    if options.output is not None:
        write_findings(_whole(pl.DataFrame(columns, nan_to_null=True)), options.output)
        lines.append(f"Written to {options.output}: risks, distances and row numbers from 1, no values.")
    say("\n".join(lines))
    return 0


def _differ(options: Link) -> bool:
    """Whether nothing says which rows belong together: no id, and files of different lengths."""
    if options.id is not None:
        return False
    given = {"original": options.original, "released": options.released}
    return len({read_table(path, role=role, **options.reading).height for role, path in given.items()}) > 1


def _whole(table: pl.DataFrame) -> pl.DataFrame:
    """Rows, counts and ranks are whole numbers."""
    names = [name for name in table.columns if name.endswith((" link", " equally good")) or name.startswith("rank")]
    return table.with_columns(pl.col(names).cast(pl.Int64))


def _attacks(given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        if meant(name) not in ATTACKS:
            raise ParameterError(f"no linkage {name!r}", allowed=", ".join(ATTACKS), hint=guess(name, ATTACKS))
    wanted = {meant(name) for name in given}
    return tuple(name for name in ATTACKS if not given or name in wanted)


def _part(tell: Progress, name: str, attacks: tuple[str, ...]) -> Progress:
    """Tell the progress of one attack as a part of all."""
    return lambda done, text: tell((attacks.index(name) + done) / len(attacks), f"{ATTACKS[name]}: {text}")


def _how(options: Link) -> dict[str, Any]:
    """What both attacks take."""
    return {name: getattr(options, name) for name in ("metric", "scale", "ranks", "weights", "seed")}


def _asked(options: Link) -> dict[str, Any]:
    """Who asks, and how many; checked where it is used."""
    return {"direction": options.direction, "sample": options.sample}


def _link(name: str, release: Release, options: Link, progress: Progress) -> Linkage:
    how = {**_how(options), "progress": progress}
    if name == "nearest":
        return link_nearest(release, **_asked(options), **how)
    limits = {key: getattr(options, key) for key in ("squared", "max_gap", "time_budget")}
    return link_one_to_one(release, **limits, **how)


def _ranks(release: Release, options: Link) -> Floats:
    """Records closer than the true one, by person; NaN without a true one or when not asked for."""
    ranks = true_ranks(release, cap=options.cap, **_asked(options), **_how(options))
    return _by_person(ranks.astype(np.float64), ranks >= 0, release.truth, options.direction)


def _by_person(values: NDArray[Any], there: Flags, truth: Ints, direction: str) -> Floats:
    """One entry per original record, whichever file asked; NaN where nothing was asked."""
    asked = np.where(there, values, np.nan)
    if direction == "to_release":
        return asked
    return np.where(truth >= 0, asked[np.maximum(truth, 0)], np.nan)


def _columns(name: str, linkage: Linkage, n: int) -> dict[str, NDArray[Any]]:
    """Risk, linked row, distance, margin and number of equally good records of every person."""
    truth = linkage.truth
    if linkage.direction == "to_original":  # the row of the release that is theirs
        truth = inverse(linkage.truth, n)
    parts = {
        " link": (linkage.links + 1, linkage.links >= 0),
        " distance": (linkage.distances, linkage.links >= 0),
        " margin": (linkage.margin, np.isfinite(linkage.margin)),
        " equally good": (linkage.tie_sizes, linkage.tie_sizes > 0),
    }
    spread = {name + word: _by_person(*values, truth, linkage.direction) for word, values in parts.items()}
    return {name: linkage.per_record(n), **spread}


def _rate(estimate: Estimate) -> str:
    low, high = percent(estimate.low), percent(estimate.high)
    found = f"{estimate.hits:,.0f} of {estimate.n:,} people found, {percent(estimate.value)} ({low} to {high})"
    return f"{found}; a blind guess finds {percent(estimate.chance)}"


def _words(name: str, linkage: Linkage, precision: float) -> list[str]:
    known = linkage.known(precision)
    lines = [
        f"{ATTACKS[name]}: {_rate(linkage.estimate)}.",
        f"  Claims that are right {percent(precision)} of the time: {known.hits:,.0f} people, {percent(known.value)}."
        + (f" Of these {linkage.right(precision):,.0f} are right." if known.value > linkage.estimate.value else ""),
    ]
    if name == "one_to_one":
        proof = "proven to be the least" if linkage.optimal else f"proven to be within {linkage.gap:.2g} of the least"
        return [*lines, f"  Total distance {linkage.total_distance:.6g}, {proof}."]
    ties = linkage.tie_sizes[linkage.attempted]
    return [*lines, f"  Records that are equally near: {np.median(ties):g} in the middle, {ties.max():,} at most."]


def _tell_ranks(ranks: Floats, cap: int) -> str:
    known = ranks[~np.isnan(ranks)]
    share = percent(float((known < cap).mean()))
    return f"  Fewer than {cap} records are closer than the true one for {share} of the people."
