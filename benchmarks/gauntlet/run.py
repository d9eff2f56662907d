"""Run `unmask.assess` on the releases of the gauntlet, beside the intruder who was written for each.

    python benchmarks/gauntlet/run.py                        every case, results into benchmarks/results/gauntlet.json
    python benchmarks/gauntlet/run.py rotated households     these two
    python benchmarks/gauntlet/run.py --family harmless --seeds 20
    python benchmarks/gauntlet/run.py --quick --limit 300    the part that selfcheck runs, five minutes a case at most
    python benchmarks/gauntlet/run.py --list

A case fails when the verdict is not "unsafe" although people are found, when it is "unsafe" although nobody can be (of
several seeds one in twenty may be: the level), or when the report's best rate of being found is below 0.95 of what the
bespoke intruder finds. With --linking only measures that link records count, not those that count groups. Exit 1 if
one fails. Rows are written as they come, and replace those of the same case and seed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from families import CASES, chosen

from unmask.datasets import gauntlet

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "gauntlet.json"
LEVEL = 0.05  # a harmless release may be called unsafe this often


def assessed(name: str, seed: int) -> dict:
    """Assess one case and say what came of it; an error is an answer too, and never a good one."""
    from unmask.selfcheck import attack_case

    begin = time.process_time()
    answer, reason = attack_case(CASES[name], seed)
    return row_of(name, seed, answer, reason, time.process_time() - begin)


def row_of(name: str, seed: int, answer: gauntlet.Answer, reason: str, seconds: float) -> dict:
    known = CASES[name]
    return {
        "name": name,
        "family": known.family,
        "seed": seed,
        **asdict(answer),
        "holds": answer.holds,
        "holds_by_linking": answer.holds_by_linking,
        "reason": reason,
        "seconds": round(seconds, 1),
        "commit": commit(),
    }


def bounded(name: str, seed: int, limit: float) -> dict:
    """Assess in a process of its own that is ended when its time is up."""
    command = [sys.executable, __file__, name, "--one", str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        reason = f"stopped after {limit:.0f} s"
    except subprocess.CalledProcessError as error:
        reason = f"ended with code {error.returncode}: {error.stderr[-300:]}"
    else:
        return json.loads(done.stdout.splitlines()[-1])
    case = CASES[name].make(seed)
    return row_of(name, seed, gauntlet.answer(case, "error", ()), reason, limit)


def commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def line(row: dict) -> str:
    wanted = "nobody" if row["wanted"] is None else f"{row['wanted']:.1%}"
    word = "holds" if row["holds"] else "FAILS"
    seed = f" #{row['seed']}" if row["seed"] else ""
    best = f"report {row['best']:6.1%} ({row['key']:22})"
    return (
        f"{word:6} {row['name'] + seed:32} intruder {wanted:>7}  {best} {row['verdict']:12} {row['seconds']:5.0f} CPU s"
    )


def keeps(rows: list[dict], column: str) -> bool:
    """Whether a case holds over its seeds: all of them, or but for the level where nobody can be found."""
    failed = sum(not row[column] for row in rows)
    return failed <= (LEVEL * len(rows) if rows[0]["wanted"] is None else 0)


def write(rows: list[dict], path: Path) -> None:
    """Keep what is there of other cases and seeds."""
    kept = {}
    if path.exists():
        kept = {(row["name"], row["seed"]): row for row in json.loads(path.read_text())["rows"]}
    kept |= {(row["name"], row["seed"]): row for row in rows}
    order = list(CASES)
    sound = sorted(
        (row for row in kept.values() if row["name"] in order), key=lambda r: (order.index(r["name"]), r["seed"])
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"rows": sound}, indent=1, ensure_ascii=False) + "\n")


def summary(rows: list[dict], column: str) -> tuple[int, int]:
    """Print what holds in each family, and return how many cases hold, of how many."""
    cases = defaultdict(list)
    for row in rows:
        cases[row["family"], row["name"]].append(row)
    for family in gauntlet.FAMILIES:
        held = [keeps(some, column) for (of, _), some in cases.items() if of == family]
        if held:
            print(f"       {family:12} {sum(held)} of {len(held)}")
    return sum(keeps(some, column) for some in cases.values()), len(cases)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--family", choices=list(gauntlet.FAMILIES))
    parser.add_argument("--quick", action="store_true", help="the part that selfcheck runs")
    parser.add_argument("--seeds", type=int, default=1, metavar="K", help="seeds 0 to K-1")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="stop a case after so long")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time; more than one needs --limit")
    parser.add_argument("--linking", action="store_true", help="count only measures that link records")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    given = arguments(argv)
    try:
        among = gauntlet.CASES if given.quick else CASES
        cases = chosen(given.names, family=given.family, among=among)
    except KeyError as error:
        raise SystemExit(f"no such case: {error.args[0]}; --list says which there are") from None
    if given.list:
        for known in cases:
            print(f"{known.family:12} {known.name:30} {known.story}")
        return 0
    if given.one is not None:
        print(json.dumps(assessed(given.names[0], given.one)))
        return 0
    tasks = [(known.name, seed) for known in cases for seed in range(given.seeds)]
    run = assessed if given.limit is None else lambda name, seed: bounded(name, seed, given.limit)
    rows = []
    with ThreadPoolExecutor(given.jobs if given.limit else 1) as pool:
        for row in pool.map(lambda task: run(*task), tasks):
            rows.append(row)
            print(line(row), flush=True)
            write(rows[-1:], given.json)
    held, total = summary(rows, "holds_by_linking" if given.linking else "holds")
    print(f"{held} of {total} hold")
    return int(held < total)


if __name__ == "__main__":
    raise SystemExit(main())
