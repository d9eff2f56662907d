"""How often do the intervals of the report cover the truth? As many draws as you say, the truth being their mean.

``python benchmarks/intervals.py`` takes some ten minutes (``--draws`` says how many draws, ``--case`` asks for one
case). Two truths. *The same people*: each draw masks the same people of the census anew, and the truth is what these
very people may expect of this masking, as the risk of a person is. *New people*: each draw takes other people of a
generated population, and noise whose sd does not depend on them; the truth is what anybody of this population may
expect. Each draw runs the measures as `assess` does and keeps every judged estimate; a figure's truth is its mean over
all draws. Results are kept case by case in benchmarks/results/intervals.json (``--table`` prints them for the page).
No times: results do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import unmask
from unmask.assessment import discover, run_measure
from unmask.evidence import Context, Evidence

if TYPE_CHECKING:
    from unmask.evidence import Estimate

COLUMNS = ["gross_income", "employer_contribution", "federal_tax", "other_income", "interest", "social_contribution"]
MEASURES = ("nearest", "one_to_one", "knowledge_curve", "inference", "membership")
CASES = {
    "noise 0.15": ("noise(0.15)", 200),
    "noise 0.5": ("noise(0.5)", 200),
    "rank swapping": ("rank_swap(share=0.1)", 200),
    "noise 0.15, 60 people": ("noise(0.15)", 60),
    "new people, noise 0.5": (0.5, 200),
    "new people, noise 1": (1.0, 200),
    "new people, noise 0.5, 60 people": (0.5, 60),
}
RESULTS = Path(__file__).parent / "results" / "intervals.json"


def generated(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """People of a population of normal columns with correlations of 0.3."""
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, len(COLUMNS)))
    return pl.DataFrame(np.sqrt(0.3) * common + np.sqrt(0.7) * own, schema=COLUMNS)


def masked(masking: str | float, n: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """People inside, as many outside, and the release: the same people of the census, or new ones for a plain sd."""
    if isinstance(masking, str):
        people = unmask.datasets.census(2 * n, seed=0).select(COLUMNS)
        return people[:n], people[n:], unmask.parse_masking(masking).apply(people[:n], seed=seed)
    rng = np.random.default_rng([seed, n])
    people = generated(2 * n, rng)
    return people[:n], people[n:], people[:n].select(pl.col(name) + rng.normal(0, masking, n) for name in COLUMNS)


def draw(masking: str | float, n: int, seed: int) -> dict[str, Estimate]:
    """Judged estimates of one draw by key."""
    inside, outside, made = masked(masking, n, seed)
    release = unmask.Release(inside, made, control=outside)
    secret = unmask.Release(inside, made, control=outside, confidential=["other_income"])
    found: dict[str, Estimate] = {}
    for name in MEASURES:
        told = run_measure(discover()[name], secret if name == "inference" else release, Context(seed))
        if isinstance(told, Evidence):
            found |= {entry.key: entry.estimate for entry in told.observations}
    return found


def coverage(draws: list[dict[str, Estimate]]) -> dict[str, dict[str, float]]:
    """For each key the truth, the share of draws that cover it, and the shares that are above and below it."""
    table = {}
    for key in draws[0]:
        values = np.array([one[key].value for one in draws])
        truth = float(values.mean())
        above = float(np.mean([one[key].low > truth for one in draws]))
        below = float(np.mean([one[key].high < truth for one in draws]))
        width = float(np.mean([one[key].high - one[key].low for one in draws]))
        table[key] = {"truth": truth, "covers": 1 - above - below, "above": above, "below": below, "width": width,
                      "needed": float(2 * 1.96 * values.std())}  # fmt: skip
    return table


def table(found: dict[str, dict[str, dict[str, float]]], cases: list[str]) -> str:
    """Markdown: for each figure and case the share of draws that cover, and those above and below the truth."""
    lines = ["| figure | " + " | ".join(cases) + " |", "|---|" + "---|" * len(cases)]
    for key in found[cases[0]]:
        rows = [found[case][key] for case in cases]
        told = [f"{row['covers']:.1%} ({100 * row['above']:.1f} above, {100 * row['below']:.1f} below)" for row in rows]
        lines.append(f"| `{key}` | " + " | ".join(told).replace("%", " %") + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print a table for each case, and keep it at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--case", choices=list(CASES), action="append")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    found = json.loads(given.json.read_text(encoding="utf-8")) if given.json.exists() else {}
    for case in () if given.table else given.case or CASES:
        found[case] = coverage([draw(*CASES[case], seed) for seed in range(1, given.draws + 1)])
        sys.stderr.write(
            f"\n{case}\n{'':24}{'truth':>8}{'covers':>8}{'above':>8}{'below':>8}{'width':>8}{'needed':>8}\n"
        )
        for key, row in found[case].items():
            sys.stderr.write(f"{key:24}" + "".join(f"{value:8.3f}" for value in row.values()) + "\n")
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for new in (False, True):
        cases = [case for case in CASES if case in found and case.startswith("new") == new]
        sys.stdout.write(table(found, cases) + "\n" if cases else "")


if __name__ == "__main__":
    main()
