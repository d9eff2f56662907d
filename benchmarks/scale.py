"""What does each measure take by itself, for everybody and for some people? The plan of an assessment knows it by this.

``python benchmarks/scale.py`` attacks releases of 1,000 to 1,000,000 people (``--n`` names others, ``--case`` one of
the two tables, ``--only`` measures). *numbers*: the 13 numbers of the census with noise of half a standard
deviation. *patients*: the stays of the demo, with dates, places, categories and gaps, as its hospital would publish
them. Each measure runs as if it were alone, with its kernels loaded: CPU seconds, and the memory it takes beside what
was there. In `assess` measures share encodings and trees, so the whole costs less than their sum:
benchmarks/scale_whole.py. Results are kept one by one in benchmarks/results/scale.json; ``--costs`` writes what the
plan of an assessment knows into src/unmask/costs.toml. From 100,000 people on attacks that can ask for some people are
also run with 20,000 of them, and beyond 100,000 with these alone (``--some`` at any n). ``--compare`` holds the figures
of as many people as an assessment asks for against those of all at one n, in benchmarks/results/scale_sampled.json and,
by ``--table``, in docs/scale.md.
"""

from __future__ import annotations

import argparse
import gc
import json
from pathlib import Path

import numpy as np
from linkage_parts.clock import processors

import unmask
from unmask.assessment import discover, run_measure
from unmask.cli.demo import ID, SECRET, demo_tables
from unmask.evidence import Absence, Context
from unmask.planning import ENOUGH
from unmask.sampling import people_by_hash
from unmask.study import Study

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results" / "scale.json", HERE.parent / "docs" / "scale.md"
SAMPLED = HERE / "results" / "scale_sampled.json"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
CASES = ("numbers", "patients")
COSTS = HERE.parent / "src" / "unmask" / "costs.toml"
COLUMNS, WIDE = 13, {"numbers": 13, "patients": 12}  # columns that the intruder knows
COSTS_HEAD = """\
# What each attack takes, by benchmarks/scale.py --costs: CPU seconds and MB for so many people and columns, the seconds
# that it takes at the least, and the exponent of people; the same if so many people are `asked` for (some).
people = 10_000
asked = 20_000
columns = 13
unknown = { seconds = 1.0, least = 0.1, exponent = 1.2, memory = 50 }  # measures that the benchmark did not reach

[measures]"""
ASKED, LARGE, BASE = 20_000, 100_000, 10_000  # people asked for in place of all, from so many on; of the costs
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
    begun = processors()
    found = run_measure(discover()[name], study, context)
    seconds = processors() - begun
    if isinstance(found, Absence):
        return {}
    return {"cpu": round(seconds, 3), "memory": max(0, _peak() - before)}


def _peak(*, reset: bool = False) -> int:
    """The largest memory that this process has held, in bytes, since it was last reset (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measured(cases: list[str], sizes: list[int], only: list[str], *, some: bool) -> None:
    """Run what is asked for, smallest first, and keep every result as it comes."""
    names = only or list(discover())
    for n in sizes:
        for case in cases:
            small = release_of(case, 300).in_order_of_content()
            release = release_of(case, n).in_order_of_content()
            for name in names:
                told = told_of(name, small, release, n, some=some)
                known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
                known.setdefault(case, {}).setdefault(name, {}).setdefault(str(n), {}).update(told)
                print(case, n, name, told, flush=True)
                RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def told_of(name: str, small: unmask.Release, release: unmask.Release, n: int, *, some: bool) -> dict[str, object]:
    """What one measure takes for everybody, for some people, or both; the kernels are loaded before."""
    entry, told = discover()[name], {}
    if not (entry.cheaper and (n > LARGE or some)):
        run_measure(entry, Study(small), Context(0))
        told |= spent(Study(release), name, Context(0))
    if entry.cheaper and n >= LARGE:
        run_measure(entry, Study(small), Context(0, people=people_by_hash(small, 100, 0)))
        asked = Context(0, people=people_by_hash(release, ASKED, 0))
        told["some"] = spent(Study(release), name, asked)
    return told


def compared(case: str, n: int, names: list[str]) -> None:
    """Hold the figures of some people against those of all, and keep them."""
    release = release_of(case, n).in_order_of_content()
    people = people_by_hash(release, ENOUGH, 0)
    for name in names:
        entry = discover()[name]
        whole, some = (run_measure(entry, Study(release), Context(0, people=asked)) for asked in (None, people))
        if isinstance(whole, Absence):
            continue
        known = json.loads(SAMPLED.read_text()) if SAMPLED.exists() else {}
        for all_, few in zip(whole.observations, some.observations, strict=True):
            told = [all_.estimate.value, few.estimate.value, few.estimate.low, few.estimate.high]
            known.setdefault(case, {}).setdefault(str(n), {})[all_.key] = [round(value, 6) for value in told]
            print(case, n, all_.key, told, flush=True)
        SAMPLED.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def by_default(by: dict[int, dict]) -> dict[int, dict[str, float]]:
    """What a measure takes at each n: of everybody, or of some people where no more is measured."""
    return {n: one if "cpu" in one else one["some"] for n, one in sorted(by.items()) if one.get("some", one)}


def exponent(times: dict[int, float]) -> float | None:
    """Slope of log CPU over log n from 10,000 people on; None with fewer than two times."""
    there = [(n, cpu) for n, cpu in sorted(times.items()) if n >= BASE and cpu > 0]
    if len(there) < 2:
        return None
    return float(np.polyfit(*np.log(np.array(there)).T, 1)[0])


def table_of_sampled() -> str:
    """Figures of all people and of some, where both were had."""
    lines = [
        f"| figure | table | n | all people | {ENOUGH:,} people | interval | points apart |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    rows = [
        (key, case, int(n), *values)
        for case, by in json.loads(SAMPLED.read_text()).items()
        for n, figures in by.items()
        for key, values in figures.items()
    ]
    for key, case, n, whole, some, low, high in sorted(rows):
        holds = "holds" if low - 1e-9 <= whole <= high + 1e-9 else "does not hold"
        lines.append(
            f"| `{key}` | {case} | {n:,} | {100 * whole:.2f} % | {100 * some:.2f} % | {100 * low:.2f} to "
            f"{100 * high:.2f} %, {holds} | {100 * (some - whole):+.2f} |"
        )
    return "\n".join(lines)


def write_page() -> None:
    """Write the table into the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table_of_sampled() + "\n\n" + END + rest.split(END)[1])


