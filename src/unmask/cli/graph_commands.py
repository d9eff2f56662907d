"""The commands of the graph attack: parse and call. What they need is imported when they run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from unmask.cli.options import listed
from unmask.cli.screen import progress_bars


def graph_command(  # noqa: PLR0913 - one parameter per option
    target: Annotated[str, typer.Argument(help="The release: a table without names.")],
    ident: Annotated[str, typer.Argument(help="The intruder's table, with names.")],
    *,
    labels: Annotated[list[str], typer.Option(help="Columns of both tables that must be equal for a match.")],
    target_distances: Annotated[
        str | None, typer.Option(help="Its distances: a matrix (.npy, .csv, .parquet), or columns: d1,d2 or 'd*'.")
    ] = None,
    target_lonlat: Annotated[str | None, typer.Option(help="The release's longitude and latitude columns.")] = None,
    ident_distances: Annotated[str | None, typer.Option(help="The same of the intruder's table.")] = None,
    ident_lonlat: Annotated[str | None, typer.Option(help="The intruder's longitude and latitude columns.")] = None,
    planar: Annotated[bool, typer.Option("--planar", help="The coordinates are planar, not degrees.")] = False,
    sigma: Annotated[float | None, typer.Option(help="Strength of the known masking, in its unit.")] = None,
    alpha: Annotated[float, typer.Option(help="Share of true distances that should agree, with --sigma.")] = 0.9,
    masking: Annotated[
        str, typer.Option(help="Known masking: coordinates, donut, distances, rounding or aggregation.")
    ] = "coordinates",
    tolerance: Annotated[float | None, typer.Option(help="Instead of --sigma: the largest difference.")] = None,
    relative: Annotated[float | None, typer.Option(help="Instead of --sigma: the largest share.")] = None,
    method: Annotated[str, typer.Option(help="auto, exact, seeds or geometric.")] = "auto",
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Guess a partner for everybody, not only where she is sure.")
    ] = False,
    gamma: Annotated[
        float | None, typer.Option(help="Also claim pairs that agree with this share of the answer, with exact.")
    ] = None,
    label_distance: Annotated[
        list[str] | None, typer.Option(help="Numeric labels may differ by so much: age=1; several.")
    ] = None,
    draws: Annotated[int, typer.Option(help="Files without anyone in common that chance is asked with.")] = 19,
    level: Annotated[float, typer.Option(help="Largest p-value at which pairs are claimed.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0)] = 0,
    truth: Annotated[str | None, typer.Option(help="Id column of both tables: count who was found.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the pairs of rows (.csv, .parquet).")
    ] = None,
) -> None:
    """Find people in a release that comes with distances, by a table of people and their places.

    Example:  unmask graph release.csv people.csv --labels sex,age --target-distances d.npy --ident-lonlat lon,lat
    --sigma 0.05 --alpha 0.9

    Exit code 0: the attack ran, whatever it found; 2: cannot.
    """
    options = {**locals(), "labels": listed(labels)}
    from unmask.cli.graph import attack_files  # noqa: PLC0415 - imports polars and numpy

    with progress_bars(quiet=False) as tell:
        told = attack_files(options, tell)
    sys.stdout.write(f"{told}\n")


def sweep_command(  # noqa: PLR0913 - one parameter per option
    people: Annotated[str, typer.Argument(help="The table that is to be published, with the places as they are.")],
    *,
    labels: Annotated[list[str], typer.Option(help="Columns that will be published and that the intruder knows.")],
    lonlat: Annotated[str | None, typer.Option(help="Longitude and latitude columns.")] = None,
    distances: Annotated[str | None, typer.Option(help="Instead: a matrix, or columns of distances.")] = None,
    planar: Annotated[bool, typer.Option("--planar", help="The coordinates are planar, not degrees.")] = False,
    masking: Annotated[
        list[str] | None,
        typer.Option(help='A masking and its strengths, "coordinates=0.01,0.05"; several. Default: four, by distance.'),
    ] = None,
    overlap: Annotated[float, typer.Option(help="Share of the people whom the intruder holds as well.")] = 1.0,
    alpha: Annotated[float, typer.Option(help="Share of true distances that should agree.")] = 0.9,
    repetitions: Annotated[int, typer.Option(help="Times that each masking is played.", min=1)] = 3,
    method: Annotated[str, typer.Option(help="auto, exact, seeds or geometric.")] = "auto",
    everybody: Annotated[
        bool | None,
        typer.Option(
            "--everybody/--sure-only", help="Count guesses for everybody (default, but for exact), or claims only."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0)] = 0,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write the table (.csv, .parquet).")] = None,
    chart: Annotated[str | None, typer.Option(help="Draw the risk-utility map (.svg).")] = None,
) -> None:
    """Play the graph attack on maskings of growing strength: what would be safe to publish?

    Example:  unmask graph-sweep people.csv --labels sex,age --lonlat lon,lat --masking coordinates=0.01,0.05,0.1
    --masking rounding=5,20 --chart map.svg

    Exit code 0: it ran, whatever it found; 2: cannot.
    """
    options = {**locals(), "labels": listed(labels)}
    from unmask.cli.graph import sweep_file  # noqa: PLC0415 - imports polars and numpy

    with progress_bars(quiet=False) as tell:
        told = sweep_file(options, tell)
    sys.stdout.write(f"{told}\n")
