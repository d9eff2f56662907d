"""Peers in one table: the same question to others and to unmask, one after the other on one machine, CPU and wall.

    python benchmarks/peers.py                       all parts; each is a process of its own
    python benchmarks/peers.py nearest assignment    some of them
    python benchmarks/peers.py --page                write the table into docs/benchmarks.md

Peers that want another environment are run by the Python that is named: UNMASK_PEERS (Splink, as `make peers` makes
it), PYCANON_PYTHON, ANONYMETER_PYTHON. faiss and lapx are in the extra `bench`. Who is not there is named, not timed.
Sizes are modest, so that all of it ends in some minutes; linkage.py, groups.py and linkers.py have the large ones.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from linkage_parts.clock import Seconds, best, timed  # noqa: E402

RESULTS, PAGE = HERE / "results" / "peers.json", HERE.parent / "docs" / "benchmarks.md"
PATIENCE = 400  # seconds on the clock for a peer
Row = dict[str, object]
CLOCK = """
import json, resource, sys, time
def _now():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return time.perf_counter(), sum(one.ru_utime + one.ru_stime for one in used)
def told(name, begun, version):
    print(json.dumps([name, *(b - a for a, b in zip(begun, _now())), version]), flush=True)
"""
PYCANON = """
import pandas as pd
from importlib.metadata import version
from pycanon import anonymity as a
table = pd.read_parquet(sys.argv[1])
keys = [name for name in table.columns if name != "ill"]
for model in (a.k_anonymity, a.l_diversity, a.entropy_l_diversity, a.alpha_k_anonymity, a.t_closeness,
              a.delta_disclosure, a.basic_beta_likeness, a.enhanced_beta_likeness):
    begun = _now()
    model(table, keys) if model is a.k_anonymity else model(table, keys, ["ill"])
    told(model.__name__, begun, version("pycanon"))
"""
ANONYMETER = """
import warnings
warnings.filterwarnings("ignore")
import pandas as pd
from importlib.metadata import version
from anonymeter.evaluators import InferenceEvaluator
ori, syn, control = (pd.read_parquet(f"{sys.argv[1]}/{name}.parquet") for name in "xyc")
begun = _now()
aux = [name for name in ori.columns if name != "diagnosis"]
roles = {"aux_cols": aux, "secret": "diagnosis", "n_attacks": int(sys.argv[2])}
attack = InferenceEvaluator(ori=ori, syn=syn, control=control, **roles)
attack.evaluate(n_jobs=1)
told("inference", begun, version("anonymeter"))
"""
SPLINK = """
import numpy as np, pandas as pd
from importlib.metadata import version
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on
with np.load(sys.argv[1]) as given:
    sides = given["a"], given["b"]
names = [f"c{k}" for k in range(sides[0].shape[1])]
begun = _now()
api = DuckDBAPI()
tables = [
    api.register(pd.DataFrame(side, columns=names).assign(unique_id=range(len(side))), dataset_display_name=name)
    for name, side in zip(("file_a", "file_b"), sides)
]
rules = [block_on("c0", "c1", "c2"), block_on("c0", "c3", "c4", "c5")]
linker = Linker(tables, SettingsCreator(
    link_type="link_only", comparisons=[cl.ExactMatch(name) for name in names],
    blocking_rules_to_generate_predictions=rules, probability_two_random_records_match=1 / len(sides[0]),
))
linker.training.estimate_u_using_random_sampling(max_pairs=5e6, seed=1)
for rule in rules:
    linker.training.estimate_parameters_using_expectation_maximisation(rule)
