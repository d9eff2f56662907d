"""`unmask.assess_model`: attack a released model, judge what was found, and report it as a release is reported."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.assessment import Assessment
from unmask.disclosure import model_risk, question_of, refuse_overlap, report_model
from unmask.errors import ParameterError
from unmask.evidence import Findings, Policy, Progress, conclude, silent
from unmask.fingerprints import fingerprints
from unmask.made_with import made_with
from unmask.model_files import load_model, source_of
from unmask.report import document
from unmask.study import as_study
from unmask.tables import Release

PEOPLE = document.PeopleEntry(None, "a model has no records: nobody is found in it, only recognised", 0, 0.0, ())


def assess_model(  # noqa: PLR0913 - the options of an assessment
    model: Any,  # noqa: ANN401 - the owner's model, or its file
    original: object,
    *,
    control: object,
    target: str,
    confidential: Sequence[str] = (),
    ignored: Sequence[str] = (),
    fit: Any = None,  # noqa: ANN401 - fit(X, y)
    trust: bool = False,
    shadows: int = 32,
    policy: Policy | str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
    command: str | None = None,
    reading: dict[str, Any] | None = None,
) -> Assessment:
    """Attack a model that is to be published, and say whether it may be.

    Parameters
    ----------
    model
        Any object with ``predict_proba`` or ``predict``, or the path of a .joblib, .skops or .onnx file.
    original, control
        The people it was learnt from, and others of the same population: tables or files, with the columns that the
        model takes and its target.
    target
        The column that it predicts.
    confidential
        Columns it takes that an intruder wants to learn.
    ignored
        Columns that it does not take.
    fit
        Learns a reference model, ``fit(X, y)``; by default the same kind with the same settings, where it is known.
    trust
        Open a pickle: it can run any command on this computer.
    shadows
        Number of reference models.
    policy, seed, progress, command, reading
        As for ``assess``; ``reading``: options for text files.

    """
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    known = load_model(model, trust=trust) if isinstance(model, str | Path) else model
    people = Release(original, original, control=control, synthetic=True, reading=reading or {})
    refuse_overlap(as_study(people))
    table, outside = people.original, people.control
    if outside is None:
        raise ParameterError("nobody is known to be outside the model", hint="give people it never saw in control=")
    question = question_of(known, table, target, ignored)
    found = model_risk(
        known, table, outside, question, confidential=confidential, fit=fit, shadows=shadows, seed=seed,
        progress=progress,
    )  # fmt: skip
    judged = conclude(report_model(found), rules, columns=(), core="model")
    asked = {"target": target, "confidential": [*confidential], "ignored": [*ignored], "shadows": shadows}
    risk = np.full(table.height, np.nan)
    records = _records(risk, found.membership.per_record)
    built = document.build(
        judged,
        check=document.CheckEntry(True, "untested", "a model has no rows", ()),  # noqa: FBT003
        columns=(),
        warnings=(),
        risk={"membership": found.membership.per_record, "risk": risk},
        people=PEOPLE,
        labels=None,
        manifest=_manifest(people, model, rules, seed, command, asked),
    )
    return Assessment(judged.verdict.word, judged.verdict.reason, Findings(judged.findings), records, built, people)


def _records(risk: Floats, recognised: Floats) -> pl.DataFrame:
    """A row for each person: whether they are recognised; nobody is found in a model."""
    rows = np.arange(1, risk.size + 1)
    return pl.DataFrame({"row": rows, "membership": recognised, "risk": risk}).with_columns(
        pl.col("risk").fill_nan(None)
    )


def _manifest(
    people: Release,
    model: Any,  # noqa: ANN401 - a path or an object
    policy: Policy,
    seed: int,
    command: str | None,
    asked: dict[str, Any],
) -> document.Manifest:
    sources = {name: document.vars_of(source) for name, source in people.sources.items() if name != "released"}
    where = (
        source_of(model) if isinstance(model, str | Path) else {"path": None, "sha256": None, "rows": 0, "columns": 0}
    )
    return document.Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        seed=seed,
        measures=("membership", "inference"),
        inputs=fingerprints({**sources, "model": where}),
        settings={**people.settings, **asked},
        policy=policy.told(),
        versions=made_with(),
    )
