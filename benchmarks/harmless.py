"""How often is a harmless release called unsafe, and how often safe? Whole assessments, over seeds, under each profile.

    python benchmarks/harmless.py                          what is missing of the plan below, small tables first
    python benchmarks/harmless.py --kind crowds --n 1000 --seeds 20
    python benchmarks/harmless.py --table                  what is known so far, as the table of docs/harmless.md

Each release is harmless by construction: nothing in it depends on the person whose row it is. Results are kept after
each assessment in benchmarks/results/harmless.json, so that the work may be stopped and gone on with at any time. No
times: results do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import beta

import unmask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESULTS = Path(__file__).parent / "results" / "harmless.json"
PROFILES = ("public", "partner", "internal", "strict")  # the first is what assess takes without a choice
PLAN = {100: 200, 300: 200, 1000: 200, 3000: 200}  # people: seeds
PART = 10  # seeds of one size before those of the next


def publish(original: pl.DataFrame, released: pl.DataFrame, rng: np.random.Generator, **roles: Any) -> unmask.Release:
    """A row for everybody under their number, in another order."""
    number = pl.Series("id", np.arange(original.height))
    shuffled = released.with_columns(number)[rng.permutation(released.height)]
    return unmask.Release(original.with_columns(number), shuffled, id="id", **roles)


def strangers(n: int, rng: np.random.Generator) -> unmask.Release:
    """Everybody has the row of somebody else of the same population; two in a hundred have the secret."""

    def people() -> pl.DataFrame:
        return pl.DataFrame(
            {
                "sex": rng.choice(["f", "m"], n),
                "region": rng.choice(list("ABCDE"), n),
                "age": rng.integers(18, 90, n),
                "income": np.exp(rng.normal(10, 0.6, n)).round(-1),
                "secret": np.where(rng.random(n) < 0.02, "yes", "no"),
            }
        )

    return publish(people(), people(), rng, confidential=["secret"])


def categories(n: int, rng: np.random.Generator) -> unmask.Release:
    """Everybody has somebody else's row of three coarse columns; two in a hundred have the secret."""

    def people() -> pl.DataFrame:
        return pl.DataFrame(
            {
                "sex": rng.choice(["f", "m"], n),
                "town": rng.choice(list("ABCDEFGHIJ"), n),
                "school": rng.choice(["none", "short", "long", "longest"], n),
                "secret": np.where(rng.random(n) < 0.02, "yes", "no"),
            }
        )

    return publish(people(), people(), rng, confidential=["secret"])


def numbers(n: int, rng: np.random.Generator) -> unmask.Release:
    """Three numbers that have nothing to do with the person."""

    def people() -> pl.DataFrame:
        return pl.DataFrame(dict(zip("abc", rng.normal(size=(3, n)).round(3), strict=True)))

    return publish(people(), people(), rng)


def crowds(n: int, rng: np.random.Generator) -> unmask.Release:
    """Two columns as they are, everybody one of twenty-five or more, and an answer that depends on neither."""
    towns = list("ABCDEFGHIJ")[: max(2, min(10, n // 100))]
    people = pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(towns, n),
            "answer": np.where(rng.random(n) < 0.3, "yes", "no"),
        }
    )
    return publish(people, people, rng, confidential=["answer"])


def histogram(n: int, rng: np.random.Generator) -> unmask.Release:
    """Rows drawn from a histogram of four columns with Laplace noise (epsilon 1); as many people outside."""
    sizes = (2, 5, 4, 2)

    def people() -> np.ndarray:
        return np.column_stack([rng.integers(0, size, n) for size in sizes])

    def table(rows: np.ndarray) -> pl.DataFrame:
        return pl.DataFrame({name: [f"{name}{k}" for k in rows[:, j]] for j, name in enumerate("abcd")})

    original = people()
    counts = np.zeros(sizes)
    np.add.at(counts, tuple(original.T), 1)
    weight = np.maximum(0.0, counts + rng.laplace(0, 1, sizes)).ravel()
    drawn = np.column_stack(np.unravel_index(rng.choice(weight.size, n, p=weight / weight.sum()), sizes))
    return unmask.Release(table(original), table(drawn), control=table(people()), synthetic=True, confidential=["d"])


KINDS: dict[str, Callable[[int, np.random.Generator], unmask.Release]] = {
    made.__name__: made for made in (strangers, categories, numbers, crowds, histogram)
}


def assessed(kind: str, n: int, seed: int) -> dict[str, Any]:
    """The verdict of each profile on one release, and which findings are against it or undecided."""
    release = KINDS[kind](n, np.random.default_rng([seed, n]))
    found = unmask.assess(
        release, seed=seed, recipients=[{"name": one, "audience": one} for one in PROFILES], utility="none"
    )
    told = {entry.name: (entry.verdict, entry.reason) for entry in found.document.recipients}
    verdicts = {profile: word for profile, (word, _) in told.items()}
    return {"kind": kind, "n": n, "seed": seed, "verdicts": verdicts, "why": {
        profile: reason.split(";")[0] for profile, (word, reason) in told.items() if word != "safe"
    }}  # fmt: skip


def missing(rows: list[dict[str, Any]], kinds: list[str], plan: dict[int, int]) -> Iterator[tuple[str, int, int]]:
    """What is still to be done, some seeds of each size in turn."""
    done = {(row["kind"], row["n"], row["seed"]) for row in rows}
    for start in range(0, max(plan.values()), PART):
        for n, seeds in plan.items():
            for seed in range(start, min(seeds, start + PART)):
                yield from ((kind, n, seed) for kind in kinds if (kind, n, seed) not in done)


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    """The exact 95 % interval of a share: each end is the rate at which so many, or so few, have a chance of 2.5 %."""
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    return low, float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown: for each kind and size how many of the seeds were called unsafe and safe, by profile."""
    lines = [
        "| release | people | seeds | "
        + " | ".join(f"`{profile}`" for profile in PROFILES)
        + f" | unsafe under `{PROFILES[0]}`, 95 % |",
        "|---|---|---|" + "---|" * (len(PROFILES) + 1),
    ]
    for kind in KINDS:
        for n in sorted({row["n"] for row in rows if row["kind"] == kind}):
            some = [row["verdicts"] for row in rows if (row["kind"], row["n"]) == (kind, n)]
            counts = [Counter(verdicts[profile] for verdicts in some) for profile in PROFILES]
            told = " | ".join(f"{one['unsafe']} unsafe, {one['safe']} safe" for one in counts)
            low, high = clopper_pearson(counts[0]["unsafe"], len(some))
            lines.append(f"| {kind} | {n:,} | {len(some)} | {told} | {100 * low:.1f} to {100 * high:.1f} % |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Do what is missing, and keep every result at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=list(KINDS), action="append")
    parser.add_argument("--n", type=int, action="append")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    rows = json.loads(given.json.read_text(encoding="utf-8")) if given.json.exists() else []
    plan = {n: given.seeds or seeds for n, seeds in PLAN.items() if not given.n or n in given.n}
    for kind, n, seed in () if given.table else missing(rows, given.kind or list(KINDS), plan):
        rows.append(assessed(kind, n, seed))
        sys.stderr.write(f"{json.dumps(rows[-1])}\n")
        rows.sort(key=lambda row: (list(KINDS).index(row["kind"]), row["n"], row["seed"]))
        given.json.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    sys.stdout.write(table(rows))


if __name__ == "__main__":
    main()
