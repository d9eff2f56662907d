"""The graph attack against chance, and what guessing everybody finds: means over seeds, with their range.

``python benchmarks/graph_chance.py recall``, ``... distances`` and ``... alarms`` (all take minutes; ``--times`` says
how many files, ``--line`` asks for one line of the table, from 0). Tables as in docs/graph.md. No times:
results do not depend on the machine.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import beta

from unmask.datasets.places import people
from unmask.graph import Coordinates, GraphLinkage, NoiseTolerance, link_graph, read_place, sweep

if TYPE_CHECKING:
    from unmask.graph.tolerance import Masking

LONLAT = Coordinates("lon", "lat")
BUDGET = {"exact": 100_000, "seeds": 100_000, "geometric": 20_000, "everybody": 20_000, "votes": 0}  # as in assess
ALARMS = [  # method, people, labels, share around cities, sigma
    ("exact", 300, ("sex", "age"), 0.45, 0.02),
    ("seeds", 300, ("sex", "age"), 0.45, 0.02),
    ("geometric", 300, ("sex", "age"), 0.45, 0.05),
    ("everybody", 300, ("sex", "age"), 0.45, 0.05),
    ("everybody", 300, ("sex", "age"), 1.0, 0.1),
    ("everybody", 300, ("sex", "age"), 0.45, 0.4),
    ("votes", 300, ("sex", "age"), 0.45, 0.05),
    ("votes", 300, ("sex", "age"), 1.0, 0.1),
    ("votes", 300, ("sex", "age"), 0.45, 0.4),
    ("exact", 60, ("sex",), 1.0, 0.02),
    ("exact", 60, (), 1.0, 0.02),
    ("seeds", 60, ("sex",), 1.0, 0.02),
    ("seeds", 60, (), 1.0, 0.02),
    ("everybody", 300, ("sex",), 1.0, 0.05),
    ("everybody", 300, (), 1.0, 0.05),
    ("everybody", 300, (), 0.0, 0.05),
    ("votes", 60, ("sex",), 1.0, 0.05),
    ("votes", 60, (), 1.0, 0.05),
    ("exact", 100, ("sex", "region"), 0.45, 0.02),
    ("everybody", 300, ("sex", "region"), 0.45, 0.05),
    ("votes", 100, ("sex", "region"), 0.45, 0.05),
]


def pair(n: int, common: int, sigma: float, urban: float, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Release with noise on its places, and the intruder's file; the last of one are the first of the other."""
    rng = np.random.default_rng([6, seed])
    everyone = people(2 * n - common, rng, urban=urban)
    region = (pl.col("lon") / 3).floor() * 10 + (pl.col("lat") / 2).floor()  # a label that lives in certain places
    everyone = everyone.with_columns(region=region)
    noise = rng.normal(0, sigma, size=(2, n))
    target = everyone[:n].with_columns(lon=pl.col("lon") + noise[0], lat=pl.col("lat") + noise[1])
    return target, everyone[n - common :]


def attack(
    files: tuple[pl.DataFrame, pl.DataFrame], method: str, labels: tuple[str, ...], sigma: float, seed: int
) -> GraphLinkage:
    """One attack, calibrated by 19 null draws."""
    return link_graph(
        original=(files[1], LONLAT), released=(files[0], LONLAT),
        labels=labels, tolerance=NoiseTolerance(sigma), seed=seed,
        method="geometric" if method == "everybody" else method, everybody=method == "everybody", budget=BUDGET[method],
    )  # fmt: skip


def recall(repetitions: int, lines: slice) -> None:
    """Share of 300 people, all in both files, whom each attack claims rightly."""
    truth = np.column_stack([np.arange(300)] * 2)
    print(
        "| sigma | everybody | its sure claims | right among them | votes | largest clique | seeds |\n"
        "|---|---|---|---|---|---|---|"
    )
    for sigma in (0.05, 0.1, 0.2, 0.5)[lines]:
        rows = []
        for seed in range(repetitions):
            files = pair(300, 300, sigma, 0.45, seed)
            found = {m: attack(files, m, ("sex", "age"), sigma, seed) for m in ("everybody", "votes", "exact", "seeds")}
            sure = found["everybody"].sure
            tried = (found["everybody"], sure, found["votes"], found["exact"], found["seeds"])
            shares = [linkage.recall(truth) for linkage in tried]
            rows.append([*shares[:2], sure.precision(truth) if sure.found else np.nan, *shares[2:]])
        cells = [f"{np.nanmean(c):.2f} ({np.nanmin(c):.2f} to {np.nanmax(c):.2f})" for c in np.array(rows).T]
        print(f"| {sigma} | {' | '.join(cells)} |", flush=True)


def distances(repetitions: int, lines: slice) -> None:
    """Share of 300 people found when distances are masked, not places: noise and rounding, in median distances."""
    print("| masking | strength | votes | everybody (a map) | largest clique |\n|---|---|---|---|---|")
    grid: list[tuple[Masking, float]] = [(m, s) for m in ("distances", "rounding") for s in (0.02, 0.1, 0.5)]
    for masking, strength in grid[lines]:
        rows = []
        for seed in range(repetitions):
            table = people(300, np.random.default_rng([7, seed]))
            exact = read_place((table, LONLAT), ["sex", "age"], "people").block(np.arange(300))
            sigma = strength * float(np.median(exact)) * (12**0.5 if masking == "rounding" else 1.0)
            options = {"labels": ("sex", "age"), "maskings": [(masking, sigma)], "repetitions": 1, "seed": seed}
            ways: list[dict[str, Any]] = [
                {"method": "votes"}, {"method": "geometric", "budget": 20_000}, {"method": "exact", "budget": 100_000}
            ]  # fmt: skip
            rows.append([sweep(table, LONLAT, **options, **way)[0].recall for way in ways])  # type: ignore[arg-type]
        cells = [f"{np.mean(c):.2f} ({np.min(c):.2f} to {np.max(c):.2f})" for c in np.array(rows).T]
        print(f"| {masking} | {strength} | {' | '.join(cells)} |", flush=True)


def alarms(pairs: int, lines: slice) -> None:
    """How often files that share nobody are claimed to share somebody, at level 0.05."""
    print(
        "| attack | people | labels | around cities | sigma | alarms | 95 % interval |\n|---|---|---|---|---|---|---|"
    )
    for method, n, labels, urban, sigma in ALARMS[lines]:
        k = sum(attack(pair(n, 0, sigma, urban, seed), method, labels, sigma, seed).found for seed in range(pairs))
        low = beta.ppf(0.025, k, pairs - k + 1) if k else 0.0
        high = beta.ppf(0.975, k + 1, pairs - k)
        print(
            f"| {method} | {n} | {', '.join(labels) or 'none'} | {urban:.0%} | {sigma} | {k} of {pairs} "
            f"| {low:.1%} to {high:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["recall", "distances", "alarms"])
    parser.add_argument("--times", type=int)
    parser.add_argument("--line", type=int)
    given = parser.parse_args()
    some = slice(None) if given.line is None else slice(given.line, given.line + 1)
    run = {"recall": recall, "distances": distances, "alarms": alarms}[given.what]
    run(given.times or (100 if given.what == "alarms" else 5), some)
