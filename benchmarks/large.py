"""Releases larger than memory: time and memory of each measure on DuckDB, by the number of rows.

    python benchmarks/large.py 100000 1000000 10000000      # writes benchmarks/results/large.json
    python benchmarks/large.py --csv 1000000                # text instead of Parquet: the same figures
    python benchmarks/large.py --page                       # writes the table of docs/large.md

Tables are made in parts, seeded, and removed afterwards. Each size runs in a process of its own, on one thread unless
--threads says otherwise. With --compare the counts are held against those of the same tables in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

import unmask
from unmask.assessment import discover
from unmask.attacks import seed_of
from unmask.engines import (
    count_groups,
    count_patterns,
    count_sets,
    find_nearest,
    open_store,
    placed_by_distance,
    sample_people,
)
from unmask.errors import NothingToTryError
from unmask.large import Large
from unmask.large_assessment import MEASURES

RESULTS = Path(__file__).parent / "results" / "large.json"
PAGE = Path(__file__).parents[1] / "docs" / "large.md"
BEGIN, END = "<!-- large: benchmarks/large.py --page -->\n", "<!-- end large -->\n"
PART = 1_000_000
MEMORY = "3GB"
SHORT = 0.5  # CPU seconds at the largest size: no exponent is told of less


def part_of(start: int, n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Some rows of a census-like table of eight keys, and of its release: one age in three and a town in ten moved."""
    rng = np.random.default_rng([7, start])
    town = np.minimum(rng.geometric(0.012, n), 400)
    age = rng.integers(0, 100, n)
    keys = {
        "id": np.arange(start, start + n),
        "sex": rng.integers(0, 2, n).astype(np.int8),
        "age": age.astype(np.int16),
        "town": town.astype(np.int16),
        "education": np.clip(rng.poisson(2, n) + age // 40, 0, 6).astype(np.int8),
        "work": np.minimum(rng.geometric(0.08, n), 60).astype(np.int8),
        "month": rng.integers(1, 13, n).astype(np.int8),
        "rooms": np.clip(rng.poisson(3, n), 1, 8).astype(np.int8),
        "origin": np.minimum(rng.geometric(0.3, n), 30).astype(np.int8),
    }
    original = pl.DataFrame(keys)
    moved = age + np.where(rng.random(n) < 1 / 3, rng.choice([-1, 1], n), 0)
    swapped = np.where(rng.random(n) < 0.1, rng.permutation(town), town)
    released = original.with_columns(
        pl.Series("age", np.clip(moved, 0, 99).astype(np.int16)), pl.Series("town", swapped.astype(np.int16))
    )
    return original, released.sample(fraction=1.0, shuffle=True, seed=start)


def write_tables(folder: Path, n: int, *, text: bool) -> None:
    """Write both tables in parts of a million rows, as Parquet or as CSV."""
    for name in ("original", "released"):
        (folder / name).mkdir()
    for start in range(0, n, PART):
        for name, table in zip(("original", "released"), part_of(start, min(PART, n - start)), strict=True):
            target = folder / name / f"part-{start // PART:04}"
            if text:
                table.write_csv(target.with_suffix(".csv"))
            else:
                table.write_parquet(target.with_suffix(".parquet"))


class Clock:
    """Wall and CPU seconds of each step, the most disk it took, and the most memory of the process."""

    def __init__(self) -> None:
        self.steps: dict[str, dict[str, float]] = {}
        self.folder: Path | None = None
        self._disk = 0
        self._last = time.perf_counter(), time.process_time()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            if self.folder is not None:
                self._disk = max(self._disk, _on_disk(self.folder))
            time.sleep(0.5)

    def note(self, name: str) -> None:
        """End of a step."""
        now = time.perf_counter(), time.process_time()
        peak = peak_since_reset()
        wall, cpu = (round(b - a, 2) for a, b in zip(self._last, now, strict=True))
        disk, self._disk = self._disk / 1e9, 0
        self.steps[name] = {"wall": wall, "cpu": cpu, "peak_gb": round(peak, 2), "disk_gb": round(disk, 2)}
        sys.stderr.write(f"  {name}: {wall} s wall, {cpu} s CPU, {peak:.2f} GB, disk {disk:.2f} GB\n")
        sys.stderr.flush()
        self._last = time.perf_counter(), time.process_time()


def peak_since_reset() -> float:
    """The most memory of this process since the last step ended, in GB."""
    told = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM:"))
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    return peak / 1e6


def _on_disk(folder: Path) -> int:
    found = 0
    for path in folder.rglob("*"):
        try:
            found += path.stat().st_blocks * 512
        except FileNotFoundError:
            continue
    return found


def measure(folder: Path, n: int, threads: int, *, compared: bool) -> dict[str, object]:
    """Run each measure once on tables of n rows."""
    places, entries = (folder / "original", folder / "released"), discover()
    figures: dict[str, object] = {}
    clock = Clock()
    clock.folder = Path(tempfile.gettempdir())  # one of its own: nothing else is in it
    with open_store(*places, id="id", memory=MEMORY, threads=threads) as store:
        clock.note("reading and coding")
        large = Large(store, 2000, 3, 0, 20.0 * n)
        for name in MEASURES:
            try:
                told = large.run(name, seed_of(0, entries[name]), lambda *_: None)
            except NothingToTryError:  # nobody is outside, and rows are paired
                continue
            figures |= {one.key: one.estimate.value for one in told.observations}
            clock.note(name)
        found = {"rows": n, "keys": 8, "steps": clock.steps, "figures": figures}
        return {**found, "equal_to_memory": compare(store, places)} if compared else found


def compare(store: object, places: tuple[Path, Path]) -> dict[str, bool]:
    """Hold counts and credits against the same tables in memory."""
    tables = [pl.read_parquet(place).cast(pl.Int64) for place in places]
    keys = [name for name in tables[0].columns if name != "id"]
    names = list(store.names)
    groups, risk = count_groups(store), unmask.group_risk(tables[1], quasi=keys)
    there = groups.size > 0
    sets, uniques = count_sets(store, 3, 5, lambda *_: None)
    sweep = unmask.knowledge_sweep(tables[1], quasi=names, max_size=3)
    found = unmask.special_uniques(tables[1], quasi=names, max_size=3)
    masks, number = np.unique(found.msu_mask, return_counts=True)
    joined = tables[0].join(tables[1], on="id", suffix=" released")
    own = pl.all_horizontal(pl.col(name) == pl.col(f"{name} released") for name in keys)
    asked = sample_people(store, 2000, 0)
    near = find_nearest(store, asked, placed_by_distance(store), lambda *_: None)
    said = {key.name: "numeric" if key.numeric else "categorical" for key in store.keys}
    release = unmask.Release(*tables, id="id", quasi=keys, kinds=said)
    whole = unmask.link_nearest(release, decision_only=True)
    rows = np.array([int(one) for one in asked.ids])
    return {
        "sizes of groups": bool(
            np.array_equal(groups.size[there], risk.sizes.size)
            and np.array_equal(groups.groups[there], risk.sizes.groups)
        ),
        "people whose own record equals them": int(groups.own.sum()) == joined.filter(own).height,
        "groups of every set": all(
            np.array_equal(getattr(sets, name), getattr(sweep, name)) for name in ("n_groups", "n_unique", "n_below")
        ),
        "minimal sample uniques of every set": bool(
            np.array_equal(uniques.masks, masks) and np.array_equal(uniques.number, number)
        ),
        "pairs that agree on 45 sets of keys": agreeing(store, tables),
        "credits of nearest records": bool(np.array_equal(near.credit, whole.credit[rows])),
    }


def agreeing(store: object, tables: list[pl.DataFrame]) -> bool:
    """Pairs that agree on one, two, all but one and all keys: those of the patterns, and of polars' group-bys."""
    patterns = count_patterns(store, lambda *_: None)
    names = [store.names[j] for j in patterns.keys]
    m = len(names)
    digits = np.array(np.unravel_index(patterns.code, [2 + gap for gap in patterns.gaps]))
    for chosen in (chosen for k in (1, 2, m - 1, m) for chosen in combinations(range(m), k)):
        keys = [names[j] for j in chosen]
        left, right = (table.group_by(keys).len() for table in tables)
        wanted = left.join(right, on=keys).select((pl.col("len").cast(pl.Int64) * pl.col("len_right")).sum()).item()
        if wanted != int(patterns.number[(digits[list(chosen)] == 0).all(axis=0)].sum()):
            return False
    return True


def exponents(runs: list[dict[str, object]]) -> dict[str, float]:
    """How CPU time grows between the two largest sizes: time ~ rows^exponent."""
    if len(runs) < 2:
        return {}
    a, b = runs[-2:]
    scale = np.log(b["rows"] / a["rows"])
    return {
        name: round(float(np.log(max(b["steps"][name]["cpu"], 0.01) / max(a["steps"][name]["cpu"], 0.01)) / scale), 2)
        for name in b["steps"]
        if name in a["steps"] and b["steps"][name]["cpu"] >= SHORT
    }


def one_size(n: int, threads: int, how: str, form: str) -> dict[str, object]:
    """Make the tables, measure and remove them: each in a process of its own, so that memory is of the measures."""
    folder = Path(tempfile.mkdtemp(prefix="unmask-large-"))
    try:
        subprocess.run([sys.executable, __file__, f"--make-{form}", str(folder), str(n), "1"], check=True)
        asked = [sys.executable, __file__, how, str(folder), str(n), str(threads)]
        load = os.getloadavg()[0]
        done = subprocess.run(asked, stdout=subprocess.PIPE, check=True)
        told = {"form": form, "load": round(load, 1), "threads": threads, "peak_of": "each step"}
        return {**json.loads(done.stdout), **told}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def part(what: str, folder: Path, n: int, threads: int) -> None:
    """One of the processes of a size."""
    if what.startswith("--make"):
        write_tables(folder, n, text=what.endswith("csv"))
        return
    tempfile.tempdir = str(folder / "work")
    Path(tempfile.tempdir).mkdir()
    sys.stdout.write(json.dumps(measure(folder, n, threads, compared=what == "--compared")))


def form_of(run: dict[str, object]) -> str:
    """Parquet unless it says otherwise."""
    return str(run.get("form", "parquet"))


def write_results(runs: list[dict[str, object]]) -> None:
    """Write what was found, with the exponents of Parquet, and whether CSV gave the same figures."""
    plain = {run["rows"]: run for run in runs if form_of(run) == "parquet"}
    same = {run["rows"]: run["figures"] == plain[run["rows"]]["figures"] for run in runs
            if form_of(run) == "csv" and run["rows"] in plain}  # fmt: skip
    told = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, shared; memory {MEMORY}",
        "versions": {name: version(name) for name in ("duckdb", "polars", "numpy")},
        "runs": sorted(runs, key=lambda one: (form_of(one) != "parquet", one["rows"])),
        "exponents": exponents([plain[n] for n in sorted(plain)]),
        "csv_equals_parquet": same,
    }
    RESULTS.write_text(json.dumps(told, indent=1) + "\n")


