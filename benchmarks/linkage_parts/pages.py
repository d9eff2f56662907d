"""Tables and chart of the docs, from what was measured. Text between the marks is replaced; the rest is ours."""

from __future__ import annotations

import re

import altair as alt
import numpy as np

LABELS = {"decision": "decision alone", "nearest": "nearest records", "global": "one to one, exact"}
FROM = 3000  # exponents are fitted from here on: below, fixed costs rule


def write(store, docs):
    growth = list(store.get("growth", {}).values())
    if growth:
        chart(growth, docs / "images" / "linkage-growth.svg")
    replace(docs / "benchmarks.md", {
        "nearest_peers": peers_table(store.get("peers", {}).values()),
        "nearest_growth": growth_table([row for row in growth if row["kind"] != "global"]),
        "one_to_one_peers": dense_table(store.get("assignment", {}).values()),
        "one_to_one_growth": growth_table([row for row in growth if row["kind"] == "global"]),
    })  # fmt: skip


def replace(path, parts):
    text = path.read_text()
    for name, table in parts.items():
        if table:
            pattern = rf"(<!-- {name}: .*?-->\n).*?(<!-- end -->)"
            text, times = re.subn(pattern, lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)
            if times != 1:
                raise SystemExit(f"{path.name} has no place for the table {name!r}")
    path.write_text(text)


def exponent(rows, field):
    """Slope on log axes, or None with fewer than three sizes."""
    rows = [row for row in rows if row["n"] >= FROM]
    if len(rows) < 3:
        return None
    return float(np.polyfit(np.log([row["n"] for row in rows]), np.log([row[field] for row in rows]), 1)[0])


def series(growth):
    """Rows of one attack under one masking and gap, by size, under a name for people."""
    names = {}
    for row in sorted(growth, key=lambda row: (list(LABELS).index(row["kind"]), row["masking"], row["n"])):
        gap = f" to a gap of {row['max_gap']:g}" if row["max_gap"] else ""
        name = LABELS[row["kind"]].replace(", exact", gap or ", exact") + f", {row['masking']}"
        names.setdefault(name, []).append(row)
    return names


def growth_table(growth):
    lines = [
        "| attack, masking | n | on the clock, s | of processors, s | peak GB | proven |",
        "|---|---|---|---|---|---|",
    ]
    for name, rows in series(growth).items():
        for row in rows:
            proven = "exact" if row["kind"] != "global" else "optimal" if row["optimal"] else f"gap {row['gap']:.1e}"
            cells = (f"{row['wall']:.2f}", f"{row['cpu']:.2f}", f"{row['peak']:.2f}", proven)
            lines.append(f"| {name} | {row['n']:,} | {' | '.join(cells)} |")
        slopes = exponent(rows, "cpu"), exponent(rows, "peak")
        if slopes[0] is not None:
            lines.append(f"| {name} | growth | | n^{slopes[0]:.2f} | n^{slopes[1]:.2f} | |")
    return "\n".join(lines) + "\n" if growth else ""


def peers_table(rows):
    """Processor seconds of ours, and how many times longer the best peer takes."""
    rows = sorted(rows, key=lambda row: (row["metric"] != "L2", row["n"], row["masking"]))
    lines = [
        "| n | metric | masking | nearest s | decision s | best peer (same question) | nearest | decision | faiss, one nearest, float32: nearest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        same = {name: values for name, values in row["peers"].items() if values[3]}
        name = min(same, key=lambda name: same[name][1])
        full, decision, scaled = row["nearest"], row["decision"], " (scaled)" if same[name][2] else ""
        faiss = row["peers"].get("faiss flat, one nearest, float32")
        cells = [f"{row['n']:,}", row["metric"], row["masking"], f"{full[1]:.2f}", f"{decision[1]:.2f}"]
        cells += [f"{name}, {same[name][1]:.1f} s{scaled}", ratio(same[name], full), ratio(same[name], decision)]
        lines.append("| " + " | ".join([*cells, ratio(faiss, full) if faiss else ""]) + " |")
    return "\n".join(lines) + "\n" if rows else ""


def dense_table(rows):
    rows = sorted(rows, key=lambda row: row["n"])
    peers = list(dict.fromkeys(name for row in rows for name in row["peers"]))
    lines = [f"| n | masking | ours s | in nearest-neighbour passes | {' | '.join(peers)} |"]
    lines.append("|---|---|---|---|" + "---|" * len(peers))
    for row in rows:
        cells = [f"{row['n']:,}", row["masking"], f"{row['ours'][1]:.2f}", ratio(row["ours"], row["pass"])]
        for name in peers:
            found = row["peers"].get(name)
            cells.append(f"{found[1]:.2f} s: {ratio(found, row['ours'])}" if found else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" if rows else ""


def ratio(peer, own):
    """Ratio of processor seconds and, in brackets, on the clock."""
    return f"{peer[1] / own[1]:.1f} ({peer[0] / own[0]:.1f})"


def chart(growth, path):
    """Processor seconds and peak memory against n, both axes logarithmic, with fitted exponents in the legend."""
    names = series(growth)
    panels = []
    for field, title in (("cpu", "processor seconds"), ("peak", "peak memory, GB")):
        slopes = {name: exponent(rows, field) for name, rows in names.items()}
        told = {name: name if slope is None else f"{name}: n^{slope:.2f}" for name, slope in slopes.items()}
        rows = [{"n": r["n"], "y": r[field], "series": told[name]} for name, part in names.items() for r in part]
        panels.append(
            alt.Chart(alt.InlineData(rows), title=title)
            .mark_line(point=True)
            .encode(
                x=alt.X("n:Q", title="records", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=4)),
                y=alt.Y("y:Q", title=title, scale=alt.Scale(type="log"), axis=alt.Axis(format="~g", tickCount=5)),
                color=alt.Color("series:N", title=None, sort=list(told.values()), legend=alt.Legend(labelLimit=400)),
            )
            .properties(width=420, height=300)
        )
    alt.vconcat(*panels).resolve_scale(color="independent").save(path)
