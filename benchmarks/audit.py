"""How often does an audit accuse a mechanism that is as private as it says, and how often does it find one that is not?

    python benchmarks/audit.py                 what is missing of the plan below
    python benchmarks/audit.py --table         what is known so far, as the table of docs/audit.md

Each mechanism is audited with as many seeds, with other people beside the canary. Results are kept after each audit
in benchmarks/results/audit.json. No times: results do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import unmask

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results" / "audit.json"
SEEDS, RUNS, PEOPLE = 100, 200, 10


def people(seed: int) -> pl.DataFrame:
    """Sixty people: an age, a category."""
    rng = np.random.default_rng([seed, 7])
    return pl.DataFrame({"age": rng.integers(20, 80, 60), "sex": rng.choice(["f", "m"], 60)})


def response(epsilon: float) -> Callable[[pl.DataFrame, int], pl.DataFrame]:
    """Randomised response on a category of two: true with probability e^epsilon / (1 + e^epsilon)."""

    def made(table: pl.DataFrame, seed: int) -> pl.DataFrame:
        lie = np.random.default_rng(seed).random(table.height) > np.exp(epsilon) / (1 + np.exp(epsilon))
        other = pl.when(pl.col("sex") == "f").then(pl.lit("m")).otherwise(pl.lit("f"))
        return table.select(pl.when(pl.lit(pl.Series(lie))).then(other).otherwise(pl.col("sex")).alias("sex"))

    return lambda table, seed: made(table, seed).with_columns(age=pl.lit(0))


def small_noise(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Laplace noise for a sensitivity of 10 where bounds are 100 apart."""
    noise = np.random.default_rng(seed).laplace(0, 10.0, table.height)
    return table.with_columns(pl.col("age").clip(0, 100) + pl.Series(noise))


CASES: dict[str, tuple[Any, float, list[str], bool]] = {  # mechanism, claim, columns, whether the claim is true
    "laplace, epsilon 1": ("laplace(1, [(age, 0, 100)])", 1.0, ["age"], True),
    "geometric, epsilon 2": ("geometric(2, [(age, 0, 100)])", 2.0, ["age"], True),
    "gaussian, epsilon 1, delta 0.01": ("gaussian(1, 0.01, [(age, 0, 100)])", 1.0, ["age"], True),
    "dp_histogram, epsilon 1": ("dp_histogram(1, [(age, 0, 100, 10), (sex, [f, m])])", 1.0, ["age", "sex"], True),
    "randomised response, epsilon 1": (response(1.0), 1.0, ["sex"], True),
    "laplace, epsilon 5 said to be 1": ("laplace(5, [(age, 0, 100)])", 1.0, ["age"], False),
    "dp_histogram, epsilon 5 said to be 1": ("dp_histogram(5, [(age, 0, 100, 10)])", 1.0, ["age"], False),
    "noise for a sensitivity of 10, bounds 100 apart": (small_noise, 1.0, ["age"], False),
    "noise(0.5) said to have epsilon 1": ("noise(0.5, columns=[age])", 1.0, ["age"], False),
}


def audited(case: str, seed: int) -> dict[str, Any]:
    """One audit."""
    masking, claimed, columns, _ = CASES[case]
    found = unmask.audit_privacy(
        people(seed), masking, epsilon=claimed, columns=columns, runs=RUNS, people=PEOPLE, seed=seed
    )
    return {"case": case, "seed": seed, "shown": round(found.shown, 4), "refuted": found.refuted}


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: how many audits refuted the claim, and what was shown in the middle of them."""
    lines = ["| mechanism | claim | audits | refuted | shown, median |", "|---|---|---|---|---|"]
    for case, (_, _, _, true) in CASES.items():
        some = [row for row in rows if row["case"] == case]
        if some:
            middle = float(np.median([row["shown"] for row in some]))
            refuted = sum(row["refuted"] for row in some)
            lines.append(f"| {case} | {'true' if true else 'false'} | {len(some)} | {refuted} | {middle:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Do what is missing, and keep every result at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    rows = json.loads(given.json.read_text(encoding="utf-8")) if given.json.exists() else []
    done = {(row["case"], row["seed"]) for row in rows}
    plan = [(case, seed) for seed in range(given.seeds) for case in CASES if (case, seed) not in done]
    for case, seed in () if given.table else plan:
        rows.append(audited(case, seed))
        rows.sort(key=lambda row: (list(CASES).index(row["case"]), row["seed"]))
        given.json.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    sys.stdout.write(table(rows))


if __name__ == "__main__":
    main()
