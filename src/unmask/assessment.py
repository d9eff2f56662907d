"""The only place that knows every room: run each attack that applies, judge what it found, and gather it all."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unmask.advice import advice_of
from unmask.arrays import Floats
from unmask.attacks import Attacked, again_with, attack_all, parties_of, run_measure, with_left_out
from unmask.beside import check_keep, check_looked, utility_of
from unmask.disclosure import refuse_overlap
from unmask.errors import ParameterError
from unmask.evidence import (
    Context,
    Evidence,
    Finding,
    Findings,
    Measure,
    Policy,
    Progress,
    Reported,
    as_intruder,
    guess,
    registered,
    silent,
    told_of,
)
from unmask.fingerprints import fingerprints
from unmask.intake import Check
from unmask.made_with import made_with
from unmask.masking import parse_masking
from unmask.people import Found, PersonRisk, RiskByGroup, check_by, risk_by_group, stories_of, uneven
from unmask.planning import Plan, plan_attacks, seconds
from unmask.recipients import Recipient, Side, as_recipients, sides_of, worst_of
from unmask.report import document
from unmask.resume import keeping
from unmask.shown import Shown
from unmask.study import as_study
from unmask.tables import Release, write_atomically, write_findings

ROOMS = ("linkage", "graph", "max_knowledge", "groups", "disclosure", "publications")
MORE_BY_ORIGINAL = (
    "no original was given: values are taken as people's own, so who is alone here is alone in truth only if nothing "
    "was masked. An original would add linkage (nearest, one to one, learnt masking and its relatives), what models "
    "and neighbours tell about secrets, membership, copies, and what is left of the data"
)


def discover() -> dict[str, Measure]:
    """Import every file of the rooms, so that each method has registered itself, and return all measures."""
    for room in ROOMS:
        package = importlib.import_module(f"unmask.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"unmask.{room}."):
            importlib.import_module(module.name)
    return registered()


@dataclass(frozen=True, slots=True, repr=False)
class Assessment(Shown):
    """The verdict on a release, with everything that led to it.

    ``findings`` is a tuple with ``to_frame()``; ``plot()`` draws it. ``records`` has one row per original record: the
    ``risk``, and what each attack made of the person in this release.
    """

    verdict: str
    reason: str
    findings: Findings
    records: pl.DataFrame = field(repr=False)
    document: document.Document = field(repr=False)
    release: Release = field(repr=False)

    def __repr__(self) -> str:
        """One line: the verdict and how many findings led to it."""
        judged = sum(finding.outcome == "against" for finding in self.findings)
        return f"<Assessment: {self.verdict}; {judged} of {len(self.findings)} findings above their limits>"

    @property
    def risks(self) -> Floats:
        """One probability per person of the original, in its order: how often the best attack finds them.

        Over draws of the masking, not the hit or miss of this one, by the attack that finds most people. NaN for who
        has no record in the release or was not looked for, and for everybody if no attack that finds people ran.
        """
        return self.records["risk"].to_numpy()

    def by_group(self, column: str) -> RiskByGroup:
        """Tell who bears the risk: mean risk and people found in each group of a column of either table.

        Numbers are put into bands, dates into years; groups of fewer than 11 people are merged, missing values are a
        group. Everybody who has a risk is in one group.
        """
        return risk_by_group(self.release, column, found_by(self.document.people.measure, self.records, self.findings))

    def to_dict(self) -> dict[str, Any]:
        """Return the versioned document that the JSON and the HTML show."""
        return document.to_dict(self.document)

    def write_json(self, path: str | Path) -> None:
        """Write the document as JSON, atomically and readable by the owner only."""
        write_atomically(path, document.to_json(self.document))

    def write_html(self, path: str | Path) -> None:
        """Write the report as one self-contained HTML file."""
        from unmask.report import render  # noqa: PLC0415 - pulls altair

        write_atomically(path, render(self.document))

    def write_records(self, path: str | Path) -> None:
        """Write one row per original record, as CSV or Parquet by suffix."""
        write_findings(self.records, path)


def assess(  # noqa: PLR0913 - the options of an assessment
    release: Release,
    *,
    policy: Policy | str | Path | None = None,
    only: Iterable[str] | None = None,
    skip: Iterable[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
    command: str | None = None,
    show_values: bool = False,
    intruder: str = "maximum",
    recipients: Iterable[Recipient | Mapping[str, Any]] = (),
    by: Iterable[str] = (),
    keep: Iterable[str] = (),
    utility: str | None = None,
    resume: str | Path | None = None,
    budget: str | float | None = None,
    plan: Plan | None = None,
) -> Assessment:
    """Attack a release with every method that applies, and say whether it may be published.

    Parameters
    ----------
    release
        The original and the table to be published.
    policy
        A ``Policy``, the name of a profile ("public", "partner", "internal", "strict"), or the path of a TOML file.
    only, skip
        Names of measures to run, or to leave out.
    seed
        Every random choice follows from it: same inputs, seed and version, same result to the last bit.
    progress
        Called with the fraction of the whole assessment that is done, and words that begin with a measure's title.
    command
        What was typed, for the manifest.
    show_values
        Let the report show values of the original: the id of the most exposed records, and the places of those whom
        the graph attack found. Row numbers, and a map of the release alone, otherwise.
    intruder
        "prosecutor" (knows that the person is in the release), "journalist" (does not), "marketer" (wants many) or
        "maximum" (knows everything).
    recipients
        Who may get the release: a ``Recipient`` for each, or its fields as a mapping. The report has a verdict for
        each of them, and is about the worst: then ``policy`` judges those who have no audience of their own, and
        ``intruder`` nobody. Attacks are run once for all who hold the same columns.
    by
        Columns of either table: the report tells the risk of each of their groups (``Assessment.by_group``).
    keep
        Analyses that must come out, such as "mean(income) by region": the report tells whether they do.
    utility
        How closely the report looks at what is left of the data: "whole", "quick" (no model learns), "none".
        Default: whole, and quick where ``only`` names measures. With "whole" it also names the change to try first.
    resume
        A folder in which each finished attack is kept: after a stop, the same call goes on where it was.
    budget
        Time for the attacks: seconds, or "90s", "10m", "2h". Where there is not enough, some people are asked for in
        place of all, or attacks left out; the report says so, and what was not tried never makes a release safe.
    plan
        What to do with each attack, as `plan_assessment` tells it; by default such a plan is made for the budget.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(200)
    >>> unmask.assess(unmask.Release(people, people)).verdict
    'unsafe'

    """
    rules, measures = policy if isinstance(policy, Policy) else Policy.load(policy), discover()
    chosen, who, given = choose(measures, only, skip), as_intruder(intruder), as_recipients(recipients)
    columns = check_by(release, (by,) if isinstance(by, str) else tuple(dict.fromkeys(by)))
    kept, looked = check_keep(release, keep), check_looked(utility, only)
    release, context = _ready(release, seed), Context(seed, progress or silent, show_values)
    _refuse_gaps(chosen, (rules, *(recipient.policy(rules) for recipient in given)))
    parties = parties_of(release, given, who)
    plan = plan or plan_attacks(release, chosen, rules, budget=seconds(budget), times=len(parties))
    with keeping(resume, release, seed=seed, show_values=show_values) as before:
        found_of = attack_all(parties, chosen, context, before, plan)
    attacked = with_left_out(found_of, chosen, measures)
    sides = sides_of(attacked, given, release, policy=rules, who=who, again=again_with(chosen, plan), seed=seed)
    side = worst_of(sides)
    main, found, judged = side.attacked, side.found, side.judged
    labels = release.original[release.id] if show_values and release.id is not None else None
    records = _records(release, judged.reported, found.risk, labels)
    built = document.build(
        judged,
        check=check_of(main.checked),
        columns=main.checked.columns,
        warnings=_warnings(side),
        risk={name: records[name].to_numpy() for name in records.columns if name not in {"row", "id"}},
        people=people_of(release, found, found_by(found.measure, records, judged.findings), columns),
        labels=None if labels is None else tuple(labels.cast(pl.String)),
        recipients=tuple(one.entry for one in sides if one.entry is not None),
        utility=utility_of(release, kept, looked, seed),
        manifest=_manifest(
            release, side.policy, chosen, tuple(recipient.to_dict(rules) for recipient in given), command=command,
            seed=seed, show_values=show_values, intruder=side.who, by=columns, keep=kept, utility=looked,
            plan=plan.as_done(
                (*main.reported, *(found.reported() if found.late else ())),
                {names: one.reported for names, one in attacked.items()} if len(attacked) > 1 else None,
            ),
        ),
    )  # fmt: skip
    built = _beside(built, main, rules, looked)
    return Assessment(judged.verdict.word, judged.verdict.reason, Findings(judged.findings), records, built, release)


def plan_assessment(
    release: Release,
    *,
    policy: Policy | str | Path | None = None,
    only: Iterable[str] | None = None,
    skip: Iterable[str] = (),
    recipients: Iterable[Recipient | Mapping[str, Any]] = (),
    budget: str | float | None = None,
) -> Plan:
    """Tell what each attack of an assessment would take, in time and memory, and how it would be done.

    Parameters
    ----------
    release
        The original and the table to be published.
    policy, only, skip, recipients
        As in `assess`.
    budget
        Time for all attacks, as in `assess`; None: everybody is asked for, as far as that ends within minutes.

    Returns
    -------
    Plan
        ``entries`` in the order in which attacks would run, ``seconds`` of them all, ``to_frame()``.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(200)
    >>> plan = unmask.plan_assessment(unmask.Release(people, people), only=["nearest"])
    >>> plan.entries[0].form, plan.entries[0].people
    ('exact', 200)

    """
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    times = len(parties_of(release, as_recipients(recipients), as_intruder("maximum")))
    plan = plan_attacks(release, choose(discover(), only, skip), rules, budget=seconds(budget), times=times)
    return plan if plan.budget is not None else plan.on_this_machine()


def _beside(built: document.Document, main: Attacked, rules: Policy, looked: str) -> document.Document:
    """What stands beside the result, and not in its digest: why people are found, and the change to try first."""
    advice = advice_of(main.study.release, rules, built.verdict) if looked == "whole" else None
    return replace(built, advice=advice, stories=stories_of(main.study, [entry.row for entry in built.exposed]))


def _ready(release: Release, seed: int) -> Release:
    """Read what is said of the masking; refuse a seed that is none, and people outside who are not outside."""
    if seed < 0:
        raise ParameterError("a seed is a whole number from 0", got=str(seed))
    inside = refuse_overlap(as_study(release))
    if inside.any():
        release = release.without_outsiders(
            inside,
            f"{inside.sum():,} of {inside.size:,} control rows equal a row of the original, where rows are nearly all "
            "different: they are taken for the same people, and left out",
        )
    return release.with_masking(parse_masking(release.masking)) if isinstance(release.masking, str) else release


def _refuse_gaps(chosen: list[Measure], policies: Iterable[Policy]) -> None:
    """Refuse an incomplete policy before the work, not after it."""
    for limits in policies:
        for key in (*PersonRisk.keys, *(key for entry in chosen for key in entry.keys)):
            limits.threshold(key)


def choose(measures: dict[str, Measure], only: Iterable[str] | None, skip: Iterable[str]) -> list[Measure]:
    """Pick measures by name or alias; an unknown name is an error with the nearest known one."""
    only = (only,) if isinstance(only, str) else None if only is None else tuple(only)
    skip = (skip,) if isinstance(skip, str) else tuple(skip)
    meant = {alias: entry.name for entry in measures.values() for alias in (*entry.aliases, entry.name)}
    for name in [*(only or ()), *skip]:
        if name not in meant:
            hint = guess(name, {entry.name: entry.title for entry in measures.values()})
            raise ParameterError(f"no measure {name!r}", allowed=", ".join(measures), hint=hint)
    wanted = None if only is None else {meant[name] for name in only}
    left_out = {meant[name] for name in skip}
    names = [name for name in measures if (wanted is None or name in wanted) and name not in left_out]
    if not names:
        raise ParameterError("no measure is left to run", allowed=", ".join(measures), hint="skip fewer of them")
    return [measures[name] for name in names]


def _warnings(side: Side) -> tuple[str, ...]:
    """What a reader should know first: too few people for a "safe", columns that nobody compared, and the tables'."""
    main, unseen = side.attacked, [f"{finding.claim} {finding.reason}" for finding in side.judged.unseen]
    release = main.study.release
    more = (MORE_BY_ORIGINAL,) if release.alone else ()
    few = too_few(release, side.policy)
    return (*more, *few, *told_of(main.reported, side.who), *unseen, *main.known.warnings)


