"""From an assessment to a certificate: the untreated table is attacked too, the attacks are checked on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unmask.assessment import Assessment, assess
from unmask.certificate import Certificate, Measured, Statement, as_statement, build
from unmask.evidence import Policy, Progress, silent
from unmask.report import percent
from unmask.selfcheck import selfcheck
from unmask.tables import Release
from unmask.utility import what_is_left

CHECKED = ("nearest", "one_to_one", "uniqueness", "anonymity")  # quick, and what every verdict of "safe" needs
SIZE = 200  # people of the tables with a known answer


def certify(
    assessment: Assessment,
    *,
    statement: Statement | Mapping[str, Any] | None = None,
    initial: bool = True,
    check: bool = True,
    progress: Progress | None = None,
) -> Certificate:
    """Put an assessment and what the steward states into a certificate.

    ``initial`` attacks the untreated table by the same measures, under the same limits; ``check`` tries quick attacks
    on tables with a known answer, on this machine.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(60)
    >>> found = unmask.assess(unmask.Release(people, people), only=["nearest"])
    >>> unmask.certify(found, initial=False, check=False).verdict
    'unsafe'

    """
    told, stated = progress or silent, as_statement(statement)
    beside = initial and not assessment.release.alone  # without an original nobody knows what was treated
    before = _untreated(assessment, lambda done, words: told(0.8 * done, words)) if beside else None
    checks = _checks(assessment, lambda done, words: told(0.8 + 0.2 * done, words)) if check else ()
    largest, average = _risks(assessment)
    first = (None, None) if before is None else _risks(before)
    measured = Measured(
        assessment.document,
        None if before is None else before.document,
        largest,
        average,
        *first,
        left=() if assessment.release.alone else _left(assessment.release),
        checks=checks,
    )
    return build(measured, stated)


def _untreated(assessment: Assessment, tell: Progress) -> Assessment:
    """Attack the original as if it were published with all its columns, by the same measures."""
    release, manifest = assessment.release, assessment.document.manifest
    roles = {name: value for name, value in manifest.settings.items() if name not in {"reading", "masking", "scenario"}}
    others = {name: getattr(release, name) for name in ("control", "population") if getattr(release, name) is not None}
    copy, whose = Release(release.original, release.original, **{**roles, **others}), assessment.document.recipient
    copy = copy if whose is None or whose.columns is None else copy.known_by(whose.columns)
    described = assessment.document.policy_description
    limits, _ = Policy.recorded(manifest.policy["name"], described, manifest.policy["thresholds"], ())
    return assess(
        copy, policy=limits, only=manifest.measures, seed=manifest.seed, progress=tell, intruder=manifest.intruder
    )


def _risks(assessment: Assessment) -> tuple[float | None, float | None]:
    """The largest and the average risk of a person, where anybody has one."""
    known = assessment.risks[~np.isnan(assessment.risks)]
    return (float(known.max()), float(known.mean())) if known.size else (None, None)


def _checks(assessment: Assessment, tell: Progress) -> tuple[tuple[str, bool], ...]:
    """Whether the quick ones of the attacks that were run tell a copy from a stranger on this machine."""
    chosen = [name for name in CHECKED if name in assessment.document.manifest.measures]
    found = selfcheck(only=chosen, size=SIZE, progress=tell) if chosen else ()
    return tuple((name, all(one.passed for one in found if one.measure == name)) for name in chosen)


def _left(release: Release) -> tuple[str, ...]:
    """What is left of the data in words: one number, with its parts; a column that was dropped has nothing left."""
    original, released = release.original, release.released
    if not release.synthetic:
        rows = release.paired_rows
        original, released = original[rows], released[release.truth[rows]]
    columns = [name for name in original.columns if name != release.id]
    left = what_is_left(original, released, columns=columns, paired=not release.synthetic)
    lines = [f"{percent(left.value)} in all, where a column that was dropped counts as lost"]
    lines += [f"relations between columns: {percent(left.relations)}"] if left.relations is not None else []
    least = sorted(left.columns.items(), key=lambda pair: (pair[1], pair[0]))[:3]
    return (*lines, "least is left of " + ", ".join(f"{name} ({percent(value)})" for name, value in least))
