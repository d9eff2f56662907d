"""What does each measure take on patients, up to a million of them? CPU seconds and memory, with exponents.

``python benchmarks/scale_patients.py`` attacks the demo's release (categories, dates, towns, gaps, two confidential
columns) of 30,000, 100,000 and 300,000 patients as `assess` does: one study for all measures, each exact or asking for
some people as the plan has it by default. ``--n`` names other sizes, ``--only`` measures; ``--whole N`` assesses
N patients once, with everything, and keeps CPU time, memory and verdict. Results are kept one by one in
benchmarks/results/scale_patients.json; ``--table`` writes them into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

from scale import PAGE, exponent, release_of, spent

import unmask
from unmask.assessment import discover, run_measure
from unmask.attacks import check, readable, with_plan
from unmask.evidence import Context, Policy
from unmask.planning import plan_attacks
from unmask.study import Study

RESULTS = Path(__file__).parent / "results" / "scale_patients.json"
SIZES = (30_000, 100_000, 300_000)
BEFORE = "reading, checking, encoding"
BEGIN, END = "<!-- patients -->\n", "<!-- end patients -->\n"


def kept(case: str, n: int, told: dict) -> None:
    """Keep one result."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(case, {})[str(n)] = told
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    print(case, n, told, flush=True)


def measured(n: int, only: list[str]) -> None:
    """Run what is asked for on n patients, and keep every result as it comes."""
    small = Study(release_of("patients", 300).in_order_of_content())
    begun = time.process_time()
    study = readable(Study(release_of("patients", n).without_redundant().in_order_of_content()))
    check(study)
    study.encoding()
    kept(BEFORE, n, {"cpu": round(time.process_time() - begun, 2), "memory": 0})
    release = study.release
    plan = plan_attacks(release, list(discover().values()), Policy.load())
    for name in only or list(discover()):
        if discover()[name].applies(release) is not None:
            continue
        run_measure(discover()[name], small, Context(0))  # loads the kernels
        context = with_plan(Context(0), release, plan[name])
        told = spent(study, name, context)
        if told:
            asked = None if context.people is None else int(context.people.size)
            kept(name, n, {**told, **({"asked": asked} if asked else {})})


def whole(n: int) -> None:
    """Assess n patients with everything."""
    release = release_of("patients", n)
    begun, wall = time.process_time(), time.monotonic()
    found = unmask.assess(release)
    told = {
        "cpu": round(time.process_time() - begun, 1),
        "wall": round(time.monotonic() - wall, 1),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "verdict": found.verdict,
        "reason": found.reason,
    }
    kept("whole", n, told)


def table(known: dict) -> str:
    """Measures in the order of what they cost at the largest n that was measured."""
    found = {name: {int(n): one for n, one in by.items()} for name, by in known.items() if name != "whole"}
    sizes = sorted({n for by in found.values() for n in by})
    top = {name: by[max(by)]["cpu"] * max(sizes) / max(by) for name, by in found.items()}
    lines = [
        "| measure | " + " | ".join(f"n = {n:,}" for n in sizes) + " | memory at the largest n | exponent |",
        "|---|" + "---:|" * (len(sizes) + 2),
    ]
    for name in sorted(found, key=lambda name: -top[name]):
        by = found[name]
        exact = {n: one["cpu"] for n, one in by.items() if "asked" not in one}
        slope = exponent(exact)
        cells = [f"{by[n]['cpu']:.1f} s{' *' if 'asked' in by[n] else ''}" if n in by else "" for n in sizes]
        memory = f"{by[max(by)]['memory'] / 1e6:,.0f} MB" if by[max(by)]["memory"] else ""
        lines.append(f"| {name} | {' | '.join(cells)} | {memory} | {'' if slope is None else f'{slope:.2f}'} |")
    return "\n".join(lines)


def write_page() -> None:
    """Write the table into the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table(json.loads(RESULTS.read_text())) + "\n\n" + END + rest.split(END)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--whole", type=int, help="assess so many patients with everything, once")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.whole:
        whole(given.whole)
    elif not given.table:
        for n in given.n:
            measured(n, given.only)
    write_page()


if __name__ == "__main__":
    main()