def too_few(release: Release, policy: Policy) -> tuple[str, ...]:
    """Say so where there are too few people for the policy to say "safe" at all: known before any attack is run."""
    if release.alone:
        return ()
    n = release.original.height if release.synthetic else len(release.paired_rows)
    return policy.too_few("synthetic" if release.synthetic else "paired", n)


def _records(release: Release, reported: tuple[Reported, ...], risk: Floats, labels: pl.Series | None) -> pl.DataFrame:
    """A row per original record: what each attack made of it, its risk, and its id where it may be shown."""
    columns: dict[str, Any] = {"row": np.arange(1, release.original.height + 1)}
    for entry in reported:
        if isinstance(entry.evidence, Evidence) and entry.evidence.per_record is not None:
            columns[entry.measure] = entry.evidence.per_record
    records = pl.DataFrame({**columns, "risk": risk}).with_columns(pl.col("risk").fill_nan(None))
    return records if labels is None else records.with_columns(labels.alias("id"))


def people_of(release: Release, found: PersonRisk, best: Found, by: tuple[str, ...]) -> document.PeopleEntry:
    """What the report tells of the risk of people, and of the groups of some columns."""
    n, groups = int((~np.isnan(found.risk)).sum()), tuple(risk_by_group(release, name, best) for name in by)
    told = found.measure, found.how, n, found.error, found.bins
    return document.PeopleEntry(*told, uneven=uneven(release, best), groups=groups)


