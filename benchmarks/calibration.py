"""Can the risks of people be relied on? Five maskings of two tables, each attacked again on fresh draws.

``python benchmarks/calibration.py`` takes a minute (``--people``, ``--tables``, ``--draws``). A person's risk is told
from one release; how often they are found is counted in the other draws of the same masking. People are put in the
order of their risk, in tenths: the calibration error is the mean difference between the risks of a tenth and the share
of it that was found. Results are kept in benchmarks/results/calibration.json. No times: they do not depend on the
machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import unmask
from unmask.evidence import Evidence, Observation, Reported, rate
from unmask.people import risk_of_people
from unmask.people.calibration import calibration_error, reliability

if TYPE_CHECKING:
    import polars as pl

RESULTS = Path(__file__).parent / "results" / "calibration.json"
TABLES = {
    "census": ("gross_income", "employer_contribution", "federal_tax", "other_income", "interest"),
    "patients": ("cost", "bmi", "days", "height"),
}
MASKINGS = ("noise(0.3)", "noise(0.7)", "correlated_noise(0.5)", "rank_swap(share=0.1)", "microaggregation(3)")


def people_of(table: str, n: int, seed: int) -> pl.DataFrame:
    """Some people of a table."""
    whole = unmask.datasets.census(1080) if table == "census" else unmask.datasets.patients(1080, seed=0)
    return whole.select(TABLES[table]).sample(n, seed=seed, shuffle=True)


def told(release: unmask.Release, hits: np.ndarray) -> np.ndarray:
    """The risks that the hits of one draw tell."""
    seen = Observation("nearest.rate", "c.", rate(hits, chance=0.0))
    return risk_of_people(release, [Reported("nearest", "", "", Evidence((seen,), per_record=hits))], _never).risk


def _never(*_: object) -> None:
    return None


def measured(table: str, masking: str, sizes: tuple[int, int, int]) -> dict[str, float]:
    """Calibration error over some tables of so many people, and of the hits themselves, as they were told before."""
    n, tables, draws = sizes
    risks, raw, found = [], [], []
    for seed in range(tables):
        people = people_of(table, n, seed)
        releases = [unmask.Release(people, unmask.parse_masking(masking).apply(people, seed=d)) for d in range(draws)]
        hits = np.array([unmask.link_nearest(release).credit for release in releases])
        for place, release in enumerate(releases):
            risks.append(told(release, hits[place]))
            raw.append(hits[place])
            found.append(np.delete(hits, place, 0).mean(0))
    fresh = np.concatenate(found)
    errors = (calibration_error(reliability(np.concatenate(side), fresh)) for side in (risks, raw))
    return dict(zip(("error", "error of hits"), errors, strict=True)) | {"found": float(fresh.mean())}


def main() -> None:
    """Print a row for each table and masking, and keep it at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=400)
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--json", type=Path, default=RESULTS)
    given = parser.parse_args()
    rows = []
    for table in TABLES:
        for masking in MASKINGS:
            found = measured(table, masking, (given.people, given.tables, given.draws))
            rows.append({"table": table, "masking": masking, **found})
            given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
            shares = " | ".join(f"{100 * found[name]:.1f} %" for name in ("found", "error", "error of hits"))
            sys.stdout.write(f"| {table} | `{masking}` | {shares} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
