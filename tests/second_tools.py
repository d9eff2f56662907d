"""EM of the second tools over all pairs of two files of codes: `python second_tools.py TOOL files.npz`, JSON out.

Run by the Python of an environment that has the tools (`make peers`): recordlinkage needs a pandas older than ours.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def recordlinkage(a, b, *, atol=1e-9, steps=5000):
    """ECM over the full index; agreement is 1."""
    import pandas as pd
    from recordlinkage import Compare, ECMClassifier, Index

    names = [f"c{k}" for k in range(a.shape[1])]
    a, b = (pd.DataFrame(side, columns=names) for side in (a, b))
    begun = time.perf_counter()
    pairs = Index().full().index(a, b)
    compare = Compare()
    for name in names:
        compare.exact(name, name, label=name)
    vectors = compare.compute(pairs, a, b)
    middle = time.perf_counter()
    ecm = ECMClassifier(atol=atol, max_iter=steps)
    ecm.fit(vectors)
    return {
        "compare": middle - begun,
        "fit": time.perf_counter() - middle,
        "m": [ecm.m_probs[name][1] for name in names],
        "u": [ecm.u_probs[name][1] for name in names],
        "prior": ecm.p,
    }


def splink(a, b):
    """EM with DuckDB over the rule 1=1, every parameter learnt."""
    import pandas as pd
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator

    names = [f"c{k}" for k in range(a.shape[1])]
    api = DuckDBAPI()
    tables = [
        api.register(pd.DataFrame(side, columns=names).assign(unique_id=range(len(side))), dataset_display_name=name)
        for name, side in (("file_a", a), ("file_b", b))
    ]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[cl.ExactMatch(name) for name in names],
        blocking_rules_to_generate_predictions=[],
        probability_two_random_records_match=1 / len(a),
        em_convergence=1e-7,
        max_iterations=5000,
    )
    linker = Linker(tables, settings)
    session = linker.training.estimate_parameters_using_expectation_maximisation(
        "1=1", fix_u_probabilities=False, fix_probability_two_random_records_match=False
    )
    model = session.core_model_settings
    levels = {c.output_column_name: c.comparison_levels[1] for c in model.comparisons}
    return {
        "m": [levels[name].m_probability for name in names],
        "u": [levels[name].u_probability for name in names],
        "prior": model.probability_two_random_records_match,
    }


def alc(a, b):
    """Anonymity loss coefficient of predictions (right, confidence): those of the attack and those of the baseline."""
    import pandas as pd
    from anonymity_loss_coefficient.alc.score_interval import ScoreInterval

    score = ScoreInterval("wilson_score_interval", 0.95)
    best = [
        score.compute_best_prc(pd.DataFrame(side, columns=["prediction", "confidence"]), max_prec_interval=0.1)
        for side in (b, a)
    ]
    found = score._compile_data(*best)
    return {name: float(value) for name, value in found.items()}


if __name__ == "__main__":
    with np.load(sys.argv[2]) as given:
        left, right = given["a"], given["b"]
    how = {"atol": float(sys.argv[3])} if len(sys.argv) > 3 else {}
    print(json.dumps({"recordlinkage": recordlinkage, "splink": splink, "alc": alc}[sys.argv[1]](left, right, **how)))  # noqa: T201
