"""`unmask.assess_tables`: attack published tables, judge what follows from them, and report it as a release is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unmask.assessment import Assessment
from unmask.errors import ParameterError
from unmask.evidence import Finding, Findings, Policy, Progress, conclude, silent
from unmask.fingerprints import fingerprints
from unmask.made_with import made_with
from unmask.report import document
from unmask.tables import Release, read_table
from unmask.tabular import Reading, TableRisk, report_tables, table_risk

PEOPLE = document.PeopleEntry(None, "tables have no records: nobody is found in them, only counted", 0, 0.0, ())
CHECK = document.CheckEntry(True, "untested", "tables of counts and amounts have no rows of people", ())  # noqa: FBT003


def assess_tables(  # noqa: PLR0913 - the options of an assessment
    tables: Sequence[object],
    *,
    confidential: str | None = None,
    original: object = None,
    p: float = 0.1,
    reading: Reading | None = None,
    policy: Policy | str | Path | None = None,
    progress: Progress = silent,
    command: str | None = None,
) -> Assessment:
    """Attack tables of counts or amounts that are to be published, and say whether they may be.

    Parameters
    ----------
    tables
        All tables that are published of these people: frames or files with one row a cell, its labels (``Total`` for
        all) and its count or amount; empty, or a text such as ``x``: withheld; ``<5``: fewer than five.
    confidential
        The dimension that the intruder wants to learn about people.
    original
        The people behind the tables: checks the tables, and counts exactly whose value follows.
    p
        How closely a withheld amount may be known: 0.1 is 10 %.
    reading
        How the tables are written: value column, labels of totals, rounding, amounts.
    policy, progress, command
        As for ``assess``.

    """
    if not tables:
        raise ParameterError("no table is given", hint="one row a cell: its labels, and its count or amount")
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    risk = table_risk(tables, confidential=confidential, original=original, p=p, reading=reading, progress=progress)
    judged = conclude(report_tables(risk), rules, columns=(), core="tables", checked=_unproven(risk))
    frames = [_frame(one, reading) for one in tables]
    sources = {f"table {i}": one for i, one in enumerate(zip(tables, frames, strict=True), start=1)}
    if original is not None:
        sources["people"] = (original, _frame(original, reading))
    built = document.build(
        judged, check=CHECK, columns=(), warnings=(), risk={"risk": np.full(1, np.nan)}, people=PEOPLE,
        labels=None, manifest=_manifest({name: _source(*one) for name, one in sources.items()}, rules, command, risk),
    )  # fmt: skip
    return Assessment(
        judged.verdict.word, judged.verdict.reason, Findings(judged.findings), risk.to_frame(), built,
        Release(frames[0], frames[0], synthetic=True),
    )  # fmt: skip


def _frame(source: object, reading: Reading | None) -> pl.DataFrame:
    return read_table(source, name="table", **({} if reading is None else dict(reading.text)))


def _unproven(risk: TableRisk) -> tuple[Finding, ...]:
    """Cells whose ends the solver could not reach in time may be known more closely than it says."""
    if risk.proven:
        return ()
    words = "The solver ran out of time on some cells: they may be known more closely than this report says."
    return (Finding("check", "check.tables", words, "inconclusive", "not all bounds are proven"),)


def _source(table: object, frame: pl.DataFrame) -> dict[str, Any]:
    source = Release(frame, frame, synthetic=True).sources["released"]
    return {**document.vars_of(source), "path": str(table) if isinstance(table, str | Path) else None}


def _manifest(inputs: dict[str, Any], policy: Policy, command: str | None, risk: TableRisk) -> document.Manifest:
    return document.Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        seed=0,
        measures=("tables",),
        inputs=fingerprints(inputs),
        settings={"confidential": [risk.confidential] if risk.confidential else [], "people": risk.people},
        policy=policy.told(),
        versions=made_with(),
    )
