"""Page 1 of a model: nobody is found in it; people are recognised as those it was learnt from."""

from __future__ import annotations

from unmask.evidence import Estimate, name_of
from unmask.report.document import Document
from unmask.report.words import percent, span

AGAIN = (
    "Learn it again so that it remembers single people less (more people, fewer parameters, a penalty, differential "
    "privacy), and assess it."
)
PUBLISH = "Publish this model and no other, and keep the JSON report."


def is_model(document: Document) -> bool:
    """Whether the report is about a model, which has no rows."""
    return "model" in document.manifest.inputs


def people(document: Document) -> str:
    """Who was compared."""
    inside, outside = (document.manifest.inputs.get(name, {}).get("rows", 0) for name in ("original", "control"))
    return f"{inside:,} people it was learnt from and {outside:,} others were compared."


def numbers(document: Document) -> tuple[tuple[str, str, str], ...]:
    """Members recognised, how well they are told from strangers, and a blind guess: name, value and words of each."""
    by = {finding.key: finding.estimate for finding in document.findings if finding.estimate is not None}
    recognised, apart = by.get("membership.tpr"), by.get("membership.auc")
    if recognised is None or apart is None:
        return (("People recognised", "-", "no attack that looks for people ran"),)
    guess = f"recognised; {percent(apart.chance)} told apart"
    return (
        ("Recognised as people it was learnt from", percent(recognised.value), _interval(recognised)),
        ("Told from people outside", percent(apart.value), _interval(apart)),
        ("By blind guessing", percent(recognised.chance), guess),
    )


def learn(document: Document) -> str:
    """What asking the model tells about people, or why that was not tried."""
    told = [f.claim.rstrip(".") for f in document.findings if f.key == "inference.excess" and f.estimate is not None]
    return "; ".join(["Who was among the people it was learnt from", *told]) + "."


def next_step(document: Document) -> str:
    """What to do with the model."""
    return PUBLISH if document.verdict == "safe" else AGAIN


def untested(document: Document) -> str:
    """Attacks on tables, and those that had too little to go on."""
    ran = {finding.measure for finding in document.findings if finding.estimate is not None}
    left = [name_of(name) for name in document.manifest.measures if name not in ran]
    more = f" {', '.join(left)}: no confidential column that it takes was named." if left else ""
    return f"Attacks on tables do not apply to a model.{more}"


def _interval(estimate: Estimate) -> str:
    return f"95 % CI {span(estimate.low, estimate.high)}"
