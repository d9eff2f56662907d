"""How far `protect` and `fix` come: safe releases of known tables, other seeds, and the fewest cells.

    python benchmarks/protect.py suppression            # cells: ours, the bound, all recodings, sdcMicro's algorithm
    python benchmarks/protect.py release --table census # search for a safe release; goes on where it was stopped
    python benchmarks/protect.py seeds --table census   # attack the result with 20 other seeds; goes on as well
    python benchmarks/protect.py explore --table strong # 40 points at 10,000 people and ten mixed columns; suggested

Tables: `three` (census(400), three columns: minutes), `demo`, `census`, `household` (the first 400 to 600 rows of the
files in `UNMASK_DATA`, hours on one core). Everything finished is kept in FOLDER; results go to results/protect.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import unmask
from unmask.judging import judge_release
from unmask.masking import parse_masking
from unmask.protect.coarsening import candidates
from unmask.trying import begin

HERE = Path(__file__).parent
RESULTS, FOLDER = HERE / "results" / "protect.json", HERE / ".protect"
DATA = Path(os.environ.get("UNMASK_DATA", HERE.parents[1] / "shared" / "data"))
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
SEEDS, POLICY = 20, "partner"
KEEP = {"demo": ("mean(cost) by diagnosis", "mean(cost) by sex")}  # as `unmask demo` asks for
PEOPLE, JOBS = 10_000, int(os.environ.get("UNMASK_JOBS", "2"))
MIXED = [
    "sex", "birth date", "town", "children", "smoker", "days", "height", "bmi", "insurance", "diagnosis"
]  # fmt: skip


def table(name: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """One of the tables, and what its columns are."""
    if name == "three":
        return unmask.datasets.census(400).select("wages", "total_income", "interest"), {}
    if name == "demo":
        return unmask.datasets.patients(500), {"id": "patient", "confidential": ("diagnosis", "cost")}
    if name == "census":
        return pl.read_csv(DATA / "census.csv").head(600), {}
    household = pl.read_csv(DATA / "household.csv").head(600)
    return household.select(*KEYS, "income").with_columns(pl.col(*KEYS[:7], "hhcivil").cast(pl.String)), {}


def keep(part: str, name: str, found: object) -> None:
    """Add a result to the file."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(part, {})[name] = found
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    print(part, name, json.dumps(found), flush=True)


def release(name: str) -> None:
    """Search, and hold the result against every masking of all columns at once that `explore` would try."""
    rows, roles = table(name)
    began, cpu = time.perf_counter(), time.process_time()
    found = unmask.protect_table(
        rows, policy=POLICY, keep=KEEP.get(name, ()), folder=FOLDER / name, resume=True, **roles
    )
    job, whole, _ = begin(rows, POLICY, "maximum", (), 0, dict(roles))
    singles = {str(parse_masking(text)) for text in job.suggestions(whole)}
    left = 0.0 if found.final is None else found.final.utility
    points = {str(parse_masking(point.masking)): point for point in found.frontier.points if point.masking}
    above = [point for text, point in points.items() if text in singles and point.utility >= left]
    keep("release", name, {
        "rows": rows.height, "columns": rows.width, "safe": found.final is not None, "words": found.words,
        "masking": None if found.final is None else found.final.masking, "utility": left,
        "singles": len(singles & set(points)),
        "singles_more_useful": [[point.masking, point.utility, point.stage, point.verdict] for point in above],
        "tried": len(points), "refused": [point.reason for point in found.refused],
        "wall": round(time.perf_counter() - began), "cpu": round(time.process_time() - cpu), "commit": commit(),
    })  # fmt: skip


def seeds(name: str) -> None:
    """Attack the protected release with other seeds; each verdict is written as soon as it is there."""
    rows, roles = table(name)
    known = json.loads(RESULTS.read_text())
    masking = known["release"][name]["masking"]
    job, *_ = begin(rows, POLICY, "maximum", (), 0, dict(roles))
    before = known.get("seeds", {}).get(name, {})
    verdicts = before.get("verdicts", {}) if before.get("masking") == masking else {}
    for seed in range(1, SEEDS + 1):
        if str(seed) in verdicts:
            continue
        done = judge_release(job.release(masking, 1), policy=job.policy, seed=seed).verdict
        verdicts[str(seed)] = done.word if done.word == "safe" else f"{done.word}: {done.reason}"
        safe = sum(verdict == "safe" for verdict in verdicts.values())
        told = {"masking": masking, "ran": len(verdicts), "safe": safe, "verdicts": verdicts, "commit": commit()}
        keep("seeds", name, told)


