"""`make fuzz MINUTES=60`: inputs from one seed to the next for as long as asked; counts are kept in a file.

The file (``--counts``, fuzz.json) has one part for each state of the source, with the seed to go on with, how many
inputs of each kind went which way and what came of them, and the seeds of those that went wrong. ``--seed 17`` runs
that input alone and tells all of it; ``--table`` prints the counts as docs/fuzz.md has them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from fuzz.inputs import make  # noqa: E402 - after the path
from fuzz.judging import faults  # noqa: E402
from fuzz.running import run  # noqa: E402

EVERY = 50  # inputs between two writings of the file
TWICE, APART = 23, 41  # one in so many is run again; one command in so many in a process of its own
ROOM = 12 * 2**30  # bytes of addresses at most: what asks for more must be refused, not kill the machine
MEMORY = Path("/dev/shm")  # noqa: S108 - a fresh folder in it: a folder that is no disk, where there is one

DEAD = ("unknown | unknown", "died", ["the process died"], "")


def state() -> str:
    """Name of the source as it is: what was counted before a mend is not counted after it."""
    found = hashlib.sha256()
    for path in sorted((ROOT / "src" / "unmask").rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def tried(seed: int, folder: Path) -> tuple[str, str, list[str], str]:
    """Run the input of a seed: kind and way, outcome, faults, and where they were."""
    place = folder / str(seed)
    place.mkdir()
    apart = seed % APART == 0
    given = make(seed, place)
    said = run(given, place, apart=apart)
    again = None
    if seed % TWICE == 0 and not said.outcome.startswith("hang"):
        other = folder / "again" / str(seed)
        other.mkdir(parents=True)
        again = run(make(seed, other), other, apart=apart)
        for one in (said, again):
            one.messages = [text.replace(str(other), "").replace(str(place), "") for text in one.messages]
    for used in (place, folder / "again"):
        shutil.rmtree(used, ignore_errors=True)
    way = "command, apart" if apart and given.way == "command" else given.way
    return f"{given.kind} | {way}", said.outcome, faults(given, said, again), said.where


def fresh() -> tempfile.TemporaryDirectory[str]:
    """A folder for the files of the inputs."""
    return tempfile.TemporaryDirectory(prefix="fuzz-", dir=MEMORY if MEMORY.is_dir() else None)


def go_on(counts: Path, minutes: float, most: int, first: int = 0) -> int:
    """Run inputs until the time is over; return how many went wrong."""
    kept = json.loads(counts.read_text()) if counts.exists() else {}
    name = state()
    start = max((part["next"] for part in kept.values()), default=first)
    mine = kept.setdefault(name, {"first": start, "next": start, "counts": {}, "faults": {}})
    at = counts.with_suffix(".at")  # the seed that is being run: whoever kills the process is named by the next
    died = int(at.read_text()) if at.exists() else -1
    found, begin, seed = Counter(mine["counts"]), time.monotonic(), mine["next"]
    last = seed + most
    with fresh() as folder:
        while seed < last and time.monotonic() - begin < 60 * minutes:
            at.write_text(str(seed))
            what, outcome, wrong, where = DEAD if seed == died else tried(seed, Path(folder))
            found[f"{what} | {outcome}"] += 1
            if wrong:
                mine["faults"][str(seed)] = wrong
                sys.stdout.write(f"seed {seed} ({what}): {'; '.join(wrong)}\n{where}\n")
                sys.stdout.flush()
            seed += 1
            if seed % EVERY == 0 or seed == last:
                _write(counts, kept, mine, found, seed)
        _write(counts, kept, mine, found, seed)
        at.unlink(missing_ok=True)
    sys.stdout.write(f"{seed - mine['first']:,} inputs of this source, {len(mine['faults'])} went wrong\n")
    return len(mine["faults"])


def _write(path: Path, kept: dict, mine: dict, found: Counter, seed: int) -> None:
    mine |= {"next": seed, "counts": dict(sorted(found.items()))}
    path.write_text(json.dumps(kept, indent=1))


def table(*counts: Path) -> str:
    """Counts over all states and files, by kind and way, with the outcomes of each."""
    parts = [(name, part) for path in counts for name, part in json.loads(path.read_text()).items()]
    rows: dict[tuple[str, str], Counter] = {}
    for _, part in parts:
        for key, n in part["counts"].items():
            kind, way, outcome = key.split(" | ")
            kind = kind.split(":")[0]
            rows.setdefault((kind, way), Counter())[outcome] += n
    lines = ["| input | way | inputs | what came of them |", "|---|---|---|---|"]
    for (kind, way), found in sorted(rows.items()):
        told = ", ".join(f"{outcome} {n:,}" for outcome, n in found.most_common())
        lines.append(f"| {kind} | {way} | {found.total():,} | {told} |")
    states = [
        f"{name}: seeds {part['first']} to {part['next'] - 1}, {len(part['faults'])} went wrong" for name, part in parts
    ]
    whole = sum(row.total() for row in rows.values())
    return "\n".join([*lines, "", f"{whole:,} inputs", *states])


def main() -> int:
    """Go on, or run one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--most", type=int, default=10**9, help="inputs at most")
    parser.add_argument("--counts", type=Path, nargs="+", default=[ROOT / "fuzz.json"])
    parser.add_argument("--first", type=int, default=0, help="seed to begin a new file of counts with")
    parser.add_argument("--seed", type=int, help="run this one alone")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (ROOM if hard == resource.RLIM_INFINITY else min(ROOM, hard), hard))
    if options.table:
        sys.stdout.write(table(*options.counts) + "\n")
        return 0
    if options.seed is None:
        return 1 if go_on(options.counts[0], options.minutes, options.most, options.first) else 0
    with fresh() as folder:
        given = make(options.seed, Path(folder))
        said = run(given, Path(folder))
        sys.stdout.write(f"{given}\n{said}\n{faults(given, said)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
