"""Time and memory against n: each measurement a process of its own, kept in docs/images/linkage.json, so that a run
goes on where it stopped. `write` makes the tables and the chart of the docs from what was kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from linkage_parts import pages
from linkage_parts.clock import now, peak, since
from linkage_parts.tables import prepare, release_of

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "images" / "linkage.json"
KINDS = ("decision", "nearest", "global")
SIZES = (1000, 3000, 10_000, 30_000, 100_000)


def kept():
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def remember(part, key, row, *, keep):
    if keep:
        store = kept()
        store.setdefault(part, {})[key] = row
        KEPT.write_text(json.dumps(store, indent=1, sort_keys=True) + "\n")


def attack(kind, release, max_gap, tell):
    from unmask import link_globally, link_nearest

    if kind == "global":
        return link_globally(release, max_gap=max_gap, progress=tell)
    return link_nearest(release, direction="to_original", decision_only=kind == "decision", progress=tell)


def one(options):
    """Run one attack as a user does and print what it took as JSON. Marks of its progress split the time."""
    kind, n, masking = options.kind[0], options.n[0], options.masking[0]
    attack(kind, release_of(300, masking), 0.0, lambda *_: None)  # load the compiled kernels
    release = release_of(n, masking)
    before, marks, start = peak(), [], now()
    found = attack(kind, release, options.max_gap, lambda _done, text: marks.append((since(start), text)))
    whole = since(start)
    solved = [seconds for seconds, text in marks if text.startswith("gap ")]  # the matching and its certificate
    print(json.dumps({
        "kind": kind, "n": n, "masking": masking, "max_gap": options.max_gap, "wall": whole.wall, "cpu": whole.cpu,
        "prepared": marks[0][0].wall, "solved": solved[-1] if solved else None, "before": before, "peak": peak(),
        "rate": found.estimate.value, "optimal": found.optimal, "gap": found.gap,
    }))  # fmt: skip


def measure(kind, n, masking, threads, max_gap=0.0):
    """Measure one setting in its own process and tell it."""
    prepare(n, masking)
    prepare(300, masking)
    command = [sys.executable, str(ROOT / "benchmarks" / "linkage.py"), "one", "--kind", kind, "--n", str(n)]
    command += ["--masking", masking, "--threads", str(threads), "--max-gap", str(max_gap)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    row = json.loads(run.stdout.splitlines()[-1])
    solved = f", of which matching and certificate {row['solved'][0]:.2f} s" if row["solved"] else ""
    took = f"{row['wall']:.2f} s ({row['cpu']:.2f} of processors){solved}; peak {row['peak']:.2f} GB"
    proof = f"optimal {row['optimal']}, gap {row['gap']:.1e}; {row['rate']:.4f} linked"
    print(f"{kind}, n = {n:,}, {masking}: {took}; {proof}", flush=True)
    return row


def run(options):
    """Measure what is not there yet, keep it if asked to, and write the pages."""
    store = kept().get("growth", {})
    for kind in () if options.write else options.kind:
        for masking in options.masking or ("noise 0.5",):
            for n in options.n or SIZES:
                key = f"{kind}|{n}|{masking}|{options.max_gap:g}"
                if key not in store or options.again or not options.keep:
                    row = measure(kind, n, masking, options.threads, options.max_gap)
                    remember("growth", key, row, keep=options.keep)
    if options.write or options.keep:
        pages.write(kept(), ROOT / "docs")