def write_page() -> None:
    """Write the table of the docs: CPU seconds and memory of each step, by the number of rows."""
    known = json.loads(RESULTS.read_text())
    steps = list(dict.fromkeys(name for run in known["runs"] for name in run["steps"]))
    heads = [f"{run['rows']:,} rows" + (", CSV" if form_of(run) == "csv" else "") for run in known["runs"]]
    lines = [f"| step | {' | '.join(heads)} | exponent |", "|---" * (len(heads) + 2) + "|"]
    for name in steps:
        cells = []
        for run in known["runs"]:
            step = run["steps"].get(name)
            cells.append("" if step is None else f"{step['cpu']:,.1f} s, {step['peak_gb']:.2f} GB")
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} | {known['exponents'].get(name, '')} |")
    whole = [f"{sum(step['cpu'] for step in run['steps'].values()):,.0f} s, "
             f"{max(step['peak_gb'] for step in run['steps'].values()):.2f} GB" for run in known["runs"]]  # fmt: skip
    lines.append(f"| **all, and the most memory** | {' | '.join(whole)} | |")
    told = [
        f"{head}: {run.get('threads', 1)} thread{'s' * (run.get('threads', 1) > 1)}, load {run['load']}, memory of "
        f"{'each step' if run.get('peak_of') else 'all steps until then'}"
        for head, run in zip(heads, known["runs"], strict=True)
    ]
    same = known.get("csv_equals_parquet", {})
    text = [
        f"CSV of {int(n):,} rows gives {'the same' if one else 'OTHER'} figures as Parquet." for n, one in same.items()
    ]
    block = "\n".join([*lines, "", "; ".join(told) + ". " + " ".join(text)]) + "\n"
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{block}\n{END}{rest.split(END)[1]}")


def main() -> None:
    """Run each size, and write what was found as it comes."""
    if sys.argv[1].startswith(("--make", "--measure")) or sys.argv[1] == "--compared":
        part(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return
    if sys.argv[1] == "--page":
        write_page()
        return
    asked = argparse.ArgumentParser()
    asked.add_argument("rows", type=int, nargs="+")
    asked.add_argument("--threads", type=int, default=1)
    asked.add_argument("--compare", action="store_true")
    asked.add_argument("--csv", action="store_true")
    given = asked.parse_args()
    form = "csv" if given.csv else "parquet"
    for n in sorted(given.rows):
        sys.stderr.write(f"{n:,} rows\n")
        run = one_size(n, given.threads, "--compared" if given.compare else "--measure", form)
        before = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
        write_results([run, *(one for one in before if (one["rows"], form_of(one)) != (n, form))])


if __name__ == "__main__":
    main()
