"""`unmask link`: the linkage attacks by themselves, with every choice that `assess` makes for you."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from unmask.cli.options import listed
from unmask.cli.screen import progress_bars


def link_command(  # noqa: PLR0913 - one parameter per option
    original: Annotated[str, typer.Argument(help="The original table: what the intruder knows.")],
    released: Annotated[str, typer.Argument(help="The table you want to publish.")],
    *,
    id: Annotated[  # noqa: A002 - the word of the field
        str | None, typer.Option(help="Column that says which rows belong together; without it, row order.")
    ] = None,
    quasi: Annotated[list[str] | None, typer.Option(help="Columns that the intruder knows; default: all.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Columns to leave out.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Kind of a column, as name=numeric or the like.")] = None,
    attack: Annotated[list[str] | None, typer.Option(help="nearest, global or both (default both).")] = None,
    metric: Annotated[
        str, typer.Option(help="euclidean, manhattan, chebyshev, mahalanobis, gower or permutation.")
    ] = "euclidean",
    scale: Annotated[str, typer.Option(help="Standardise by each file's own, by original, released, or none.")] = "own",
    weights: Annotated[list[str] | None, typer.Option(help="Weights of columns, as age=2,income=0.5.")] = None,
    ranks: Annotated[str, typer.Option(help="Of equal values: average, dense or ordinal.")] = "average",
    direction: Annotated[str, typer.Option(help="Who asks, for nearest: to_release or to_original.")] = "to_release",
    sample: Annotated[int | None, typer.Option(help="Ask for so many people only, for nearest.")] = None,
    cap: Annotated[int, typer.Option(help="Rank of the true record: count closer ones up to this.")] = 10,
    squared: Annotated[bool, typer.Option("--squared", help="Global: least total of squared distances.")] = False,
    max_gap: Annotated[float, typer.Option(help="Global: stop at this proven gap; 0: the optimum.")] = 0.0,
    time_budget: Annotated[float | None, typer.Option(help="Global: stop after so many seconds.")] = None,
    precision: Annotated[float, typer.Option(help="How often a claim that is *known* must be right.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0)] = 0,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write one row per original record (.csv, .parquet).")
    ] = None,
) -> None:
    """Link the people of one table to the records of another, nearest and one to one, and count who is found.

    Example:  unmask link original.csv release.csv --id patient --metric gower --sample 2000 -o found.csv

    Exit code 0: the attack ran, whatever it found; 2: cannot.
    """
    names = ("quasi", "ignore", "attack", "weights")
    options = {**locals(), **{name: listed(value) for name, value in locals().items() if name in names}}
    from unmask.cli.link import link_files  # noqa: PLC0415 - imports polars and numpy

    with progress_bars(quiet=False) as tell:
        told = link_files(options, tell)
    sys.stdout.write(f"{told}\n")