told("u from 5 million pairs, EM within two blocks", begun, version("splink"))
"""


def other(python: str | None, code: str, *given: object) -> list[list[object]] | str:
    """What a peer in another environment tells of its steps; why it is not there, where it is not."""
    if not python or not Path(python).exists():
        return "not installed here"
    command = [python, "-W", "ignore", "-c", CLOCK + code, *map(str, given)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        printed, failed = done.stdout, done.stderr.strip().splitlines()[-1:] if done.returncode else []
    except subprocess.TimeoutExpired as stopped:
        printed, failed = (stopped.stdout or b"").decode(), [f"not ended within {PATIENCE} s"]
    told = [json.loads(line) for line in printed.splitlines() if line.startswith("[")]
    return told or (failed[0] if failed else "said nothing")


def row(what: str, size: str, peer: str, ours: Seconds, theirs: Seconds | None, note: str = "") -> Row:
    """One line of the table."""
    return {"what": what, "size": size, "peer": peer, "ours": ours, "theirs": theirs, "note": note}


def version_of(name: str) -> str:
    """A peer with its version."""
    return f"{name} {importlib.metadata.version(name)}"


# --- parts ------------------------------------------------------------------------------------------------------------


def nearest() -> list[Row]:
    """The two nearest records of everybody, and the decision, at noise 0.1 and 0.5."""
    from linkage_parts.peers import missing, nearest_peers
    from linkage_parts.tables import space_of

    from unmask.kernels.search import decide
    from unmask.kernels.search import nearest as search

    packages = {"SciPy": "scipy", "scikit-learn": "scikit-learn", "faiss": "faiss-cpu"}
    found, n = [], 20_000
    for masking in ("noise 0.1", "noise 0.5"):
        space = space_of(n, masking, back=True)
        truth = np.arange(n)
        search(space), decide(space, truth)  # compile
        full, _ = best(lambda space=space: search(space), 3)
        decision, _ = best(lambda space=space, truth=truth: decide(space, truth), 3)
        for peer in nearest_peers(space, 1, 0.25):
            package = next(version_of(packages[name]) for name in packages if peer.name.startswith(name))
            same = "" if peer.same else "another question: float32, no ties"
            scaled = "a quarter of the queries, scaled up" if peer.scaled else ""
            note = "; ".join(filter(None, [same, scaled]))
            asked = f"{peer.name} ({package})"
            found.append(row(f"nearest records, {masking}", f"{n:,} x 13", asked, full, peer.seconds, note))
            if peer.same:
                found.append(row(f"the decision alone, {masking}", f"{n:,} x 13", asked, decision, peer.seconds, note))
    absent = [name for name in missing() if not name.startswith("sdcMicro")]  # the page says why
    return [*found, *(row("nearest records", "", name, full, None, "not installed") for name in absent)]


def assignment() -> list[Row]:
    """One-to-one linkage, exact, against dense solvers."""
    from linkage_parts.peers import assignment_peers
    from linkage_parts.tables import space_of

    from unmask.kernels.assignment import solve

    found, n = [], 2000
    for masking in ("noise 0.1", "noise 0.5"):
        space = space_of(n, masking)
        solve(space)  # compile
        ours, solved = best(lambda space=space: solve(space), 3)
        for name, peer in assignment_peers():
            taken, total = timed(lambda peer=peer, space=space: peer(space))
            apart = (
                f"totals {abs(total - solved.total) / total:.0e} apart" if total != solved.total else "the same total"
            )
            asked = f"{name} ({version_of('scipy' if name.startswith('SciPy') else 'lapx')})"
            found.append(row(f"one to one, exact, {masking}", f"{n:,} x 13", asked, ours, taken, apart))
    return found


def anonymity() -> list[Row]:
    """All anonymity models of five keys."""
    import unmask
    from groups import DOMAINS5, wide

    n = 10_000
    table = wide(n)
    ask = lambda: unmask.anonymity(table, quasi=list(DOMAINS5), confidential="ill")  # noqa: E731
    ask()
    ours, _ = best(ask, 3)
    with tempfile.TemporaryDirectory() as folder:
        table.write_parquet(Path(folder) / "t.parquet")
        told = other(os.environ.get("PYCANON_PYTHON"), PYCANON, Path(folder) / "t.parquet")
    size, what = f"{n:,} x 6", "all anonymity models at once"
    if isinstance(told, str):
        return [row(what, size, "pyCANON", ours, None, told)]
    total = Seconds(sum(one[1] for one in told), sum(one[2] for one in told))
    note = f"{len(told)} of its 8 models ended within {PATIENCE} s, one after the other"
    return [row(what, size, f"pyCANON {told[0][3]}", ours, total, note)]


def inference() -> list[Row]:
    """Guessing a diagnosis from all other columns."""
    import unmask

    n, attacks = 4000, 400
    tables = [
        unmask.datasets.patients(n, seed=seed).drop("patient", "birth date", "admitted", "postcode", "bmi")
        for seed in range(3)
    ]
    how = {"confidential": ["diagnosis"], "synthetic": True}
    small = [table[:200] for table in tables]
    unmask.attribute_inference(unmask.Release(small[0], small[1], control=small[2], **how))
    release = unmask.Release(tables[0], tables[1], control=tables[2], **how)
    ours, _ = best(lambda: unmask.attribute_inference(release), 2)
    with tempfile.TemporaryDirectory() as folder:
        for name, table in zip("xyc", tables, strict=True):
            table.write_parquet(Path(folder) / f"{name}.parquet")
        told = other(os.environ.get("ANONYMETER_PYTHON"), ANONYMETER, folder, attacks)
    what = "attribute inference, everybody"
    if isinstance(told, str):
        return [row(what, f"{n:,}", "Anonymeter", ours, None, told)]
    taken = Seconds(told[0][1], told[0][2]).times(n / attacks)
    note = f"{attacks} people on each side, scaled up to everybody"
    return [row(what, f"{n:,}", f"Anonymeter {told[0][3]}", ours, taken, note)]


def linkers() -> list[Row]:
    """Fellegi-Sunter at a million rows."""
    from linkers import comparison, em, files

    from reference import PEERS

    n = 1_000_000
    em(comparison(*files(3000)))
    sides = files(n)
    ours, _ = timed(lambda: em(comparison(*sides)))
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "files.npz", a=sides[0], b=sides[1])
        told = other(str(PEERS), SPLINK, Path(folder) / "files.npz")
    what, size = "Fellegi-Sunter by EM (ours: over all 10^12 pairs)", f"{n:,} x 8"
    if isinstance(told, str):
        return [row(what, size, "Splink on DuckDB", ours, None, told)]
    return [row(what, size, f"Splink {told[0][3]} on DuckDB", ours, Seconds(*told[0][1:3]), str(told[0][0]))]


def published() -> list[Row]:
    """The sizes at which riskutility's own paper gives its times (dcap, tcap, kanonymity, ims), made as it does."""
    _published(300)  # compile
    return [line for n in (1000, 5000, 20_000) for line in _published(n)]


