"""Linkage on files: read, link, count, write; what `unmask link` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unmask.cli.options import read_kinds, read_numbers
from unmask.errors import ParameterError, did_you_mean
from unmask.linkage.nearest import DIFFERENT_PEOPLE, link_nearest, true_ranks
from unmask.linkage.one_to_one import link_globally, union_of
from unmask.report.document import write_records
from unmask.report.words import percent
from unmask.report.write import check_writable
from unmask.tables.release import Release

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from unmask.evidence.estimate import Estimate
    from unmask.linkage.result import Linkage

    Tell = Callable[[str, float, str], None]

ATTACKS = ("nearest", "global")


def link_files(options: dict[str, Any], tell: Tell | None = None) -> str:
    """Attack by the options of the command line; write one row per person where asked; say what was found."""
    attacks = _attacks(options["attack"])
    if options["output"]:
        _check_output(options)
    release = _release(options)
    weights = read_numbers(options["weights"], "--weights", "age=2,income=0.5")
    how = {name: options[name] for name in ("metric", "scale", "ranks")} | {"weights": weights}
    found = {name: _link(name, release, options, how, tell) for name in attacks}
    columns: dict[str, NDArray[Any]] = {"row": np.arange(1, release.original.height + 1)}
    lines: list[str] = []
    for name, linkage in found.items():
        columns |= _columns(name, linkage, release.original.height)
        lines += _words(name, linkage, options["precision"])
        if name == "nearest":
            columns["rank of the true record"] = _ranks(release, options, how)
            lines.append(_tell_ranks(columns["rank of the true record"], options["cap"]))
    if len(found) == 2:
        columns["either"] = np.maximum(columns["nearest"], columns["global"])
        if options["sample"] is None:
            lines.append(f"Either: {_rate(union_of(found['global'], found['nearest'], release))}.")
    standardised = options["scale"] == "own" and options["metric"] in {"euclidean", "manhattan", "chebyshev"}
    if standardised and release.original.height != release.released.height:
        lines.append(f"Note: {DIFFERENT_PEOPLE}.")
    if options["output"]:
        write_records(_whole(pl.DataFrame(columns, nan_to_null=True)), options["output"])
        lines.append(f"Written to {options['output']}: risks, distances and row numbers from 1, no values.")
    return "\n".join(lines)


def _whole(table: pl.DataFrame) -> pl.DataFrame:
    """Rows, counts and ranks are whole numbers."""
    names = [name for name in table.columns if name.endswith((" link", " equally good")) or name.startswith("rank")]
    return table.with_columns(pl.col(names).cast(pl.Int64))


def _release(options: dict[str, Any]) -> Release:
    return Release(
        options["original"],
        options["released"],
        id=options["id"],
        quasi=options["quasi"] or None,
        ignored=options["ignore"],
        kinds=read_kinds(options["kind"]),
    )


def _attacks(given: tuple[str, ...]) -> tuple[str, ...]:
    for name in given:
        if name not in ATTACKS:
            raise ParameterError(f"no linkage {name!r}", allowed=", ".join(ATTACKS), hint=did_you_mean(name, ATTACKS))
    return tuple(name for name in ATTACKS if not given or name in given)


def _check_output(options: dict[str, Any]) -> None:
    path = Path(options["output"])
    if path.resolve() in {Path(options[name]).resolve() for name in ("original", "released")}:
        raise ParameterError("the output is also an input", hint="write the result to another file")
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise ParameterError(f"cannot write {path.name}", allowed=".csv or .parquet")
    check_writable(path)


def _link(name: str, release: Release, options: dict[str, Any], how: dict[str, Any], tell: Tell | None) -> Linkage:
    def progress(done: float, text: str) -> None:
        if tell:
            tell(name, done, text)

    common = {"seed": options["seed"], "progress": progress, **how}
    if name == "nearest":
        return link_nearest(release, direction=options["direction"], sample=options["sample"], **common)
    limits = {key: options[key] for key in ("squared", "max_gap", "time_budget")}
    return link_globally(release, **limits, **common)


def _ranks(release: Release, options: dict[str, Any], how: dict[str, Any]) -> NDArray[np.float64]:
    """Records closer than the true one, by person; NaN without a true one or when not asked for."""
    asked = {name: options[name] for name in ("cap", "direction", "sample", "seed")}
    ranks = true_ranks(release, **asked, **how)
    return _by_person(ranks.astype(np.float64), ranks >= 0, release.truth, options["direction"])


def _by_person(
    values: NDArray[Any], there: NDArray[np.bool_], truth: NDArray[np.int64], direction: str
) -> NDArray[np.float64]:
    """One entry per original record, whichever file asked; NaN where nothing was asked."""
    asked = np.where(there, values, np.nan)
    if direction == "to_release":
        return asked
    return np.where(truth >= 0, asked[np.maximum(truth, 0)], np.nan)


def _columns(name: str, linkage: Linkage, n: int) -> dict[str, NDArray[Any]]:
    """Risk, linked row, distance, margin and number of equally good records of every person."""
    truth = linkage.truth
    if linkage.direction == "to_original":  # the row of the release that is his
        truth = np.full(n, -1, dtype=np.int64)
        truth[linkage.truth[linkage.truth >= 0]] = np.flatnonzero(linkage.truth >= 0)
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
        f"{'Nearest record' if name == 'nearest' else 'One to one'}: {_rate(linkage.estimate)}.",
        f"  Claims that are right {percent(precision)} of the time: {known.hits:,.0f} people, {percent(known.value)}.",
    ]
    if name == "global":
        proof = "proven to be the least" if linkage.optimal else f"proven to be within {linkage.gap:.2g} of the least"
        return [*lines, f"  Total distance {linkage.total_distance:.6g}, {proof}."]
    ties = linkage.tie_sizes[linkage.attempted]
    return [*lines, f"  Records that are equally near: {np.median(ties):g} in the middle, {ties.max():,} at most."]


def _tell_ranks(ranks: NDArray[np.float64], cap: int) -> str:
    known = ranks[~np.isnan(ranks)]
    share = percent(float((known < cap).mean()))
    return f"  Fewer than {cap} records are closer than the true one for {share} of the people."
