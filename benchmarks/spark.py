"""The Spark engine on one machine: CPU seconds of each step for tables that Spark itself makes, in parts, as Parquet.

    python benchmarks/spark.py 100000 1000000 10000000        # writes benchmarks/results/spark.json
    python benchmarks/spark.py --only anonymity,nearest 10000000
    python benchmarks/spark.py --log FILE                     # the steps that a run had ended before it was stopped
    python benchmarks/spark.py --page                         # writes the table and the plan of docs/large.md

CPU time is that of all processes together: this one, Java's, and the Python workers. Sizes are run one after another
in one session, the first after a small table, so that starting and compiling are not counted.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

from unmask.assessment import discover
from unmask.attacks import seed_of
from unmask.engines import open_store
from unmask.large import Large
from unmask.large_assessment import MEASURES

RESULTS = Path(__file__).parent / "results" / "spark.json"
PARTS = 250_000  # rows of a part
MASTER = "local[2]"
FAR, FARTHEST = 100_000_000, 1_000_000_000
PAGE = Path(__file__).parents[1] / "docs" / "large.md"
BEGIN, END = "<!-- spark: benchmarks/spark.py --page -->\n", "<!-- end spark -->\n"
CORES = 100  # of the cluster that the plan is for


def write_tables(session, folder: Path, n: int) -> None:
    """Eight keys, as in benchmarks/large.py: one age in three is moved by a year, one town in ten is another."""
    draw = "pmod(xxhash64(id, {0}), {1})".format
    keys = {
        "sex": draw(1, 2), "age": draw(2, 100), "town": f"floor(sqrt({draw(3, 160000)}))", "education": draw(4, 7),
        "work": f"floor(sqrt({draw(5, 3600)}))", "month": draw(6, 12), "rooms": draw(7, 8), "origin": draw(8, 30),
    }  # fmt: skip
    moved = {
        **keys,
        "age": f"{keys['age']} + CASE {draw(9, 6)} WHEN 0 THEN -1 WHEN 1 THEN 1 ELSE 0 END",
        "town": f"CASE WHEN {draw(10, 10)} = 0 THEN {draw(11, 400)} ELSE {keys['town']} END",
    }
    rows = session.range(0, n, 1, max(2, n // PARTS))
    for name, columns in (("original", keys), ("released", moved)):
        chosen = [f"CAST({column} AS INT) AS {key}" for key, column in columns.items()]
        rows.selectExpr("id", *chosen).write.parquet(str(folder / name))


def spent() -> float:
    """CPU seconds of this process and of all that descend from it."""
    ticks, parents, used = os.sysconf("SC_CLK_TCK"), {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(place.name)], used[int(place.name)] = int(words[1]), sum(map(int, words[11:15]))

    def ours(pid: int) -> bool:
        while pid in parents:
            if pid == os.getpid():
                return True
            pid = parents[pid]
        return False

    return sum(used[pid] for pid in used if ours(pid)) / ticks


def measure(session, n: int, names: list[str]) -> dict[str, object]:
    """Run measures once on tables of n rows, which are made and removed."""
    folder = Path(tempfile.mkdtemp(prefix="unmask-spark-"))
    steps: dict[str, dict[str, float]] = {}
    try:
        write_tables(session, folder, n)
        frames = [session.read.parquet(str(folder / name)) for name in ("original", "released")]
        last = time.perf_counter(), spent()

        def note(name: str) -> None:
            nonlocal last
            now = time.perf_counter(), spent()
            wall, cpu = (round(b - a, 2) for a, b in zip(last, now, strict=True))
            steps[name] = {"wall": wall, "cpu": cpu}
            sys.stderr.write(f"  {name}: {wall} s wall, {cpu} s CPU\n")
            last = time.perf_counter(), spent()

        with open_store(*frames, id="id") as store:
            note("reading and coding")
            large, entries = Large(store, 2000, 3, 0, 20.0 * n), discover()
            figures = {}
            for name in names:
                told = large.run(name, seed_of(0, entries[name]), lambda *_: None)
                figures |= {one.key: one.estimate.value for one in told.observations}
                note(name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"rows": n, "steps": steps, "figures": figures, "load": round(os.getloadavg()[0], 1)}


def fitted(runs: list[dict[str, object]]) -> dict[str, dict[str, float]]:
    """Of each step: exponent and cost of each further row between the two largest sizes that have it, and 1e8 and 1e9.

    What is far is given from the cost of each further row, which leaves out what is fixed, to plain proportion, or to
    the fitted exponent where it is above 1.
    """
    found = {}
    for name in dict.fromkeys(name for run in runs for name in run["steps"]):
        known = [(run["rows"], run["steps"][name]["cpu"]) for run in runs if name in run["steps"]]
        if len(known) > 1:
            (a, s), (b, t) = known[-2:]
            exponent = float(np.log(max(t, 0.01) / max(s, 0.01)) / np.log(b / a))
            each = max(t - s, 0.0) / (b - a)
            found[name] = {"exponent": round(exponent, 2), "microseconds_each": round(1e6 * each, 2)}
            for rows, word in ((FAR, "1e8"), (FARTHEST, "1e9")):
                found[name] |= {
                    f"hours_at_{word}_least": round((t + each * (rows - b)) / 3600, 2),
                    f"hours_at_{word}": round(t * (rows / b) ** max(exponent, 1.0) / 3600, 2),
                }
    return found


def write_page() -> None:
    """Write the table of the docs, what 1e8 rows would take, and the plan for 1e9."""
    known = json.loads(RESULTS.read_text())
    runs, far = known["runs"], known["fitted"]
    heads = " | ".join(f"{run['rows']:,} rows" for run in runs)
    lines = [
        f"| step | {heads} | exponent | for each further row | 1e8 rows, CPU |",
        "|---" * (len(runs) + 4) + "|",
    ]
    for name in dict.fromkeys(name for run in runs for name in run["steps"]):
        one = far.get(name)
        cells = " | ".join(f"{run['steps'][name]['cpu']:,.1f} s" if name in run["steps"] else "" for run in runs)
        if one is None:
            lines.append(f"| {name} | {cells} | | | not fitted |")
            continue
        hours = [60 * one[f"hours_at_1e8{end}"] for end in ("_least", "")]
        lines.append(
            f"| {name} | {cells} | {one['exponent']} | {one['microseconds_each']} µs | "
            f"{hours[0]:,.0f} to {hours[1]:,.0f} min |"
        )
    low, high = (sum(one[f"hours_at_1e9{end}"] for one in far.values()) for end in ("_least", ""))
    loads = ", ".join(str(run["load"]) for run in runs)
    how = (
        f"Exponents and the cost of each further row are those between the two largest sizes; {known['machine']}, "
        f"load {loads}. The last column is carried on: from the cost of each further row to plain proportion (to the "
        "exponent where it is above 1). 1e8 rows were not run."
    )
    plan = (
        f"**A plan for 1e9 rows**, from these figures, not tried: {', '.join(far)} take {low:,.1f} to {high:,.1f} CPU "
        f"hours, {60 * low / CORES:,.0f} to {60 * high / CORES:,.0f} minutes on {CORES} cores if all are busy. Give "
        "Parquet in parts of 100 to 200 MB; `--work` on the cluster's storage, about three times the size of the coded "
        "tables; whole numbers from 0 as ids, which need no hash; `--skip probabilistic`, whose rows come to one "
        "machine; `--only uniqueness,anonymity,nearest` first, then the sweep, 92 group-bys for eight columns."
    )
    stopped = [f"{run['rows']:,}" for run in runs if run.get("stopped")]
    if stopped:
        how += f" The run of {', '.join(stopped)} rows was stopped before its last step had ended."
    block = "\n".join([*lines, "", how, "", plan]) + "\n"
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{block}\n{END}{rest.split(END)[1]}")


def write_results(runs: list[dict[str, object]]) -> None:
    """Write all runs, and what follows from the two largest."""
    told = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, shared; {MASTER}; Java with 3 GB",
        "versions": {name: version(name) for name in ("pyspark", "pyarrow", "numpy")},
        "runs": sorted(runs, key=lambda one: one["rows"]),
    }
    RESULTS.write_text(json.dumps({**told, "fitted": fitted(told["runs"])}, indent=1) + "\n")


def read_log(path: Path) -> list[dict[str, object]]:
    """The runs of which a log tells, with the steps that had ended; the small table to begin with is left out."""
    runs: list[dict[str, object]] = []
    for line in path.read_text().splitlines():
        if size := re.fullmatch(r"([\d,]+) rows", line):
            runs.append({"rows": int(size[1].replace(",", "")), "steps": {}, "load": "not noted", "stopped": True})
        step = re.fullmatch(r"  (.+): ([\d.]+) s wall, ([\d.]+) s CPU", line)
        if step and runs:
            runs[-1]["steps"][step[1]] = {"wall": float(step[2]), "cpu": float(step[3])}
    return runs


def main() -> None:
    """Run the sizes that are named, and write what was found as it comes."""
    words = sys.argv[1:]
    if words == ["--page"]:
        write_page()
        return
    if words[0] == "--log":
        known = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
        ended = {run["rows"] for run in known if not run.get("stopped")}
        write_results([*known, *(run for run in read_log(Path(words[1])) if run["rows"] not in ended)])
        return
    names = words[1].split(",") if words[0] == "--only" else list(MEASURES)
    sizes = sorted(map(int, words[2:] if words[0] == "--only" else words))
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the workers
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER)
    for key, value in {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.log.level": "ERROR", "spark.driver.memory": "3g",
        "spark.sql.shuffle.partitions": "8",
    }.items():  # fmt: skip
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    runs = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
    sys.stderr.write("to begin with\n")
    measure(session, 5000, names)
    for n in sizes:
        sys.stderr.write(f"{n:,} rows\n")
        run = measure(session, n, names)
        runs = sorted([*(one for one in runs if one["rows"] != n), run], key=lambda one: one["rows"])
        write_results(runs)
    session.stop()


if __name__ == "__main__":
    main()
