"""Pages of every kind that unmask writes, made once and small: what the tests in a real browser look at."""

from __future__ import annotations

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier

import unmask
from unmask.certificate import as_statement
from unmask.certificate.content import Measured, build
from unmask.certificate.render import to_html
from unmask.protect import Frontier, Point
from unmask.report import compare_reports, render, render_comparison, render_frontier

LONG = ("number_of_days_absent_without_a_written_excuse_of_the_parents", "language_that_is_mostly_spoken_at_home")
SCRIPTS = ("年齢と生年月日", "الدخل السنوي", "город проживания")
FEW = ("anonymity", "knowledge_sweep", "likelihood", "nearest", "one_to_one", "uniqueness", "values")
PEOPLE = 90


def people(names, seed=0, n=PEOPLE):
    """People of three columns of these names and a secret; a release of them with noise."""
    rng = np.random.default_rng(seed)
    values = (rng.integers(18, 90, n), rng.normal(30, 8, n).round(1), rng.choice(["a", "b", "c"], n))
    original = pl.DataFrame({"id": np.arange(n), **dict(zip(names, values, strict=True)), "ill": rng.integers(0, 2, n)})
    noisy = original[names[1]] + rng.normal(0, 2, n).round(1)
    return original, original.with_columns(noisy.alias(names[1]))


def told(release, **more):
    return unmask.assess(release, utility="none", **{"only": FEW, **more})


def pages():
    """A page of each kind, by name."""
    made = _reports()
    documents = {name: assessment.document for name, assessment in made.items()}
    found = {name: render(document) for name, document in documents.items()}
    found["compare"] = render_comparison(compare_reports(made["long names"], made["recipients"]))
    frontier = Frontier(tuple(map(_point, (1, 2, 3), ("unsafe", "inconclusive", "safe"))), PEOPLE, "partner", 0.09)
    found["explore"] = render_frontier(frontier.to_dict(), frontier.words)
    certificate = build(Measured(documents["recipients"], initial=documents["long names"]), as_statement({}))
    found["certificate"] = to_html(certificate)
    found["public certificate"] = to_html(certificate.for_the_public())
    return found


def _point(k, verdict):
    shares = 0.3 / k, 0.2 / k, 0.5 / k, 3, 1 - k / 9, 1 - k / 9
    return Point(f"noise({k})", 1, "whole", verdict, "", "nearest", *shares, None, None, 1.0)


def _model():
    """A tree that remembers every label."""
    inside, outside = (people(("age", "size", "sex"), seed)[0].drop("id", "sex") for seed in (3, 4))
    tree = DecisionTreeClassifier(random_state=0).fit(inside.drop("ill").to_numpy(), inside["ill"].to_numpy())
    return unmask.assess_model(tree, inside, control=outside, target="ill", confidential=["age"], shadows=4)


def _reports():
    original, released = people((*LONG, "sex"))
    foreign = people(SCRIPTS, seed=1)
    homes = [table.with_columns(home=pl.Series(np.arange(PEOPLE) // 3)) for table in people(("age", "size", "sex"), 2)]
    insider = {"name": "Department of epidemiology of the university", "audience": "internal"}
    worst = {"name": "anybody", "audience": "public"}
    secret = {"id": "id", "confidential": ["ill"]}
    table, other = original.drop("id"), people((*LONG, "sex"), seed=7)[0].drop("id")
    return {
        "long names": told(unmask.Release(original, released, **secret), by=[LONG[1]]),
        "other scripts": told(unmask.Release(*foreign, **secret), policy="strict"),
        "recipients": told(unmask.Release(original, released, **secret), recipients=[insider, worst]),
        "households": told(unmask.Release(*homes, household="home", **secret), only=(*FEW, "household", "clusters")),
        "synthetic with control": told(unmask.Release(table, other, control=people((*LONG, "sex"), 8)[0].drop("id"),
                                                      synthetic=True), only=("copies", "keys", "singling")),
        "synthetic": told(unmask.Release(table, other, synthetic=True), only=("copies", "keys")),
        "model": _model(),
        "release alone": told(unmask.Release(None, released.drop("id")), only=("anonymity", "uniqueness")),
    }  # fmt: skip
