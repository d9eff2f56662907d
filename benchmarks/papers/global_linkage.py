"""DBRL against GDBRL over maskings and their parameters: does one-to-one linkage report more risk?

Herranz et al. (2015) claim that it does "in many cases"; their tables are not in the excerpt, so these are new. Writes
docs/papers/global-linkage.md and its chart. `python benchmarks/papers/global_linkage.py [--seeds 5] [--n 1000]`
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

import unmask

ROOT = Path(__file__).parents[2]
CENSUS = ROOT.parent / "shared" / "data" / "census.csv"
NOISE = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5)
SETTINGS = {
    "noise": [(k, f"noise({k})") for k in NOISE],
    "rank swapping": [(p, f"rank_swap(share={p / 100})") for p in range(2, 21, 2)],
    "MDAV": [(k, f"microaggregation({k})") for k in (3, 5, 10, 15, 20, 25)],
    "univariate microaggregation": [(k, f"microaggregation({k}, method=univariate)") for k in (3, 5, 10, 15, 20, 25)],
    "random rounding": [(b, f"rounding({b}, method=random)") for b in (1000, 3000, 10_000, 30_000)],
}
MIXED = {
    "noise": SETTINGS["noise"],
    "PRAM and noise 0.3": [(p, f"pram({p})") for p in (0.05, 0.1, 0.2, 0.3, 0.5)],
}


def tables(n):
    """The reference census where it is, and the generated tables; ids and secrets are not known to the intruder."""
    known = ["sex", "town", "birth date", "admitted", "days", "children", "smoker", "height", "bmi", "insurance"]
    found = {
        "generated census": (unmask.datasets.census(n), SETTINGS),
        "generated patients": (unmask.datasets.patients(n).select(known), MIXED),
    }
    return ({"CASC census": (pl.read_csv(CENSUS), SETTINGS)} if CENSUS.exists() else {}) | found


def masked(table, family, text, seed):
    if family.startswith("PRAM"):
        table = unmask.parse_masking("noise(0.3)").apply(table, seed)
    return unmask.parse_masking(text).apply(table, seed)


def measure(n, seeds):
    rows = []
    for name, (table, families) in tables(n).items():
        for family, settings in families.items():
            for parameter, text in settings:
                for seed in range(seeds):
                    release = unmask.Release(table, masked(table, family, text, seed))
                    nearest = unmask.link_nearest(release, decision_only=True)
                    back = unmask.link_nearest(release, decision_only=True, direction="to_original")
                    globally = unmask.link_globally(release)
                    assert globally.optimal, (name, text, seed)  # noqa: S101 - the experiment rests on it
                    union = np.maximum(nearest.credit, globally.credit).mean()
                    rates = (nearest.estimate.value, back.estimate.value, globally.estimate.value, union)
                    rows.append((name, family, float(parameter), seed, *rates))
            print(f"{name}: {family} done", flush=True)
    names = ["table", "masking", "parameter", "seed", "dbrl", "dbrl_back", "gdbrl", "either"]
    return pl.DataFrame(rows, schema=names, orient="row")


def verdict(results):
    """How often, and by how much, GDBRL reports more risk than DBRL, run by run."""
    gain = results["gdbrl"] - results["dbrl"]
    more, less = (gain > 1e-12).mean(), (gain < -1e-12).mean()
    return more, less, gain.mean(), gain.max(), gain.min()


def page(results, seeds, seconds):
    means = results.group_by("table", "masking", "parameter", maintain_order=True).agg(
        pl.col("dbrl", "dbrl_back", "gdbrl", "either").mean()
    )
    more, less, mean, most, least = verdict(results)
    lines = [
        "# DBRL against GDBRL",
        "",
        "Written by `benchmarks/papers/global_linkage.py`; do not edit. Herranz, Nin, Rodríguez and Tassa (2015) argue that one-to-one linkage (GDBRL) must be evaluated beside",
        'nearest-record linkage (DBRL), since it gives "in many cases, higher risk assessments". Their tables are not in our excerpt; these experiments are new.',
        f"{results.height} runs ({seeds} seeds each), euclidean, every matching proven optimal, {seconds:.0f} s on a shared 2-core machine.",
        "",
        f"**The statement, tested.** GDBRL reports more risk than DBRL in **{more:.0%}** of the runs, less in {less:.0%}; on average by {100 * mean:+.1f} percentage points, at most by {100 * most:+.1f},",
        f"at least by {100 * least:+.1f}. Either attack finds people that the other misses: see the last column.",
        "",
        "![DBRL and GDBRL over the parameters of the maskings](global-linkage.svg)",
        "",
        "DBRL: original to release (our default); back: release to original (the paper's direction). Means over seeds, in percent.",
        "",
        "| table | masking | parameter | DBRL | DBRL back | GDBRL | either |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in means.iter_rows(named=True):
        rates = " | ".join(f"{100 * row[key]:.1f}" for key in ("dbrl", "dbrl_back", "gdbrl", "either"))
        lines.append(f"| {row['table']} | {row['masking']} | {row['parameter']:g} | {rates} |")
    return "\n".join(lines) + "\n"


def chart(results, path):
    long = results.unpivot(
        ["dbrl", "gdbrl", "either"], index=["table", "masking", "parameter"], variable_name="attack", value_name="rate"
    )
    long = long.group_by("table", "masking", "parameter", "attack").agg(pl.col("rate").mean()).sort("parameter")
    base = (
        alt.Chart(alt.InlineData(long.to_dicts()))
        .mark_line(point=True)
        .encode(
            x=alt.X("parameter:Q", title="parameter", scale=alt.Scale(zero=False)),
            y=alt.Y("rate:Q", title="people found", axis=alt.Axis(format="%")),
            color=alt.Color("attack:N", title=None),
        )
    )
    panels = [
        alt.hconcat(
            *[
                base.transform_filter((alt.datum.table == table) & (alt.datum.masking == masking)).properties(
                    width=190, height=130, title=f"{table}: {masking}"
                )
                for masking in part["masking"].unique(maintain_order=True)
            ]
        )
        for (table,), part in results.group_by("table", maintain_order=True)
    ]
    alt.vconcat(*panels).save(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--n", type=int, default=1000)
    options = parser.parse_args()
    start = time.perf_counter()
    results = measure(options.n, options.seeds)
    folder = ROOT / "docs" / "papers"
    folder.mkdir(exist_ok=True)
    chart(results, folder / "global-linkage.svg")
    (folder / "global-linkage.md").write_text(page(results, options.seeds, time.perf_counter() - start))
    print((folder / "global-linkage.md").read_text()[:1200])


if __name__ == "__main__":
    main()