def fitted(by: dict[int, dict], columns: int) -> dict[str, object]:
    """What one case says of a measure, for 13 columns: seconds for everybody and for some people, and memory."""
    wide = COLUMNS / columns
    whole = {n: one["cpu"] * wide for n, one in by.items() if "cpu" in one}
    some = {n: one["cheaper"] * wide for n, one in by.items() if "cheaper" in one}
    some |= {n: one["some"]["cpu"] * wide for n, one in by.items() if one.get("some")}
    held = {n: one["memory"] for n, one in by_default(by).items() if "memory" in one}
    found: dict[str, object] = {"whole": grown(whole), "memory": held[max(held)] / max(held) * BASE}
    return found | ({"some": grown(some)} if any(n >= LARGE for n in some) else {})


def grown(cpu: dict[int, float]) -> dict[str, float]:
    """Seconds at the least, and what is added at n = 10,000 and grows by an exponent, so that the largest n is met.

    The exponent is that between the two largest n, and at least 1, since what it is for may be larger still.
    """
    least, top = min(cpu.values()), max(cpu)
    more = {n: cpu[n] - least for n in sorted(cpu)[-2:]}
    slope = np.log(more[top] / more[min(more)]) / np.log(top / min(more)) if min(more.values()) > 0 else 1.0
    slope = float(np.clip(slope, 1.0, 2.2)) if len(more) > 1 else 1.0
    if len(cpu) == 1:
        least, more = 0.0, cpu
    return {"seconds": least + more[top] * (BASE / top) ** slope, "least": least, "exponent": slope}


def write_costs() -> None:
    """Write what the plan of an assessment knows of each measure: the costlier of the two cases."""
    known = json.loads(RESULTS.read_text())
    lines = [COSTS_HEAD]
    for name in discover():
        cases = [
            fitted({int(n): one for n, one in known.get(case, {}).get(name, {}).items() if one}, WIDE[case])
            for case in CASES
            if any("cpu" in one for one in known.get(case, {}).get(name, {}).values())
        ]
        if not cases:
            continue
        told = _most([one["whole"] for one in cases])
        told += f", memory = {max(1, round(max(one['memory'] for one in cases) / 1e6))}"
        some = [one["some"] for one in cases if "some" in one]
        told += f", some = {{ {_most(some)} }}" if some else ""
        lines.append(f"{name} = {{ {told} }}")
    COSTS.write_text("\n".join(lines) + "\n")


def _most(cases: list[dict[str, float]]) -> str:
    """The largest of each number over cases."""
    return ", ".join(f"{key} = {max(one[key] for one in cases):.3g}" for key in cases[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--some", action="store_true", help="ask for 20,000 people only, where a measure can")
    parser.add_argument("--compare", type=int, help=f"hold {ENOUGH:,} people against all of so many")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--costs", action="store_true", help="write src/unmask/costs.toml from the results")
    given = parser.parse_args()
    if given.costs:
        write_costs()
        return
    if given.compare:
        for case in [given.case] if given.case else CASES:
            compared(case, given.compare, given.only)
    elif not given.table:
        measured([given.case] if given.case else list(CASES), given.n, given.only, some=given.some)
        return
    write_page()


if __name__ == "__main__":
    main()
