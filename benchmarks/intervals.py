"""How often do the intervals of the report cover the truth? As many draws as you say, the truth being their mean.

``python benchmarks/intervals.py`` takes some ten minutes (``--draws`` says how many draws, ``--case`` asks for one
case). Each draw masks the same people of the census anew (``--new``: other people), runs the measures as `assess` does
and keeps every judged estimate. A figure's truth is its mean over all draws: what these very people may expect of this
masking, as the risk of a person is. No times: results do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

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
}


def draw(masking: str, n: int, seed: int, *, new: bool = False) -> dict[str, Estimate]:
    """Judged estimates of one draw by key: people of the census, as many outside, and one masking of the former."""
    people = unmask.datasets.census(2 * n, seed=seed if new else 0).select(COLUMNS)
    inside, outside = people[:n], people[n:]
    masked = unmask.parse_masking(masking).apply(inside, seed=seed)
    release = unmask.Release(inside, masked, control=outside)
    secret = unmask.Release(inside, masked, control=outside, confidential=["other_income"])
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


def main() -> None:
    """Print a table for each case, and the same as JSON where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--case", choices=list(CASES), action="append")
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--json")
    given = parser.parse_args()
    found = {}
    for case in given.case or CASES:
        found[case] = coverage([draw(*CASES[case], seed, new=given.new) for seed in range(1, given.draws + 1)])
        sys.stdout.write(
            f"\n{case}\n{'':24}{'truth':>8}{'covers':>8}{'above':>8}{'below':>8}{'width':>8}{'needed':>8}\n"
        )
        for key, row in found[case].items():
            sys.stdout.write(f"{key:24}" + "".join(f"{value:8.3f}" for value in row.values()) + "\n")
        sys.stdout.flush()
    if given.json:
        Path(given.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
