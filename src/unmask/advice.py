"""What to change, for page 1 of a report: the change to try first, or the one that a search has found to be safe."""

from __future__ import annotations

from pathlib import PurePath

from unmask.evidence import Policy
from unmask.protect import Point, first_change, in_words
from unmask.report import document
from unmask.tables import Release

MOST_NAMED = 3  # dropped columns that page 1 names


def advice_of(release: Release, policy: Policy, verdict: str) -> document.AdviceEntry | None:
    """The change to try first; None where the release is safe, or undecided and nobody could call another one safe."""
    n, shown = len(release.paired_rows), [name for name in release.quasi if name in release.released.columns]
    few = n < policy.least_people("paired")  # an unsafe release of few people has something to change all the same
    if verdict == "safe" or release.synthetic or (few and verdict != "unsafe"):
        return None
    crowd, rate = policy.thresholds.get("anonymity.small"), policy.thresholds.get("nearest.rate")
    if crowd is None or rate is None:
        return None  # the policy does not say what would be enough
    kinds = {name: release.kind(name) for name in shown}
    found = first_change(release.original[release.paired_rows], kinds, k=crowd.groups, limit=rate.value)
    if found is None:
        return None
    words = in_words(found.masking, most=MOST_NAMED, people=found.blanked)
    cells = (("people who still stand out", f"blank single cells of {found.blanked:,} people"),) * bool(found.blanked)
    return document.AdviceEntry(words, (*found.steps, *cells), found.masking, found.k)


def found_safe(point: Point, release: Release, file: str | None = None) -> document.AdviceEntry:
    """What a search recommends in place of a release, and what the whole assessment said; ``file``: where it is."""
    name = None if file is None else PurePath(file).name
    words = in_words(point.masking, most=MOST_NAMED, of=release.released.columns)
    return document.AdviceEntry(words, (), point.masking, 0, point.verdict, point.risk, point.utility, name)
