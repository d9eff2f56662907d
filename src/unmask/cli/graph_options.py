"""The options of the commands that attack published distances."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cli.fields import option, written
from unmask.cli.options import SEED, Reading


@dataclass(frozen=True, kw_only=True)
class Graph(Reading):
    """Find people in a release that comes with distances, by a table of people and their places.

    Example:  unmask graph people.csv release.csv --labels sex,age --original-lonlat lon,lat --released-distances d.npy
    --masking "place_noise(0.05)" --alpha 0.9

    Exit code 0: the attack ran, whatever it found; 2: cannot.
    """

    original: str = option("The intruder's table: people with names and places.", place=True, reads="table")
    released: str = option("The release: a table without names.", place=True, reads="table")
    labels: tuple[str, ...] = option("Columns of both tables that must be equal for a match.")
    original_lonlat: str | None = option(
        "The original's longitude and latitude columns.", "--original-lonlat", "--ident-lonlat", default=None
    )
    original_distances: str | None = option(
        "Instead: its distances, a matrix (.npy, .csv, .parquet), or columns: d1,d2 or 'd*'.",
        "--original-distances", "--ident-distances", default=None, reads="matrix or columns",
    )  # fmt: skip
    released_lonlat: str | None = option(
        "The release's longitude and latitude columns.", "--released-lonlat", "--target-lonlat", default=None
    )
    released_distances: str | None = option(
        "Instead: its distances, as above.",
        "--released-distances", "--target-distances", default=None, reads="matrix or columns",
    )  # fmt: skip
    planar: bool = option("The coordinates are planar, not degrees.", default=False)
    masking: str | None = option(
        'Known masking: "place_noise(0.05)", place_donut, place_grid, distance_noise or distance_rounding.',
        default=None,
    )
    sigma: float | None = option('Short for --masking "place_noise(SIGMA)".', default=None)
    alpha: float = option("Share of true distances that should agree, with --masking.", default=0.9)
    tolerance: float | None = option("Instead of --masking: the largest difference.", default=None)
    relative: float | None = option("Instead of --masking: the largest share.", default=None)
    method: str = option("auto, exact, seeds, geometric or votes.", default="auto")
    everybody: bool = option("Guess a partner for everybody, not only where they are sure.", default=False)
    gamma: float | None = option("Also claim pairs that agree with this share of the answer, with exact.", default=None)
    label_distance: dict[str, float] = option("Numeric labels may differ by so much: age=1; several.", default={})
    draws: int = option("Files without anyone in common that chance is asked with.", default=19)
    level: float = option("Largest p-value at which pairs are claimed.", default=0.05)
    seed: int = option(SEED, default=0, minimum=0)
    truth: str | None = option("Id column of both tables: count who was found.", default=None)
    output: str | None = written("Write the pairs of rows")


@dataclass(frozen=True, kw_only=True)
class Sweep(Reading):
    """Play the graph attack on maskings of growing strength: what would be safe to publish?

    Example:  unmask graph-sweep people.csv --labels sex,age --lonlat lon,lat --masking "place_noise(0.01)"
    --masking "place_noise(0.05)" --masking "distance_rounding(5)" --chart map.svg

    Exit code 0: it ran, whatever it found; 2: cannot.
    """

    original: str = option("The table that is to be published, with the places as they are.", place=True, reads="table")
    labels: tuple[str, ...] = option("Columns that will be published and that the intruder knows.")
    lonlat: str | None = option("Longitude and latitude columns.", default=None)
    distances: str | None = option(
        "Instead: a matrix, or columns of distances.", default=None, reads="matrix or columns"
    )
    planar: bool = option("The coordinates are planar, not degrees.", default=False)
    masking: tuple[str, ...] = option(
        'A masking such as "place_noise(0.05)"; several, one per strength. Default: four, by distance.',
        default=(), whole=True,
    )  # fmt: skip
    overlap: float = option("Share of the people whom the intruder holds as well.", default=1.0)
    alpha: float = option("Share of true distances that should agree.", default=0.9)
    repetitions: int = option("Times that each masking is played.", default=3, minimum=1)
    method: str = option("auto, exact, seeds, geometric or votes.", default="auto")
    everybody: bool | None = option(
        "Count guesses for everybody (default, but for exact and seeds), or claims only.",
        "--everybody/--sure-only", default=None,
    )  # fmt: skip
    seed: int = option(SEED, default=0, minimum=0)
    output: str | None = written("Write the table")
    chart: str | None = option("Draw the risk-utility map (.svg).", default=None, writes=(".svg",))
