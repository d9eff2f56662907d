"""Write docs/papers/explore-figures.md: Figures 4, 7 and 9 of the papers as outputs of `unmask explore`.

    UNMASK_DATA=../shared/data python benchmarks/papers/explore_figures.py

Every picture and number on the page comes from the commands that stand on it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from unmask.datasets.places import people

HERE = Path(__file__).resolve()
OUT = HERE.parents[2] / "docs" / "papers"
DATA = Path(os.environ.get("UNMASK_DATA", HERE.parents[3] / "shared" / "data"))
KAPPAS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 7)
SIGMAS = tuple(round(0.01 * k, 2) for k in range(1, 11))
PAPER = {  # what the papers print: Tables I and III by kappa, Table 6 (100/100, all common) by sigma
    "distance": {0.5: 55, 1: 100, 3: 153, 7: 160},
    "error(ERNVAL)": {0.5: 144, 1: 207, 3: 304, 7: 342},
    "precision": dict(zip(SIGMAS, (1, 1, 1, 0.9994, 0.9979, 0.9965, 0.9927, 0.9877, 0.9835, 0.9745), strict=True)),
}
GRIDS = {
    "noise.toml": f'[[grid]]\nmasking = "reverse_map(noise({{}}))"\nstrengths = {list(KAPPAS)}\n',
    "places.toml": f'[[grid]]\nmasking = "place_noise({{}})"\nstrengths = {list(SIGMAS)}\n',
}
FIGURES = (
    ("4", "The maximum-knowledge paper, Figure 4", "census.csv", "noise.toml", ("correlations", "distance"), 5),
    ("7", "The maximum-knowledge paper, Figure 7", "census.csv", "noise.toml", ("correlations", "error(ERNVAL)"), 5),
    ("9", "The graph attack, Figure 9", "places.csv", "places.toml", ("variance", "precision"), 20),
)
WORDS = {
    "4": "Noise on every attribute of CASC *Census* (1080 records), then reverse mapping. Across, the damage; up, the linkage distance of the least protected record. The paper draws both against the noise; here they are drawn against each other, so that other maskings can stand beside. The smallest distance is an extreme of one draw, and scatters.",
    "7": "The same releases. Up, how far off the estimate of ERNVAL is for who knows all other attributes. Single draws scatter (306 to 336 at strength 3); the mean of 30 is on [the page of the paper](maximum-knowledge.md).",
    "9": "A hundred people with sex and age class, simulated as on [the page of the paper](graph-attack.md) (seed 1), noise of sigma degrees on their places; the intruder holds all of them (the paper's line of 100 common of 100) and allows for half of the deviations. Across, the variance of the change of distances in km² (the paper: its negative); up, the share of claims that are right.",
}


def made(
    folder: Path, number: str, table: str, grid: str, axes: tuple[str, ...], seeds: int
) -> tuple[str, pl.DataFrame]:
    """Run the command; the command as it is typed, and its points."""
    chart, points = f"explore-figure-{number}.svg", f"points-{number}.csv"
    typed = ["explore", table, "--grid", grid, *(part for one in axes for part in ("--axis", one)), "--glance"]
    typed += ["--seeds", str(seeds), "--chart", chart, "-o", points]
    code = subprocess.run([sys.executable, "-m", "unmask", *typed], check=False).returncode
    if code not in (0, 1):  # 1: nothing is called safe, as asked for
        raise SystemExit(code)
    (OUT / chart).write_text((folder / chart).read_text())
    shown = " ".join(f"'{part}'" if "(" in part else part for part in typed)
    return f"$ unmask {shown}", pl.read_csv(folder / points)


def table_of(points: pl.DataFrame, axes: tuple[str, ...]) -> list[str]:
    """Means over the draws, beside what the paper prints."""
    strength = points["masking"].str.extract(r"([\d.]+)").cast(pl.Float64)
    means = points.with_columns(strength=strength).group_by("strength").agg(pl.col(axes).mean()).sort("strength")
    lines = [f"| strength | {axes[0]} | {axes[1]} | printed |", "|---|---|---|---|"]
    for row in means.iter_rows(named=True):
        printed = PAPER[axes[1]].get(row["strength"], "")
        lines.append(f"| {row['strength']:g} | {row[axes[0]]:.4g} | **{row[axes[1]]:.3g}** | {printed} |")
    return lines


def write() -> None:
    lines = [
        "# Figures of the papers, as outputs of explore", "",
        "The papers' risk-utility maps are planes of other figures than ours. `unmask explore --axis` measures them for",
        "any masking and table ([explore](../explore.md)). Made by `python benchmarks/papers/explore_figures.py`, which runs",
        "the commands below. **Bold: ours**, the mean over the draws; beside it what the paper prints.", "",
        *(line for name, text in GRIDS.items() for line in (f"`{name}`:", "", "```toml", text.rstrip(), "```", "")),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.chdir(folder)
        for name, text in GRIDS.items():
            (folder / name).write_text(text)
        pl.read_csv(DATA / "census.csv").write_csv("census.csv")
        people(100, np.random.default_rng(1), urban=0.35).write_csv("places.csv")
        for number, title, table, grid, axes, seeds in FIGURES:
            command, points = made(folder, number, table, grid, axes, seeds)
            lines += [
                f"## {title}", "", WORDS[number], "", "```console", command, "```", "",
                f"![{title}: {axes[1]} against {axes[0]}, from weak to strong.](explore-figure-{number}.svg)", "",
                *table_of(points, axes), "",
            ]  # fmt: skip
    (OUT / "explore-figures.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    write()
