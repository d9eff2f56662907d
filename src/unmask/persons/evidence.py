"""What a release with many rows a person gives away, as evidence: sentences, limits to be held against, pictures."""

from __future__ import annotations

import numpy as np

from unmask.evidence import (
    Absence,
    Evidence,
    Fact,
    Figure,
    Observation,
    Reported,
    Series,
    largest,
    rate,
    small_groups,
)
from unmask.persons.link import BagLink
from unmask.persons.points import Unicity
from unmask.persons.risk import PersonsRisk
from unmask.shares import percent

TITLES = {
    "alike": "People with the same rows",
    "bags": "All rows of a person",
    "taught": "All rows, taught by known people",
    "points": "A few points of a person",
    "sequences": "What a person did, in order",
    "shared": "What all candidates share",
    "presence": "Who is in the release",
}
STORIES = {
    "alike": "The intruder knows all rows of a person, and looks for people of the release who have the same ones.",
    "bags": "The intruder knows all rows of a person. They lay them on the rows of each person of the release, row to "
    "row, and take the person on whom they fit best.",
    "taught": "The intruder also knows who half of the people are. These teach what the release does to rows, and the "
    "others are looked for by that.",
    "points": "The intruder knows a few rows of a person, drawn at random, and nothing of the others: who of the "
    "release has all of them?",
    "sequences": "The intruder knows a few things that a person did one after the other, without the times: who of "
    "the release did them in this order?",
    "shared": "The intruder knows all rows of a person but for what is confidential. What all people of the release "
    "who have these rows have in common is the person's too.",
    "presence": "The intruder wants to know who is in the release: whoever is, has somebody there whose rows fit.",
}
ABSENT = {
    "sequences": "no column says when, or there is none besides: name it as time",
    "shared": "no confidential column is in both tables",
    "presence": "no control table: people who are not in the original (--control)",
}
SIDES = ("original", "release")
SURELY = "claims of which the intruder is sure: as many as are right 19 times in 20."
SAMPLED = "asked about {:,} people drawn at random: comparing everybody would take too long"
APART = "people are not matched one to one: there are too many"


def report_persons(risk: PersonsRisk) -> tuple[Reported, ...]:
    """What each attack found, for a policy to judge."""
    made = {
        "alike": _alike(risk), "bags": _linked(risk, "bags", risk.bags), "taught": _linked(risk, "taught", risk.taught),
        "points": _points(risk, "points", risk.points), "sequences": _points(risk, "sequences", risk.sequences),
        "shared": _shared(risk), "presence": _presence(risk),
    }  # fmt: skip
    return tuple(
        Reported(name, TITLES[name], STORIES[name], _absent(risk, name) if evidence is None else evidence)
        for name, evidence in made.items()
    )


def _absent(risk: PersonsRisk, name: str) -> Absence:
    return Absence("does not apply", risk.why.get(name) or ABSENT[name])


def _null(risk: PersonsRisk, claimed: float) -> Fact:
    """What would be found if nobody of the release were whom the id says: a claim is then right one time in n."""
    words = "share found where the release has nothing to do with the people"
    return Fact("null", claimed * risk.persons.chance, words)


def _alike(risk: PersonsRisk) -> Evidence | None:
    found, persons = risk.alike, risk.persons
    if found is None:
        return None
    n = len(persons.released_ids)
    words = (
        "{hits} of {n} people share all their rows with fewer than {k} people of the release, themselves among them."
    )
    return Evidence(
        observations=(
            Observation.of_people(
                "alike.rate", rate(found.credit, chance=persons.chance, seed=risk.seed), "are found by equal rows."
            ),
            small_groups("alike.small", found.size, found.own, n, words),
        ),
        per_record=risk.credits()["alike"],
        facts=(
            _null(risk, float((found.size > 0).mean())),
            Fact("people", n, "people in the release"),
            *_rows(risk),
            Fact("groups", found.groups, "groups of people of the release with equal rows"),
            Fact("k", found.smallest, "people in the smallest of these groups"),
            Fact(
                "alone by set", int(((found.by_set == 1) & found.by_set_own).sum()),
                "people found alone where it is not known how often a row occurs",
            ),
        ),
        figures=(_how_many_rows(risk),),
        notes=persons.notes,
    )  # fmt: skip


def _rows(risk: PersonsRisk) -> tuple[Fact, ...]:
    """How many rows people have: one person, many rows."""
    return tuple(
        Fact(f"rows of the {side}", f"{sizes.sum():,}: {sizes.mean():.1f} a person",
             f"one person, many rows: {sizes.min()} to {sizes.max()}, half of the people at most {np.median(sizes):g}")
        for side, sizes in zip(SIDES, risk.persons.sizes, strict=True)
    )  # fmt: skip


def _how_many_rows(risk: PersonsRisk) -> Figure:
    sizes = risk.persons.sizes
    most = int(max(np.quantile(part, 0.99) for part in sizes))
    x = tuple(float(k) for k in range(1, most + 1))
    shares = [tuple((np.bincount(part, minlength=most + 1)[1 : most + 1] / part.size).tolist()) for part in sizes]
    told = ", ".join(f"{side} {part.mean():.1f}" for side, part in zip(SIDES, sizes, strict=True))
    return Figure(
        "line", "How many rows do people have?", "People by their number of rows, in the original and in the release.",
        f"Mean number of rows: {told}", "rows", "share of people",
        tuple(Series(side, x, part) for side, part in zip(SIDES, shares, strict=True)), percent=(False, True),
    )  # fmt: skip


