"""How do time and memory of each measure grow with the people? A table measure x n, with exponents.

``python benchmarks/scale.py`` attacks releases of 1,000, 10,000 and 30,000 people (``--n`` names others, ``--case``
one of the two tables, ``--only`` measures). *numbers*: the 13 numbers of the census with noise of half a standard
deviation. *patients*: the stays of the demo, with dates, places, categories and gaps, as its hospital would publish
them. Each measure runs as if it were alone, with its kernels loaded: CPU seconds, and the memory it takes beside what
was there. In `assess` measures share encodings and trees, so the whole costs less than their sum. Results are kept one
by one in benchmarks/results/scale.json; ``--table`` writes them into docs/scale.md, ``--costs`` what the plan of an
assessment knows into src/unmask/costs.toml. The exponent is the slope of log time from the smallest n on whose time is
at least 0.3 CPU seconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from pathlib import Path

import numpy as np

import unmask
from unmask.assessment import discover, run_measure
from unmask.cli.demo import ID, SECRET, demo_tables
from unmask.evidence import Absence, Context
from unmask.sampling import people_by_hash
from unmask.study import Study

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results" / "scale.json", HERE.parent / "docs" / "scale.md"
SIZES = (1_000, 10_000, 30_000)
CASES = ("numbers", "patients")
COSTS = HERE.parent / "src" / "unmask" / "costs.toml"
COLUMNS, WIDE = 13, {"numbers": 13, "patients": 12}  # columns that the intruder knows
COSTS_HEAD = """\
# What each attack takes, by benchmarks/scale.py --costs: CPU seconds and MB for so many people and columns, the seconds
# that it takes at the least, the exponent of people, and the share of the time that is needed whoever is asked for
# (fixed), or for a matching that is not proven to be the best (loose).
people = 10_000
columns = 13
unknown = { seconds = 1.0, least = 0.1, exponent = 1.2, memory = 50 }  # measures that the benchmark did not reach

