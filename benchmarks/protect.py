"""How far `protect` and `fix` come: safe releases of known tables, other seeds, and the fewest cells.

    python benchmarks/protect.py suppression            # cells: ours, the bound, all recodings, sdcMicro's algorithm
    python benchmarks/protect.py release --table census # search for a safe release; goes on where it was stopped
    python benchmarks/protect.py seeds --table census   # attack the result with 20 other seeds; goes on as well

Tables: `three` (census(400), three columns: minutes), `demo`, `census`, `household` (the first 400 to 600 rows of the
files in `UNMASK_DATA`, hours on one core). Everything finished is kept in FOLDER; results go to results/protect.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import unmask
from unmask.explore import begin
from unmask.protect.coarsening import candidates

HERE = Path(__file__).parent
RESULTS, FOLDER = HERE / "results" / "protect.json", HERE / ".protect"
DATA = Path(os.environ.get("UNMASK_DATA", HERE.parents[1] / "shared" / "data"))
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
SEEDS, POLICY = 20, "partner"


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
    """Search, and hold the result against every masking of all columns at once."""
    rows, roles = table(name)
    began = time.perf_counter()
    found = unmask.protect_table(rows, policy=POLICY, folder=FOLDER / name, resume=True, **roles)
    whole = [point for point in found.frontier.points if point.stage == "whole" and point.verdict == "safe"]
    single = [point.utility for point in whole if not point.masking.startswith("chain") and point.masking]
    final = found.final
    keep("release", name, {
        "rows": rows.height, "columns": rows.width, "safe": final is not None, "words": found.words,
        "masking": None if final is None else final.masking, "utility": None if final is None else final.utility,
        "best_single": max(single, default=None), "tried": len(found.frontier.points),
        "refused": len(found.refused), "seconds": round(time.perf_counter() - began),
    })  # fmt: skip


def seeds(name: str) -> None:
    """Attack the recommended release with other seeds; each verdict is written as soon as it is there."""
    rows, roles = table(name)
    known = json.loads(RESULTS.read_text())
    masking = known["release"][name]["masking"]
    job, *_ = begin(rows, POLICY, "maximum", (), 0, dict(roles))
    verdicts = known.get("seeds", {}).get(name, {}).get("verdicts", {})
    for seed in range(1, SEEDS + 1):
        if str(seed) in verdicts:
            continue
        done = unmask.assess(job.release(masking, 1), policy=POLICY, seed=seed)
        verdicts[str(seed)] = done.verdict if done.verdict == "safe" else f"{done.verdict}: {done.reason}"
        safe = sum(verdict == "safe" for verdict in verdicts.values())
        keep("seeds", name, {"masking": masking, "ran": len(verdicts), "safe": safe, "verdicts": verdicts})


def suppression() -> None:
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
    reader.add_argument("part", choices=("suppression", "release", "seeds"))
    reader.add_argument("--table", default="three", choices=("three", "demo", "census", "household"))
    given = reader.parse_args()
    FOLDER.mkdir(exist_ok=True)
    sys.exit({"suppression": suppression}.get(given.part, lambda: globals()[given.part](given.table))())
