"""What other tools say of the same releases: recordlinkage, Splink, Anonymeter, SDMetrics.

    python benchmarks/gauntlet/peers.py [CASE ...] [--tools splink,sdmetrics] [--limit 240] [--json FILE]

Every tool runs in a process of its own, in the environment that `make gauntlet-peers` makes (or at the Python in
UNMASK_GAUNTLET_PEERS), and is stopped after --limit seconds. They answer different questions: a row says which.

- recordlinkage, splink: share of people whose most probable record is their own, ties shared, over all pairs of the
  columns that both files have. Numbers agree within a tenth or half of an sd, or in both levels (Splink): of
  these the setting that finds most, which flatters the tool. Texts agree by Jaro-Winkler. On 400 people, where a
  release has more: an easier task than the bespoke intruder's. EM starts where the tool starts it by default.
- anonymeter: its singling-out risk (multivariate, 300 guesses) and its linkability risk (columns known in two halves),
  each corrected for the success on people outside where a control table is given, and not otherwise.
- sdmetrics: 1 - DCRBaselineProtection (how much nearer the release is to the original than random rows are) and
  1 - NewRowSynthesis (share of released rows that are rows of the original, numbers within 1 %).

None of them gives a verdict. sdcMicro needs R and is not run.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "gauntlet_peers.json"
PEERS = Path(os.environ.get("UNMASK_GAUNTLET_PEERS", ROOT / ".venv-gauntlet" / "bin" / "python"))
CASES = (
    "derived_columns", "brackets_with_separators", "unsalted_hash", "other_units", "pattern_of_missing",
    "cents_survive", "correlated_noise", "typing_errors", "noise_then_rounding", "rank_swap_15", "pram", "mdav_3",
    "couples", "copy_called_synthetic", "memorised_with_jitter", "independent_people", "columns_shuffled",
)  # fmt: skip
PEOPLE = (
    400  # of a release whose rows belong to people, so that all pairs can be compared: fewer than the intruder faced
)
SD_LEVELS = (0.1, 0.5)  # two numbers agree, and nearly agree, within so many sd


# --- both files, as the tools take them ---------------------------------------------------------------------------


class Nothing(Exception):  # noqa: N818 - an answer, not an error
    """A tool has nothing to compare, or asks for what the release does not have."""


def tables(name):
    """Both files and the control as pandas, on the columns of one kind that they share, and whose row is whose."""
    import polars as pl
    from families import CASES as RELEASES

    case = RELEASES[name].make(0)
    shared = [c for c in case.original.columns if c in case.released.columns and c != case.roles.get("id")]
    shared = [c for c in shared if c != case.roles.get("household")]
    if not shared:
        raise Nothing("the files share no column")
    frames = [case.original, case.released, case.roles.get("control")]
    if "id" in case.roles:
        frames[0] = case.original.head(PEOPLE)
        frames[1] = case.released.filter(pl.col("id").is_in(frames[0]["id"].implode()))
    numeric = {
        c: all(f[c].dtype.is_numeric() or f[c].dtype.is_temporal() for f in frames if f is not None) for c in shared
    }

    def as_pandas(frame):
        days = [pl.col(c).cast(pl.Int64) if frame[c].dtype.is_temporal() else pl.col(c) for c in shared]
        kinds = {c: pl.Float64 if numeric[c] else pl.String for c in shared}
        return frame.select(days).cast(kinds).to_pandas()

    truth = None
    if "id" in case.roles:
        place = {person: row for row, person in enumerate(frames[1]["id"].to_list())}
        truth = [place[person] for person in frames[0]["id"].to_list()]
    return *(None if f is None else as_pandas(f) for f in frames), numeric, truth


def best_record(score, truth):
    """Share of people whose best-scored record is their own, ties shared."""
    import numpy as np

    tie = np.isclose(score, score.max(1, keepdims=True), rtol=1e-9, atol=1e-12)
    return float(np.where(tie[np.arange(len(truth)), truth], 1 / tie.sum(1), 0).mean())


# --- the tools ----------------------------------------------------------------------------------------------------


def recordlinkage(name):
    """ECM over all pairs; each person's most probable record."""
    from recordlinkage import Compare, Index

    original, released, _, numeric, truth = tables(name)
    if truth is None:
        raise Nothing("no row belongs to a person")
    pairs, shares = Index().full().index(original, released), []
    for level in SD_LEVELS:  # its ECM takes agreement or not, so one width at a time: the better one counts
        compare = Compare()
        for c, number in numeric.items():
            if number:
                compare.numeric(c, c, method="step", offset=level * (original[c].std() or 1.0), label=c)
            else:
                compare.string(c, c, method="jarowinkler", threshold=0.92, label=c)
        vectors = compare.compute(pairs, original, released)
        vectors = vectors.loc[:, vectors.nunique() > 1]
        if vectors.shape[1]:
            shares.append(best_record(_weights(vectors).reshape(len(original), len(released)), truth))
    if not shares:
        raise Nothing("no column tells any pair from another")
    share = max(shares)
    return [("found", share, "most probable record is the own one")]


