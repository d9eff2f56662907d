"""`unmask utility`: what is left of the data, and whether the user's own analyses still come out."""

from __future__ import annotations

from math import isnan
from typing import Any

import polars as pl

from unmask.cli.making_options import Utility
from unmask.cli.screen import console, say
from unmask.cli.targets import check_files, write_atomically
from unmask.errors import RoleError
from unmask.inert import json_text
from unmask.schemas import FORMS, KEY
from unmask.shares import percent
from unmask.tables import read_table
from unmask.utility import Kept, compare_analyses, compare_marginals, compare_moments, propensity_score

MOST_SHOWN = 20  # numbers of one analysis on the screen; the JSON has all


def run(options: Utility) -> int:
    """Compare the two tables, show and write."""
    check_files(options)
    left = read_table(options.original, name="original", **options.reading)
    right = read_table(options.released, name="release", role="released", **options.reading)
    kept = compare_analyses(left, right, options.keep)
    analyses = [_plain(one) for one in kept]
    figures = {KEY: FORMS["utility"].name(), **_figures(left, right, options.seed), "analyses": analyses}
    if options.output is not None:
        text = json_text(figures) + "\n"
        if options.output == "-":
            say(text.rstrip())
            return 0
        write_atomically(options.output, text)
    _show(figures, kept)
    return 0


def _figures(left: pl.DataFrame, right: pl.DataFrame, seed: int) -> dict[str, Any]:
    """Columns, relations and how well both tables are told apart; None where a view has nothing to look at."""
    marginals = compare_marginals(left, right)
    figures: dict[str, Any] = {
        "columns": {name: float(1 - gap) for name, gap in zip(marginals.names, marginals.hellinger, strict=True)},
        "told_apart": propensity_score(left, right, seed=seed).auc,
        "correlations_moved": None,
    }
    try:
        moments = compare_moments(left, right)
    except RoleError:
        return figures
    return figures | {"correlations_moved": moments.correlation_norm, "il1s": moments.il1s}


def _plain(kept: Kept) -> dict[str, Any]:
    rows = zip(kept.labels, kept.original, kept.released, kept.overlaps, strict=True)
    return {
        "analysis": kept.analysis.text,
        "overlap": kept.overlap,
        "reason": kept.reason or None,
        "numbers": [
            {
                "label": label,
                "original": float(one),
                "released": None if isnan(two) else float(two),
                "overlap": float(o),
            }
            for label, one, two, o in rows
        ],
    }


def _show(figures: dict[str, Any], kept: tuple[Kept, ...]) -> None:
    worst = sorted(figures["columns"].items(), key=lambda entry: entry[1])
    say("How much of each column's distribution is left (1: all of it):")
    for name, left in worst:
        say(f"  {name}: {left:.2f}")
    if figures["correlations_moved"] is not None:
        say(f"Correlations of the numbers moved by {figures['correlations_moved']:.2f} in all (Frobenius norm).")
    say(f"A classifier tells the two tables apart with AUC {figures['told_apart']:.2f} (0.5: not at all, 1: always).")
    for one in kept:
        say("")
        say(one.words)
        if not one.reason:
            console().print(_table(one))


def _table(kept: Kept) -> Any:  # noqa: ANN401 - rich's table
    from rich.table import Table  # noqa: PLC0415 - slow to import

    table = Table(box=None, pad_edge=False)
    for heading in ("", "original", "95 % interval", "release", "overlap"):
        table.add_column(heading, justify="left" if not heading else "right")
    rows = list(zip(kept.labels, kept.original, kept.original_interval, kept.released, kept.overlaps, strict=True))
    for label, one, (low, high), two, overlap in rows[:MOST_SHOWN]:
        table.add_row(label, _short(one), f"{_short(low)} to {_short(high)}", _short(two), f"{percent(overlap)}")
    if len(rows) > MOST_SHOWN:
        table.add_row(f"and {len(rows) - MOST_SHOWN} more: see the JSON", "", "", "", "")
    return table


def _short(value: float) -> str:
    """A number as people write it: four digits, thousands in full, a dash where there is none."""
    if isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
