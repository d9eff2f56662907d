"""`unmask graph-sweep`: the graph attack on maskings of growing strength."""

from __future__ import annotations

import numpy as np
import polars as pl

from unmask.cli.graph import FORMER, check_places, place_masking, places
from unmask.cli.graph_options import Sweep
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files, write_atomically, write_findings
from unmask.errors import TableError
from unmask.graph import WORDS, Coordinates, Place, SweepPoint, default_grid, guesses, map_figure, read_place, sweep
from unmask.shares import percent
from unmask.study import Displacement as Masking
from unmask.tables import check_columns, read_table


def run(options: Sweep) -> int:
    """Play the attack on maskings of a table; say what would be safe."""
    asked = _grid(options.masking)
    check_places(options)
    check_files(options)
    table = read_table(options.original, name="table of people", role="original", **options.reading)
    check_columns(options.labels, table.columns, "label", "the people")
    where = places(options, table)
    place = read_place((table, where), list(options.labels), "original")
    median = _median(place)
    everybody = guesses(options.method, everybody=options.everybody)
    with progress_bar() as tell:
        points = sweep(
            table,
            where,
            labels=options.labels,
            maskings=asked or default_grid(median, where if isinstance(where, Coordinates) else None),
            overlap=options.overlap,
            alpha=options.alpha,
            repetitions=options.repetitions,
            method=options.method,  # type: ignore[arg-type]  # checked there
            everybody=everybody,
            seed=options.seed,
            progress=tell,
        )
    say(f"{place.n:,} people, median distance {median:.4g}; the intruder holds {percent(options.overlap)} of them.")
    for point in points:
        say(_line(point, median, "sure claims" if everybody else "claims"))
    _write(points, median, options)
    return 0


def _write(points: list[SweepPoint], median: float, options: Sweep) -> None:
    if options.output is not None:
        write_findings(pl.DataFrame(points).with_columns(change=pl.col("variance").sqrt() / median), options.output)
        say(f"Written to {options.output}.")
    if options.chart is not None:
        from unmask.report import draw  # noqa: PLC0415 - imports altair

        write_atomically(options.chart, draw(map_figure(points, median, "recall", None)))
        say(f"The risk-utility map: {options.chart}.")


def _median(place: Place) -> float:
    """Median distance, of at most about 500 people."""
    distances = place.block(place.order(np.zeros(place.n, dtype=np.int64))[:: max(1, place.n // 500)])
    median = float(np.median(distances[np.triu_indices(len(distances), 1)])) if len(distances) > 1 else 0.0
    if median == 0:
        raise TableError("there is nothing to mask: the people are not at different places", got=f"{place.n} records")
    return median


def _line(point: SweepPoint, median: float, claims: str) -> str:
    """Say one masking in words."""
    said = (
        f"{percent(point.precision)} of its {claims} right" if point.n_silent < point.repetitions else "nothing claimed"
    )
    return (
        f"  {WORDS[point.masking]} {point.sigma:.4g}: distances move by {percent(point.variance**0.5 / median)}, "
        f"the attack finds {percent(point.recall)} of the people, {said}"
    )


def _grid(given: tuple[str, ...]) -> list[tuple[Masking, float]]:
    """Read the maskings; "coordinates=0.01,0.05" is how several strengths were written up to version 0.1."""
    texts: list[str] = []
    for entry in given:
        name, found, strengths = entry.partition("=")
        if found and "(" not in name:
            former = FORMER.get(name.strip(), name.strip())
            texts += [f"{former}({strength.strip()})" for strength in strengths.split(",")]
        else:
            texts.append(entry)
    maskings = [place_masking(text) for text in texts]
    return [(masking.moves, masking.strength) for masking in maskings]