def _weights(vectors):
    """Fellegi-Sunter weights of all pairs, with the probabilities that ECM learnt."""
    import numpy as np
    from recordlinkage import ECMClassifier

    ecm = ECMClassifier(atol=1e-7, max_iter=1000)
    ecm.fit(vectors)
    total = np.zeros(len(vectors))
    for c in vectors.columns:
        agree = vectors[c].to_numpy() == 1
        apart, equal = (
            np.log(max(ecm.m_probs[c].get(k, 0), 1e-12) / max(ecm.u_probs[c].get(k, 0), 1e-12)) for k in (0, 1)
        )
        total += np.where(agree, equal, apart)
    return total


def splink(name):
    """EM over all pairs with DuckDB; each person's most probable record, with the widths that serve it best."""
    original, released, _, numeric, truth = tables(name)
    if truth is None:
        raise Nothing("no row belongs to a person")
    widths = [(level,) for level in SD_LEVELS] + [SD_LEVELS] if any(numeric.values()) else [SD_LEVELS]
    shares = [best_record(_splink_weights(original, released, numeric, some), truth) for some in widths]
    return [("found", max(shares), "most probable record is the own one")]


def _splink_weights(original, released, numeric, widths):
    """Match weights of all pairs; numbers agree within so many sd, in as many levels as there are widths."""
    import numpy as np
    import splink.comparison_level_library as cll
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator

    names = {c: f"c{k}" for k, c in enumerate(numeric)}
    comparisons = []
    for c, number in numeric.items():
        if number:
            sd = float(original[c].std() or 1.0)
            near = [cll.AbsoluteDifferenceLevel(names[c], share * sd) for share in widths]
            levels = [cll.NullLevel(names[c]), *near, cll.ElseLevel()]
            comparisons.append(cl.CustomComparison(output_column_name=names[c], comparison_levels=levels))
        else:
            comparisons.append(cl.JaroWinklerAtThresholds(names[c], [0.92]))
    api = DuckDBAPI()
    files = [
        api.register(f.rename(columns=names).assign(unique_id=range(len(f))), dataset_display_name=label)
        for label, f in (("file_a", original), ("file_b", released))
    ]
    settings = SettingsCreator(
        link_type="link_only", comparisons=comparisons, blocking_rules_to_generate_predictions=["1=1"],
        probability_two_random_records_match=1 / len(original), max_iterations=100,
    )  # fmt: skip
    linker = Linker(files, settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    training = linker.training.estimate_parameters_using_expectation_maximisation
    training("1=1", fix_probability_two_random_records_match=True)
    pairs = linker.inference.predict().as_pandas_dataframe()
    score = np.full((len(original), len(released)), -np.inf)
    a_first = (pairs["source_dataset_l"] == "file_a").to_numpy()
    left, right = pairs["unique_id_l"].to_numpy(), pairs["unique_id_r"].to_numpy()
    score[np.where(a_first, left, right), np.where(a_first, right, left)] = pairs["match_weight"].to_numpy()
    return score


def anonymeter(name):
    """Singling out and linkability, as its documentation runs them."""
    from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator

    original, released, control, numeric, _ = tables(name)
    rows = []
    columns = list(numeric)
    guesses = SinglingOutEvaluator(
        ori=original, syn=released, control=control, n_attacks=300, n_cols=min(4, len(columns)),
        max_attempts=30000, seed=0,
    )  # fmt: skip
    guesses.evaluate(mode="multivariate")
    rows.append(("singling_out", float(guesses.risk().value), "guesses that single out a person"))
    if len(columns) > 1:
        half = len(columns) // 2
        n = min(len(original), len(control) if control is not None else len(original), 400)
        links = LinkabilityEvaluator(
            ori=original, syn=released, control=control, n_attacks=n, aux_cols=(columns[:half], columns[half:]),
            n_neighbors=1,
        )  # fmt: skip
        links.evaluate(n_jobs=1)
        rows.append(("linkability", float(links.risk().value), "both halves of a person lead to one row"))
    return rows


def sdmetrics(name):
    """Distance to the closest record, and rows that are not new."""
    import numpy as np
    from sdmetrics.single_table import DCRBaselineProtection, NewRowSynthesis

    np.random.seed(0)  # noqa: NPY002 - the tool draws its random rows from it
    original, released, _, numeric, _ = tables(name)
    kinds = {c: {"sdtype": "numerical" if number else "categorical"} for c, number in numeric.items()}
    metadata = {"columns": kinds}
    rows = []
    try:
        score = DCRBaselineProtection.compute(original, released, metadata)
    except TypeError:
        score = DCRBaselineProtection.compute(original, released, {"tables": {"t": metadata}}, "t")
    rows.append(("dcr", 1 - float(score), "1 - DCRBaselineProtection"))
    score = NewRowSynthesis.compute(original, released, metadata, synthetic_sample_size=min(300, len(released)))
    rows.append(("copied_rows", 1 - float(score), "1 - NewRowSynthesis"))
    return rows


TOOLS = {tool.__name__: tool for tool in (recordlinkage, splink, anonymeter, sdmetrics)}


# --- running them -------------------------------------------------------------------------------------------------


def one(tool, name):
    """Run here, in the peers' environment: the answers as JSON on the last line."""
    begin = time.process_time()
    try:
        said = TOOLS[tool](name)
        answers = [{"number": k, "value": value, "what": what} for k, value, what in said if math.isfinite(value)]
        reason = ", ".join(f"no number for {key}" for key, value, _ in said if not math.isfinite(value))
    except Nothing as absent:
        answers, reason = [], f"does not apply: {absent}"
    except Exception as error:  # noqa: BLE001 - a tool that stops is a result
        answers, reason = [], f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
    version = importlib.metadata.version(tool)
    seconds = round(time.process_time() - begin, 1)
    return {"tool": tool, "version": version, "case": name, "answers": answers, "reason": reason, "seconds": seconds}


def bounded(tool, name, limit):
    """Run a tool in its own process and environment, and end it when its time is up."""
    command = [str(PEERS), __file__, "--one", tool, name]
    given = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True, env=given)
    except subprocess.TimeoutExpired:
        reason, seconds = f"stopped after {limit:.0f} s", limit
    except subprocess.CalledProcessError as error:
        reason, seconds = f"ended with code {error.returncode}: {error.stderr[-200:]}", 0
    else:
        return json.loads(done.stdout.splitlines()[-1])
    return {"tool": tool, "version": "", "case": name, "answers": [], "reason": reason, "seconds": seconds}


def write(row, path):
    """Keep the rows of other tools and cases."""
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = [old for old in rows if (old["tool"], old["case"]) != (row["tool"], row["case"])] + [row]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.sort(key=lambda r: (CASES.index(r["case"]) if r["case"] in CASES else len(CASES), r["case"], r["tool"]))
    path.write_text(json.dumps({"rows": rows}, indent=1, ensure_ascii=False) + "\n")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--limit", type=float, default=240.0, metavar="SECONDS")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--one", metavar="TOOL", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.one:
        print(json.dumps(one(given.one, given.names[0])))
        return 0
    if not PEERS.exists():
        raise SystemExit(f"no second tools at {PEERS}: make gauntlet-peers, or set UNMASK_GAUNTLET_PEERS")
    for name in given.names or CASES:
        for tool in given.tools.split(","):
            row = bounded(tool, name, given.limit)
            write(row, given.json)
            told = ", ".join(f"{a['number']} {a['value']:.1%}" for a in row["answers"]) or row["reason"]
            print(f"{name:28} {tool:14} {told}  ({row['seconds']:.0f} CPU s)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