def _published(n: int) -> list[Row]:
    import unmask

    rng = np.random.default_rng(1)
    people = pl.DataFrame(
        {
            "age": rng.integers(18, 86, n),
            "sex": rng.choice(["M", "F"], n),
            "education": rng.choice(["Primary", "Secondary", "Tertiary"], n),
            "region": rng.choice(["R1", "R2", "R3", "R4", "R5"], n),
            "income": np.round(rng.lognormal(np.log(40000), 0.5, n)),
        }
    )
    age, income = rng.integers(18, 86, n), np.round(rng.lognormal(np.log(40000), 0.5, n))
    made = people.with_columns(pl.Series("age", age), pl.Series("income", income))
    keys = ["age", "sex", "education", "region"]
    asked: dict[str, Callable[[], object]] = {
        "attribution by look-up (CAP)": lambda: unmask.key_disclosure(people, made, keys=keys, target="income"),
        "group sizes": lambda: unmask.group_risk(made, quasi=keys),
    }
    note = "its published size; R is needed to run it"
    return [row(what, f"{n:,} x 5", "riskutility", best(ask, 3)[0], None, note) for what, ask in asked.items()]


PARTS: dict[str, Callable[[], list[Row]]] = {
    one.__name__: one for one in (nearest, assignment, anonymity, inference, linkers, published)
}


# --- the table --------------------------------------------------------------------------------------------------------


def run_all(parts: list[str]) -> None:
    """Run parts, each in a process of its own, and keep what they tell."""
    for name in parts:
        load = round(os.getloadavg()[0], 1)
        done = subprocess.run([sys.executable, __file__, "--one", name], stdout=subprocess.PIPE, check=True)
        told = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"parts": {}}
        told["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, shared; one thread each"
        told["parts"][name] = {"load": load, "rows": json.loads(done.stdout.splitlines()[-1])}
        RESULTS.write_text(json.dumps(told, indent=1) + "\n")


def _line(entry: Row, load: float) -> str:
    ours, theirs = entry["ours"], entry["theirs"]
    taken = [f"{cpu:.3g} ({wall:.3g})" for wall, cpu in filter(None, (ours, theirs))] + [""] * (theirs is None)
    ratio = "" if theirs is None else f"{theirs[1] / max(ours[1], 1e-3):,.3g}"
    cells = entry["what"], entry["size"], taken[0], entry["peer"], taken[1], ratio, load, entry["note"]
    return f"| {' | '.join(map(str, cells))} |"


def page() -> None:
    """Write the table into the page."""
    told = json.loads(RESULTS.read_text())
    head = "| what | size | ours, s | peer | peer, s | times ours | load | |\n|---|---|---|---|---|---|---|---|\n"
    lines = [_line(entry, part["load"]) for part in told["parts"].values() for entry in part["rows"]]
    text = PAGE.read_text()
    begin, end = text.index("<!-- peers:"), text.index("<!-- end -->", text.index("<!-- peers:"))
    first = text[begin:].split("\n", 1)[0]
    PAGE.write_text(f"{text[:begin]}{first}\n{head}" + "\n".join(lines) + "\n" + text[end:])


def main() -> None:
    """Run the parts that are named, or write the page."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    asked.add_argument("--one", choices=PARTS)
    asked.add_argument("--page", action="store_true")
    given = asked.parse_args()
    if given.one:
        sys.stdout.write("\n" + json.dumps(PARTS[given.one]()) + "\n")
    elif given.page:
        page()
    else:
        run_all(given.parts or list(PARTS))


if __name__ == "__main__":
    main()
