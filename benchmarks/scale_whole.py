"""What does a whole assessment take, and each measure in it? A table measure x n, with exponents.

``python benchmarks/scale_whole.py`` assesses releases of 1,000 to 1,000,000 people with everything, as `unmask assess`
does by default (``--n`` names other sizes, ``--case`` one of the two tables of benchmarks/scale.py). Kernels are
loaded before, by a small table. For each measure: CPU seconds, the most memory that the process held while it ran, and
how many people it asked for where these were not all; for the whole also wall time and verdict. Results are kept in
benchmarks/results/scale_whole.json after each assessment; ``--table`` writes them into docs/scale.md. The exponent is
the slope of log CPU over log n from 10,000 people on, in the form that is used at each n.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from linkage_parts.clock import processors
from scale import CASES, PAGE, SIZES, _peak, exponent, release_of

import unmask
from unmask import attacks
from unmask.evidence import Absence, Context, Evidence, Measure
from unmask.study import Study

RESULTS = Path(__file__).parent / "results" / "scale_whole.json"
WHOLE, REST = "all of it", "reading, checking, judging"
BEGIN, END = "<!-- whole -->\n", "<!-- end whole -->\n"
SHORT = 0.5  # CPU seconds at the largest n: no exponent is told of less


def assessed(case: str, n: int) -> dict[str, dict]:
    """Assess a release of n people with everything; what it took, by measure."""
    told: dict[str, dict] = {}
    plain = attacks.run_measure

    def timed(entry: Measure, study: Study, context: Context) -> Evidence | Absence:
        peaks.append(_peak(reset=True))
        begun = processors()
        found = plain(entry, study, context)
        if isinstance(found, Evidence):
            told[entry.name] = {"cpu": round(processors() - begun, 3), "memory": _peak()}
            told[entry.name] |= {} if context.people is None else {"asked": int(context.people.size)}
            print("  ", n, entry.name, told[entry.name], flush=True)
        elif found.outcome != "does not apply":
            print("  ", n, entry.name, found, flush=True)
        return found

    unmask.assess(release_of(case, 300))
    release = release_of(case, n)
    peaks = [0]
    _peak(reset=True)
    attacks.run_measure = timed
    try:
        begun, wall = processors(), time.monotonic()
        found = unmask.assess(release)
        cpu, wall = processors() - begun, time.monotonic() - wall
    finally:
        attacks.run_measure = plain
    peaks += [_peak(), *(one["memory"] for one in told.values())]
    rest = cpu - sum(one["cpu"] for one in told.values())
    return told | {
        REST: {"cpu": round(rest, 2)},
        WHOLE: {
            "cpu": round(cpu, 1), "wall": round(wall, 1), "memory": max(peaks), "verdict": found.verdict,
            "load": round(os.getloadavg()[0], 1),
        },
    }  # fmt: skip


def measured(case: str, n: int) -> None:
    """Assess once and keep what it took."""
    told = assessed(case, n)
    print(case, n, told[WHOLE], flush=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, one in told.items():
        known.setdefault(case, {}).setdefault(name, {})[str(n)] = one
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def table(found: dict[str, dict[int, dict]]) -> str:
    """One case: measures in the order of what they cost at the largest n, the whole last."""
    sizes = sorted(found[WHOLE])
    order = sorted(found, key=lambda name: (name == WHOLE, -found[name].get(sizes[-1], {"cpu": 0})["cpu"]))
    lines = [
        "| measure | " + " | ".join(f"n = {n:,}" for n in sizes) + " | memory | exponent |",
        "|---|" + "---:|" * (len(sizes) + 2),
    ]
    for name in order:
        by = found[name]
        slope = exponent({n: one["cpu"] for n, one in by.items()}) if by[max(by)]["cpu"] >= SHORT else None
        cells = [f"{by[n]['cpu']:,.1f} s{' *' if 'asked' in by[n] else ''}" if n in by else "" for n in sizes]
        memory = f"{by[max(by)]['memory'] / 1e9:.1f} GB" if name != REST else ""
        lines.append(f"| {name} | {' | '.join(cells)} | {memory} | {'' if slope is None else f'{slope:.2f}'} |")
    walls = ", ".join(
        f"{one['wall']:,.0f} s at n = {n:,} ({one['verdict']}; load {one['load']})"
        for n, one in sorted(found[WHOLE].items())
    )
    return "\n".join([*lines, "", f"By the clock: {walls}."])


def write_page() -> None:
    """Write the tables into the page."""
    known = json.loads(RESULTS.read_text())
    parts = []
    for case in CASES:
        if case in known:
            found = {name: {int(n): one for n, one in by.items()} for name, by in known[case].items()}
            parts.append(f"### {case.capitalize()}\n\n{table(found)}\n")
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(parts) + "\n" + END + rest.split(END)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.table:
        for n in given.n:
            for case in [given.case] if given.case else CASES:
                measured(case, n)
    write_page()


if __name__ == "__main__":
    main()
