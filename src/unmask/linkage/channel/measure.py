"""The measure `channel`: the attack of an intruder who learns how the release was made, as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.evidence import Context, Evidence, Fact, Figure, Observation, Series, measure
from unmask.linkage.channel.attack import link_channel
from unmask.shares import percent

if TYPE_CHECKING:
    from unmask.linkage.channel.result import ChannelLinkage, Told
    from unmask.study import Study


FEW = 100  # people known, at most, to somebody who knows a few


@measure(
    "channel",
    title="The intruder who learns how the release was made",
    story="The intruder knows the original, and for some people which record is theirs. From them they learn how every "
    "released column was made, and look for the others.",
    keys=("channel.rate", "channel.known"),
    names=False,
    cheaper="people",
)
def assess_channel(study: Study, context: Context) -> Evidence:
    """Run the attack and tell what it found."""
    linkage = link_channel(
        study, people=context.people, seed=context.seed, curve=not context.brief, progress=context.progress
    )
    found, known = linkage.found, linkage.known
    return Evidence(
        observations=(
            Observation(
                "channel.rate",
                f"{found.counted.capitalize()} people are found by someone who learns from the records of "
                f"{linkage.taught:,} others how the release was made.",
                found,
            ),
            Observation(
                "channel.known",
                f"They are sure of {known.hits:,.0f} of {known.n:,} people, and right: without the records of those "
                "whom they know, claims as sure as these are right 19 times in 20.",
                known,
                claims=int((linkage.claimed & linkage.asked).sum()),
            ),
        ),
        per_record=linkage.per_record,
        posterior=linkage.best,
        facts=_facts(linkage),
        figures=(_figure(linkage),) if len(linkage.learning) > 1 else (),
        with_few=tuple(point.found for point in linkage.learning if point.known <= FEW)[-1:],
        compared=tuple(t.column for t in linkage.columns if t.nats > 0 and t.clear and not t.several),
        attributes=tuple((told.column, told.nats) for told in linkage.columns if told.nats > 0),
        notes=_notes(linkage),
        asked=(found.n, n) if found.n < (n := len(study.release.paired_rows)) else None,
    )


def _facts(linkage: ChannelLinkage) -> tuple[Fact, ...]:
    facts = [
        Fact(
            "found one by one",
            linkage.estimate.value,
            "share of people whose most probable record is their own",
            share=True,
        ),
        Fact(
            "found one to one",
            linkage.one_to_one.value,
            "share of people found by the most likely matching of all",
            share=True,
        ),
        Fact("claims", int(linkage.claimed.sum()), "people whom the intruder claims to have found for sure"),
    ]
    alone = 0.0 if linkage.alone is None else float(np.sort(linkage.alone[linkage.asked]).mean())
    if alone > max(linkage.estimate.value, linkage.one_to_one.value):
        facts.append(Fact("found if people do not compete", alone, "each by their likeliest record", share=True))
    if linkage.claimed.any():
        facts.append(Fact("claims that are right", linkage.precision, "share of these claims", share=True))
    if linkage.struck_out is not None:
        facts.append(
            Fact(
                "found if known people's records are struck out",
                linkage.struck_out,
                "share of people found among the records that belong to nobody who taught",
                share=True,
            )
        )
    facts += [
        Fact(
            f"found from {point.known:,} known people",
            point.found.value,
            "share of the others who are found",
            share=True,
        )
        for point in linkage.learning
    ]
    return tuple(facts)


def _notes(linkage: ChannelLinkage) -> tuple[str, ...]:
    told = [_clause(t) for t in linkage.columns if t.nats > 0]
    silent = [f"`{t.column}`" for t in linkage.columns if t.nats <= 0]
    notes = ["what was learnt: " + "; ".join(told)] if told else ["nothing was learnt that tells people apart"]
    if silent:
        notes.append("nothing was learnt from " + ", ".join(silent))
    return (*notes, *_left_out(linkage))


def _clause(told: Told) -> str:
    """What was learnt of a column; with a doubt where chance could teach it too: who reads on must not rely on it."""
    words = f"{told.column} {told.words}" if told.several else f"`{told.column}` {_of_itself(told)}"
    return words if told.clear else f"{words}, or so it seems by chance"


def _of_itself(told: Told) -> str:
    """What was learnt of a column, which is called "its original" where it was made of that of the same name."""
    words = told.words.replace(f"`{told.column}`", "its original")
    return "is as in the original" if words == "is its original" else words


def _left_out(linkage: ChannelLinkage) -> tuple[str, ...]:
    """What the attack did not do, for want of time, and where the report shows it."""
    if linkage.competition is None:
        return ()
    if linkage.competition.one_by_one:
        left = f"{linkage.found.n:,} people drawn at random were asked for one by one: who looks for everybody at once "
        left += "finds more, since people then compete for records"
        held = "the share found holds what is expected of it, and the upper ends of the intervals hold what it may add"
    else:
        left = "people were not looked for together with those with whom they are published, who are too many"
        held = "the upper ends of the intervals hold what it may add"
    return (f"{left}; among {linkage.competition.people:,} people, drawn at random, both was done; {held}",)


def _figure(linkage: ChannelLinkage) -> Figure:
    points = [(point.known, point.found.value) for point in linkage.learning]
    points.append((linkage.taught, linkage.found.value))
    known, found = tuple(float(k) for k, _ in points), tuple(f for _, f in points)
    return Figure(
        shape="line",
        title="How few known people suffice?",
        caption="Share of people found by an intruder who learns from this many others how the release was made; who "
        "knows more may forget some, so it never falls.",
        alt="People found by number of known people: " + ", ".join(f"{k:,}: {percent(f)}" for k, f in points),
        x_label="people known",
        y_label="others found",
        series=(Series("found", known, found), Series("blind guess", known, (linkage.chance,) * len(known))),
        percent=(False, True),
    )