def _linked(risk: PersonsRisk, name: str, found: BagLink | None) -> Evidence | None:
    if found is None:
        return None
    ways = ("nearest", "one to one")[: len(found.estimates)]
    best = ways[int(np.argmax([round(one.value, 12) for one in found.estimates]))]
    how = "by all their rows" if name == "bags" else "by somebody who knows half of the others"
    claims = int(found.claimed.sum())
    sure = rate(found.known, chance=found.chance, seed=risk.seed)
    notes = [SAMPLED.format(found.asked.size)] if found.sampled else []
    notes += [APART] if found.matched is None else []
    return Evidence(
        observations=(
            Observation.of_people(f"{name}.rate", largest(found.estimates), f"are found {how} ({best})."),
            Observation.of_people(
                f"{name}.known", sure, f"are claimed rightly, among {claims:,} {SURELY}", claims=claims
            ),
        ),
        per_record=risk.credits()[name],
        facts=(
            _null(risk, 1.0),
            *(Fact(way, one.value, "share of people found", share=True)
              for way, one in zip(ways, found.estimates, strict=True)),
        ),
        notes=tuple(notes),
        compared=_compared(risk, name),
    )  # fmt: skip


def _compared(risk: PersonsRisk, name: str) -> tuple[str, ...]:
    """Columns that the attack could compare: without known people only those that share values."""
    foreign = () if name == "taught" else risk.persons.encoding().foreign
    return tuple(column for column in risk.persons.release.quasi if column not in foreign)


def _points(risk: PersonsRisk, name: str, found: Unicity | None) -> Evidence | None:
    if found is None:
        return None
    what = "points" if name == "points" else "things in a row"
    judged = found.found[found.judged - 1]
    alone = found.released[found.judged - 1]
    return Evidence(
        observations=(Observation.of_people(f"{name}.rate", judged, f"are found by {found.judged} {what} of theirs."),),
        per_record=risk.credits()[name],
        facts=(
            _null(risk, found.claimed),
            Fact("singled out", alone.value, f"share of people who alone have {found.judged} {what}", share=True),
            Fact("in the original", found.original[found.judged - 1].value, "the same, were it published", share=True),
            Fact("columns", ", ".join(found.columns), f"what {what} are made of"),
        ),
        figures=(_curve(found, what),),
        notes=(SAMPLED.format(found.asked.size),) if found.asked.size < int(risk.persons.there.sum()) else (),
    )  # fmt: skip


def _curve(found: Unicity, what: str) -> Figure:
    """Unicity by the number of points, with the ends of the interval."""
    x = tuple(float(k + 1) for k in range(len(found.released)))
    series = (
        Series("original", x, tuple(one.value for one in found.original)),
        Series("release", x, tuple(one.value for one in found.released)),
        Series("release, lower end", x, tuple(one.low for one in found.released)),
        Series("release, upper end", x, tuple(one.high for one in found.released)),
    )
    told = "; ".join(f"{one.name}: {', '.join(percent(y) for y in one.y)}" for one in series[:2])
    return Figure(
        "path", f"How many {what} single a person out?",
        f"People whom so many {what} of theirs, drawn at random, leave alone: in the original, were it published, and "
        "rightly in the release, with its 95 % interval.",
        f"Share singled out by 1, 2, .. {what}: {told}", what, "people singled out", series, percent=(False, True),
    )  # fmt: skip


def _shared(risk: PersonsRisk) -> Evidence | None:
    found = risk.shared
    if found is None:
        return None
    claim = f"a value of {found.column!r} is learnt because their rows are in the release."
    credit = np.full(risk.persons.n, np.nan)
    credit[risk.persons.there] = np.maximum(0.0, found.attack - found.without)
    return Evidence(
        observations=(
            Observation("shared.excess", f"Of {found.estimate.hits:,.0f} of {found.estimate.n:,} people {claim}",
                        found.estimate),
        ),
        per_record=credit,
        facts=(
            Fact("claims", found.claims, "people of whose candidates all have a value in common"),
            Fact("right", float(found.attack.mean()), "share of claims about anybody that are right", share=True),
            Fact("without them", float(found.without.mean()), "the same without the person's own rows", share=True),
        ),
        identity=False,
    )  # fmt: skip


def _presence(risk: PersonsRisk) -> Evidence | None:
    found = risk.presence
    if found is None:
        return None
    told = f"In {percent(found.auc.value)} of pairs of a member and a stranger the member's rows fit better."
    recognised = f"{percent(found.tpr.value)} of members are recognised while 1 % of strangers are accused."
    return Evidence(
        observations=(
            Observation("presence.auc", told, found.auc), Observation("presence.tpr", recognised, found.tpr),
        ),
        facts=(Fact("strangers", found.strangers.size, "people of the control table"),),
        identity=False,
    )  # fmt: skip