def found_by(measure: str | None, records: pl.DataFrame, findings: Iterable[Finding]) -> Found:
    """What the best attack made of everybody, and the blind guess of its first figure."""
    risk = records["risk"].fill_null(np.nan).to_numpy()
    figures = [finding.estimate for finding in findings if finding.measure == measure and finding.estimate is not None]
    hits = np.full(records.height, np.nan) if measure is None else records[measure].to_numpy()
    return Found(measure, hits, risk, figures[0].chance if figures else 0.0)


def _manifest(
    release: Release,
    policy: Policy,
    chosen: Iterable[Measure],
    recipients: tuple[dict[str, Any], ...],
    **asked: Any,  # noqa: ANN401 - the other fields
) -> document.Manifest:
    return document.Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        inputs=fingerprints({name: document.vars_of(source) for name, source in release.sources.items()}),
        settings=release.settings,
        policy=policy.told(),
        versions=made_with(),
        measures=tuple(entry.name for entry in chosen),
        recipients=recipients,
        **asked,
    )


def check_of(checked: Check) -> document.CheckEntry:
    """What the report tells of the check."""
    naming = tuple(entry.words for entry in checked.identifiers)
    return document.CheckEntry(checked.passed, checked.pairing.looks, checked.pairing.words, naming)


__all__ = ["Assessment", "assess", "choose", "discover", "plan_assessment", "run_measure"]
