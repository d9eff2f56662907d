"""Cases that are hard for linkage, each against an easy one of the same size: how many times its processor time.

    python benchmarks/hard.py                       # all cases at n = 1,000, 3,000 and 30,000
    python benchmarks/hard.py --n 30000 --only noise
    python benchmarks/hard.py --n 100000 --only texts --ask decision nearest
    python benchmarks/hard.py --page                # the table of docs/benchmarks.md from what was measured

The easy case: five normal columns with noise of a tenth of their sd, Euclidean. Each case runs in a process of its own
with one thread, kernels compiled before. It may take ALLOWED times the easy case, or SMALL seconds; what takes longer
is marked. It is ended after ENDED times the easy case, at least 20 s a question. Results: results/hard.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import unmask

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results" / "hard.json", HERE.parent / "docs" / "benchmarks.md"
ALLOWED, SMALL = 30, 0.5  # times the easy case's processor time; seconds that are nothing to worry about
ENDED, LEAST = 100, 20  # the same, when a run is ended
ALONE = dict.fromkeys(("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")  # idle threads spin
BEGIN, END = "<!-- hard: benchmarks/hard.py --page -->", "<!-- end -->"
Rng = np.random.Generator
Made = tuple[pl.DataFrame, pl.DataFrame, dict[str, object]]


def framed(values: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({f"c{k}": values[:, k] for k in range(values.shape[1])})


def noisy(n: int, rng: Rng, sd: float, columns: int = 5) -> Made:
    known = rng.normal(size=(n, columns))
    return framed(known), framed(known + rng.normal(0, sd, known.shape)), {}


def whole(n: int, rng: Rng, columns: int, metric: str, *, spiked: bool = False) -> Made:
    """Few whole numbers, so that many distances are equal; spiked: half of the people at zero."""
    known = rng.integers(0, 20, (n, columns))
    if spiked:
        known[rng.random(known.shape) < 0.5] = 0
    return framed(known), framed(known + rng.integers(-3, 4, known.shape)), {"metric": metric}


def ranked(n: int, rng: Rng, kind: str) -> Made:
    """Five values a column, compared by their ranks; as categories two different ones are all equally far."""
    known = rng.integers(0, 5, (n, 5))
    moved = np.clip(known + rng.integers(-1, 2, known.shape), 0, 4)
    kinds = {f"c{k}": kind for k in range(5)}
    return framed(known), framed(moved), {"metric": "permutation", "kinds": kinds}


def doubled(n: int, rng: Rng) -> Made:
    known = rng.normal(size=(n, 5))
    known[n // 2 :] = known[: n - n // 2]
    return framed(known), framed(known + rng.normal(0, 0.5, known.shape)), {}


def grouped(n: int, rng: Rng) -> Made:
    known = framed(rng.normal(size=(n, 5)))
    return known, unmask.parse_masking(f"microaggregation({min(1000, n // 3)})").apply(known, 1), {}


def tied(n: int, rng: Rng) -> Made:
    known = rng.integers(0, 3, (n, 4))
    return framed(known), framed(np.where(rng.random(known.shape) < 0.2, rng.integers(0, 3, known.shape), known)), {}


def categories(n: int, rng: Rng) -> Made:
    known = rng.integers(0, 4, (n, 30)).astype(str)
    other = np.where(rng.random(known.shape) < 0.3, rng.integers(0, 4, known.shape).astype(str), known)
    return framed(known), framed(other), {"metric": "gower"}


def words(n: int, rng: Rng) -> Made:
    """Texts of eight letters in place of numbers, a tenth of them others."""
    known = np.array(["".join(chr(97 + k) for k in rng.integers(0, 26, 8)) for _ in range(n)])[:, None]
    other = np.where(rng.random(known.shape) < 0.1, rng.permutation(known), known)
    return framed(known), framed(other), {"metric": "gower"}


CASES: dict[str, Callable[[int, Rng], Made]] = {
    "easy": lambda n, rng: noisy(n, rng, 0.1),
    "noise of 2 sd": lambda n, rng: noisy(n, rng, 2.0),
    "noise of 5 sd": lambda n, rng: noisy(n, rng, 5.0),
    "noise of 2 sd, 13 columns": lambda n, rng: noisy(n, rng, 2.0, 13),
    "noise of 5 sd, 13 columns": lambda n, rng: noisy(n, rng, 5.0, 13),
    "two whole numbers, Manhattan": lambda n, rng: whole(n, rng, 2, "manhattan"),
    "three whole numbers, Manhattan": lambda n, rng: whole(n, rng, 3, "manhattan"),
    "two spiked numbers, Manhattan": lambda n, rng: whole(n, rng, 2, "manhattan", spiked=True),
    "two whole numbers, Euclidean": lambda n, rng: whole(n, rng, 2, "euclidean"),
    "ranks of five values": lambda n, rng: ranked(n, rng, "numeric"),
    "five categories, all equally far": lambda n, rng: ranked(n, rng, "categorical"),
    "half of the people twice": doubled,
    "microaggregation by 1,000": grouped,
    "three values a column": tied,
    "200 columns": lambda n, rng: noisy(n, rng, 0.5, 200),
    "30 categories, Gower": categories,
    "texts": words,
}
QUESTIONS = {
    "decision": lambda release, how: unmask.link_nearest(release, decision_only=True, **how),
    "nearest": lambda release, how: unmask.link_nearest(release, **how),
    "one to one": lambda release, how: unmask.link_one_to_one(release, **how),
}


def one(case: str, n: int, questions: list[str]) -> None:
    """Ask a case everything, after a small one that compiles its kernels; print seconds of processors and shares."""
    for size in (60, n):
        original, released, how = CASES[case](size, np.random.default_rng(1))
        release = unmask.Release(original, released, kinds=how.pop("kinds", None))
        for question in questions:
            began = time.process_time()
            found = QUESTIONS[question](release, how)
            spent = time.process_time() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            told = {"seconds": round(spent, 3), "found": found.estimate.value, "gb": round(peak, 2)}
            if size == n:
                print(
                    json.dumps({question: told | ({} if found.optimal is not False else {"gap": found.gap})}),
                    flush=True,
                )


def measure(case: str, n: int, most: dict[str, float]) -> dict[str, dict[str, object]]:
    command = [sys.executable, __file__, "--case", case, "--n", str(n), "--ask", *most]
    seconds = int(sum(most.values()) + 60)  # imports, both tables and the small case

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    done = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=limited, env=os.environ | ALONE
    )
    found: dict[str, dict[str, object]] = {}
    for line in done.stdout.splitlines():
        found |= json.loads(line)
    why = {} if done.returncode <= 0 else {"why": done.stderr[-300:]}
    return {name: found.get(name, {"ended": False, "limit": round(most[name])} | why) for name in most}


def run(sizes: list[int], only: str, questions: list[str]) -> None:
    for n in sizes:
        easy: dict[str, float] = {}
        for case in CASES:
            if case != "easy" and only not in case:
                continue
            most = {question: max(LEAST, ENDED * easy.get(question, 1.0)) for question in questions}
            for question, found in measure(case, n, most).items():
                if case == "easy":
                    easy[question] = max(1e-3, float(found["seconds"]))
                if "seconds" in found:
                    found["times"] = round(float(found["seconds"]) / easy[question], 1)
                    found["over"] = float(found["seconds"]) > max(SMALL, ALLOWED * easy[question])
                keep(f"{n}", case, question, found)


def keep(n: str, case: str, question: str, found: dict[str, object]) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    known.setdefault(n, {}).setdefault(case, {})[question] = found
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    print(n, case, question, json.dumps(found), flush=True)


def page() -> None:
    """Write the table between its marks."""
    lines = [f"| n | case | {' | '.join(QUESTIONS)} |", "|---|---|" + "---|" * len(QUESTIONS)]
    every = json.loads(RESULTS.read_text())
    for n in sorted(every, key=int):
        for case in (name for name in CASES if name in every[n]):
            found = every[n][case]
            cells = [told(found.get(question)) for question in QUESTIONS]
            lines.append(f"| {int(n):,} | {case} | {' | '.join(cells)} |")
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{chr(10).join(lines)}\n{END}{after}", encoding="utf-8")


def told(found: dict[str, object] | None) -> str:
    if found is None:
        return ""
    if "seconds" not in found:
        return f"**not within {found['limit']} s**"
    text = f"{found['seconds']:.2f} s, {found['times']:g} times"
    return f"**{text}**" if found.get("over") else text


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--n", type=int, nargs="+", default=[1000, 3000, 30_000])
    reader.add_argument("--only", default="", help="cases whose names hold this")
    reader.add_argument("--ask", nargs="+", choices=tuple(QUESTIONS), default=list(QUESTIONS))
    reader.add_argument("--case", choices=tuple(CASES))
    reader.add_argument("--page", action="store_true")
    given = reader.parse_args()
    if given.page:
        page()
    elif given.case:
        one(given.case, given.n[0], given.ask)
    else:
        run(given.n, given.only, given.ask)