def strong() -> list[str]:
    """Forty maskings of the mixed columns, most of them so strong that nearest-record linkage does not decide."""
    numbers, words = "days, height, bmi", "sex, town, children, insurance, diagnosis, smoker"
    shared = f"consistent(microaggregation(5, method=univariate, columns=[{numbers}]))"
    moved = [
        f"chain([{shared}, {way}])"
        for way in (f"data_shuffling([{numbers}])", f"rank_swap(share=0.5, columns=[{numbers}])")
    ]
    moved += [f"noise({size}, columns=[{numbers}])" for size in (1, 3)] + [f"drop([{numbers}])"]
    born = ["dates(decade, columns=['birth date'])", "drop(['birth date'])"]
    lots = [f"chain([rare(200, columns=[{words}]), pram({lot}, columns=[{words}])])" for lot in (0.2, 0.4, 0.6, 0.8)]
    return [f"chain([{', '.join(steps)}])" for steps in product(moved, born, lots)]


def explored(name: str) -> None:
    """Explore 40 points of a table of 10,000 people and ten mixed columns: what is suggested, or strong ones."""
    rows = unmask.datasets.patients(PEOPLE).select(MIXED)
    began = time.perf_counter()
    how: dict[str, object] = {"maskings": strong()} if name == "strong" else {"seeds": 4}
    found = unmask.explore(
        rows, policy=POLICY, folder=FOLDER / f"explore_{name}", resume=True, jobs=JOBS, progress=told, **how
    )
    best, stages = found.recommended, [f"{point.stage}, {point.verdict}" for point in found.points]
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    keep("explore", f"{PEOPLE:,} people, ten mixed columns, {name}", {
        "points": len(found.points), "stages": {stage: stages.count(stage) for stage in sorted(set(stages))},
        "recommended": None if best is None else best.words, "wall": round(time.perf_counter() - began), "jobs": JOBS,
        "cpu": round(sum(one.ru_utime + one.ru_stime for one in used)), "load": os.getloadavg()[1], "commit": commit(),
    })  # fmt: skip


def told(done: float, words: str) -> None:
    """Where the work is, with the processor seconds so far."""
    print(f"{time.process_time():7.1f} s {done:4.0%} {words[:150]}", flush=True)


def commit() -> str:
    """The commit that is measured."""
    return subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout.strip()


def suppression(_: str) -> None:
    """Cells at equal k: ours, the bound, and all combinations of recodings followed by suppression."""
    household, census = pl.read_csv(DATA / "household.csv"), pl.read_csv(DATA / "census.csv")
    for name, rows, k in (
        ("household, 9 keys", household.select(KEYS), 3),
        ("household, 9 keys", household.select(KEYS), 5),
        ("household, 7 keys, 400 rows", household.select(KEYS[:7]).head(400), 3),
    ):
        plan = unmask.fix_list(rows, quasi=rows.columns, k=k, coarsen=False)
        keep("suppression", f"{name}, k={k}", {"cells": plan.n_cells, "least": plan.least, "fewest": plan.fewest})
    for name, rows, k in (
        ("household, age, sex, relat", household.select("age", "sex", "relat"), 5),
        ("census, two incomes", census.select("AGI", "PEARNVAL"), 5),
    ):
        plan = unmask.fix_list(rows, quasi=rows.columns, k=k)
        best = min(recoded(rows, k))
        keep("recoding", f"{name}, k={k}", {"cost": plan.cost, "lattice": best, "ratio": plan.cost / best})


def recoded(rows: pl.DataFrame, k: int) -> list[float]:
    """The cost in cells of every combination of recodings, each with the cells that are then still to be blanked."""
    ones = np.ones(rows.height, np.int64)
    choices = [[None, *candidates(rows[name], ones)] for name in rows.columns]
    costs = []
    for chosen in product(*choices):
        steps = [step for step in chosen if step is not None]
        coarse = rows.with_columns(step.apply(rows[step.attribute]) for step in steps)
        blanked = unmask.fix_list(coarse, quasi=coarse.columns, k=k, coarsen=False).n_cells
        costs.append(blanked + sum(step.cost for step in steps))
    return costs


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("part", choices=("suppression", "release", "seeds", "explore"))
    tables = ("three", "demo", "census", "household", "suggested", "strong")
    reader.add_argument("--table", default="three", choices=tables, help="suggested and strong: of explore")
    given = reader.parse_args()
    FOLDER.mkdir(exist_ok=True)
    {"suppression": suppression, "release": release, "seeds": seeds, "explore": explored}[given.part](given.table)