[measures]"""
LEAST = 0.3  # CPU seconds from which on an exponent means something
ASKED, LARGE = 2_000, 10_000  # people who are asked for in place of all, from so many on
BEGIN, END = "<!-- scale -->\n", "<!-- end -->\n"


def release_of(case: str, n: int) -> unmask.Release:
    """The release that is attacked."""
    if case == "patients":
        return unmask.Release(*demo_tables(n, 0), id=ID, confidential=SECRET)
    people = unmask.datasets.census(n)
    return unmask.Release(people, unmask.parse_masking("noise(0.5)").apply(people, 1))


def spent(study: Study, name: str, context: Context) -> dict[str, float]:
    """CPU seconds and bytes of one measure; nothing where it does not apply."""
    gc.collect()
    before = _peak(reset=True)
    begun = time.process_time()
    found = run_measure(discover()[name], study, context)
    seconds = time.process_time() - begun
    if isinstance(found, Absence):
        return {}
    return {"cpu": round(seconds, 3), "memory": max(0, _peak() - before)}


def _peak(*, reset: bool = False) -> int:
    """The largest memory that this process has held, in bytes, since it was last reset (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def cheaper(name: str, release: unmask.Release) -> Context:
    """How a measure runs that has less time: on some people, or to a proven gap."""
    if discover()[name].cheaper == "gap":
        return Context(0, loose=True)
    return Context(0, people=people_by_hash(release, ASKED, 0))


def measured(cases: list[str], sizes: list[int], only: list[str]) -> None:
    """Run what is asked for, smallest first, and keep every result as it comes."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    names = only or list(discover())
    for n in sizes:
        for case in cases:
            small = Study(release_of(case, 300).in_order_of_content())
            release = release_of(case, n).in_order_of_content()
            for name in names:
                run_measure(discover()[name], small, Context(0))  # loads the kernels
                told = spent(Study(release), name, Context(0))
                if told and discover()[name].cheaper and n >= LARGE:
                    told["cheaper"] = spent(Study(release), name, cheaper(name, release))["cpu"]
                known.setdefault(case, {}).setdefault(name, {})[str(n)] = told
                print(case, n, name, told, flush=True)
                RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def exponent(times: dict[int, float]) -> float | None:
    """Slope of log CPU over log n; None with fewer than two times that mean something."""
    there = [(n, cpu) for n, cpu in sorted(times.items()) if cpu >= LEAST]
    if len(there) < 2:
        return None
    return float(np.polyfit(*np.log(np.array(there)).T, 1)[0])


def table(known: dict, case: str) -> str:
    """One case as a table: measures in the order of what they cost at the largest n."""
    found = {name: {int(n): one for n, one in by.items() if one} for name, by in known.get(case, {}).items()}
    found = {name: by for name, by in found.items() if by}
    sizes = sorted({n for by in found.values() for n in by})
    order = sorted(found, key=lambda name: -found[name][max(found[name])]["cpu"])
    lines = [
        "| measure | " + " | ".join(f"n = {n:,}" for n in sizes) + " | memory at the largest n | exponent |",
        "|---|" + "---:|" * (len(sizes) + 2),
    ]
    for name in order:
        by = found[name]
        slope = exponent({n: one["cpu"] for n, one in by.items()})
        cells = [f"{by[n]['cpu']:.2f} s" if n in by else "" for n in sizes]
        memory = f"{by[max(by)]['memory'] / 1e6:,.0f} MB"
        lines.append(f"| {name} | {' | '.join(cells)} | {memory} | {'' if slope is None else f'{slope:.2f}'} |")
    return "\n".join(lines)


def write_page() -> None:
    """Write the tables into the page."""
    known = json.loads(RESULTS.read_text())
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    parts = [f"### {case.capitalize()}\n\n{table(known, case)}\n" for case in CASES if case in known]
    PAGE.write_text(before + BEGIN + "\n" + "\n".join(parts) + "\n" + END + after)


def fitted(by: dict[int, dict[str, float]], columns: int) -> dict[str, float] | None:
    """What one case says of a measure, for 13 columns: seconds and memory at n = 10,000, and how they grow.

    ``exponent``: between the two largest n, and at least 1, since what it is for is larger still.
    """
    there = {n: one for n, one in sorted(by.items()) if one}
    if not there:
        return None
    cpu, top, wide = {n: one["cpu"] for n, one in there.items()}, max(there), COLUMNS / columns
    last = sorted(cpu)[-2:]
    slope = np.log(cpu[last[-1]] / max(cpu[last[0]], 1e-3)) / np.log(last[-1] / last[0]) if len(last) > 1 else 1.0
    slope = float(np.clip(slope, 1.0, 2.2))
    at = cpu.get(LARGE, cpu[top] * (LARGE / top) ** slope)
    memory = max(one["memory"] / n for n, one in there.items() if n >= min(top, LARGE)) * LARGE
    found = {"seconds": at * wide, "exponent": slope, "memory": memory}
    found["least"] = min(cpu.get(1_000, 0.0), at) * wide
    less = {n: one["cheaper"] / max(one["cpu"], 1e-3) for n, one in there.items() if "cheaper" in one}
    if less:
        found["loose"] = min(1.0, less[max(less)])
        share = ASKED / max(less)
        found["fixed"] = float(np.clip((less[max(less)] - share) / (1 - share), 0.0, 1.0))
    return found


def write_costs() -> None:
    """Write what the plan of an assessment knows of each measure: the costlier of the two cases."""
    known = json.loads(RESULTS.read_text())
    lines = [COSTS_HEAD]
    for name, entry in discover().items():
        cases = [
            fitted({int(n): one for n, one in known.get(case, {}).get(name, {}).items()}, WIDE[case]) for case in CASES
        ]
        there = [one for one in cases if one]
        if not there:
            continue
        most = {key: max(one.get(key, 0.0) for one in there) for key in ("seconds", "least", "exponent", "memory")}
        told = [
            f"seconds = {most['seconds']:.3g}",
            f"least = {most['least']:.2g}",
            f"exponent = {most['exponent']:.2f}",
        ]
        told += [f"memory = {max(1, round(most['memory'] / 1e6))}"]
        for key, kind in (("fixed", "people"), ("loose", "gap")):
            if entry.cheaper == kind:
                told.append(f"{key} = {max(one.get(key, 1.0) for one in there):.2f}")
        lines.append(f"{name} = {{ {', '.join(told)} }}")
    COSTS.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--costs", action="store_true", help="write src/unmask/costs.toml from the results")
    given = parser.parse_args()
    if given.costs:
        write_costs()
        return
    if not given.table:
        measured([given.case] if given.case else list(CASES), given.n, given.only)
    write_page()


if __name__ == "__main__":
    main()
