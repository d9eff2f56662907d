"""Pictures of the graph attack: who was found where, and the risk-utility map over other maskings [KROLL]_ (Figure 9).

The paper's map has utility, minus the variance of the change of distances, on one axis and risk on the other. Here the
change is told as its standard deviation, as a share of the median distance, so that files of any unit compare: to the
left a release is useful, at the bottom it is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unmask.arrays import Floats
from unmask.discretion import on_a_coarse_map
from unmask.evidence import Figure, Series
from unmask.graph.distances import EARTH, Coordinates
from unmask.graph.result import GraphLinkage
from unmask.graph.stage import Stage
from unmask.graph.sweep import SweepPoint, sweep
from unmask.shares import percent
from unmask.study import Displacement as Masking

PEOPLE = 100  # whom a map in the report is drawn from, so that it takes seconds
REPETITIONS = 2
LEVELS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5)  # standard deviation of a place or a distance, of the median distance
WORDS: dict[Masking, str] = {
    "coordinates": "noise on places", "donut": "donut", "distances": "noise on distances",
    "rounding": "rounded distances", "aggregation": "places on a grid",
}  # fmt: skip


def default_grid(median: float, where: Coordinates | None) -> list[tuple[Masking, float]]:
    """Maskings whose strength is a few shares of the median distance, each in its own unit."""
    degree = np.pi * EARTH / 180 if where is not None and where.kind == "lonlat" else 1.0
    on_distances: list[tuple[Masking, float]] = [
        *(("distances", level * median) for level in LEVELS),
        *(("rounding", level * median * float(np.sqrt(12))) for level in LEVELS),
    ]
    if where is None:
        return on_distances
    return [
        *(("coordinates", level * median / degree) for level in LEVELS),
        *(("donut", 1.6 * level * median / degree) for level in LEVELS),  # as far on average as the noise
        *on_distances,
    ]


def risk_utility_map(
    stage: Stage, found: GraphLinkage, rate: float, *, seed: int, progress: Callable[[float], None]
) -> tuple[Figure, ...]:
    """Play other maskings on some of the people, and draw them beside the release itself."""
    table, where = stage.identification
    some = np.linspace(0, len(stage.rows) - 1, min(PEOPLE, len(stage.rows))).round().astype(np.int64)
    off = stage.known[np.triu_indices(len(stage.known), 1)]
    median = float(np.median(off))
    if median == 0:
        return ()
    points = sweep(
        table[some],
        where if isinstance(where, Coordinates) else where[np.ix_(some, some)],
        labels=stage.labels,
        maskings=default_grid(median, where if isinstance(where, Coordinates) else None),
        repetitions=REPETITIONS,
        budget=5000,
        seed=seed,
        progress=lambda done, _words: progress(done),
    )
    truth = np.column_stack([np.arange(len(stage.rows))] * 2)
    here = float((stage.known - stage.released)[np.triu_indices(len(stage.known), 1)].std() / median)
    claims = found.sure if found.method != "exact" else found
    share = claims.precision(truth) if claims.found else 0.0
    return (
        map_figure(points, median, "recall", (here, rate)),
        map_figure(points, median, "precision", (here, share)),
    )


def map_figure(points: Sequence[SweepPoint], median: float, what: str, here: tuple[float, float] | None) -> Figure:
    """Draw risk (recall or precision) against how far distances moved, one line per masking."""
    series = []
    for masking in dict.fromkeys(point.masking for point in points):
        line = sorted((p.variance**0.5 / median, getattr(p, what)) for p in points if p.masking == masking)
        series.append(Series(WORDS[masking], tuple(x for x, _ in line), tuple(y for _, y in line)))
    if here is not None:
        series.append(Series("this release", (here[0],), (here[1],)))
    risk = "people who are found" if what == "recall" else "claims that are right"
    said = "; ".join(
        f"{line.name}: "
        + ", ".join(f"{percent(float(x))} {percent(float(y))}" for x, y in zip(line.x, line.y, strict=True))
        for line in series
    )
    return Figure(
        shape="path",
        title=f"What would be safe to publish: {risk}",
        caption="To the left distances are kept, at the bottom nobody is found. The intruder is taken to hold "
        "everybody; each point is a masking of one strength, played on some of the people, without asking chance.",
        alt=f"change of distances and share of {risk}: {said}",
        x_label="change of a distance (standard deviation, share of the median distance)",
        y_label=f"share of {risk}",
        series=tuple(series),
        percent=(True, True),
    )


def found_on_a_map(stage: Stage, found: GraphLinkage, *, show_values: bool) -> Figure:
    """Draw who was found. Without leave to show values, the map is redrawn from the release alone, in coarse steps."""
    table, where = stage.identification
    redrawn = not (show_values and isinstance(where, Coordinates))
    if isinstance(where, Coordinates) and not redrawn:
        places = table.select(where.x, where.y).to_numpy()
        caption = "Where the people are whom the intruder finds, in the coordinates of the original."
        labels = ("longitude", "latitude") if where.kind == "lonlat" else ("x", "y")
    else:
        places = _picture(stage.released)
        caption = "The map that the released distances redraw, turned at will, in hundredths of its width."
        labels = ("share of the width", "share of the width")
    outcome = np.full(len(stage.rows), 2)
    outcome[found.pairs[:, 0]] = 1
    outcome[found.pairs[found.pairs[:, 0] == found.pairs[:, 1], 0]] = 0
    series = tuple(
        Series(name, tuple(places[outcome == k, 0].tolist()), tuple(places[outcome == k, 1].tolist()))
        for k, name in enumerate(("found", "claimed wrongly", "not claimed"))
    )
    return Figure(
        shape="point",
        title="Who is found, on the map",
        caption=caption,
        alt=", ".join(f"{len(line.x)} people {line.name}" for line in series),
        x_label=labels[0],
        y_label=labels[1],
        series=tuple(line for line in series if line.x),
        percent=(redrawn, redrawn),
    )


def _picture(distances: Floats) -> Floats:
    """Places whose distances are about these (classical scaling), between 0 and 1 in hundredths."""
    n = len(distances)
    middle = np.eye(n) - 1.0 / n
    values, axes = np.linalg.eigh(-0.5 * middle @ distances**2 @ middle)
    places = axes[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0))  # the wider direction first
    width = float(np.ptp(places, axis=0).max())
    turned = (places - places.min(axis=0)) / width if width > 0 else np.zeros_like(places)
    return on_a_coarse_map(turned)
