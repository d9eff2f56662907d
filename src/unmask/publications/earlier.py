"""Earlier releases: what they and the new one give away together.

Who downloads this year's file has last year's as well. The intruder lays them beside each other, row by row as far as
they can find out which rows belong together, and attacks what all of them say of a person. Noise that is drawn anew in
every release averages out; noise that is kept does not. They also subtract one release from the other: whoever is in
one of them alone is among the rows that the other lacks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from unmask.arrays import Floats
from unmask.errors import RoleError
from unmask.evidence import (
    Context,
    Estimate,
    Evidence,
    Fact,
    Figure,
    Observation,
    Progress,
    largest,
    measure,
    rate,
    silent,
    small_groups,
)  # fmt: skip
from unmask.linkage import ChannelLinkage, Laid, link_several
from unmask.publications.beside import Beside, lay_beside, partners
from unmask.publications.crowds import Left, as_published, left_of, without
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Study, as_study
from unmask.tables import Earlier, Release

NONE = "no release that was published earlier was given (--with)"


@dataclass(frozen=True, slots=True)
class PublishedLinkage(Shown):
    """People found by who has all releases, and by who has one of them alone.

    ``through``: credit of who looks in each earlier release alone, and follows the row that they find into the new
    one; NaN for people who were not looked for.
    """

    alone: ChannelLinkage  # by the new release
    together: ChannelLinkage  # in the new one, by all of them
    before: tuple[ChannelLinkage, ...]  # by each earlier one: people found in it
    through: tuple[Floats, ...] = field(repr=False)
    beside: tuple[Beside, ...] = field(repr=False)
    left: Left  # among how many rows people are by all releases
    seed: int = 0

    @property
    def found(self) -> Estimate:
        """Share of the people in the new release who are found by the best way, with the interval of the best of all.

        Who has more may leave it aside: it is never less than by the new release alone.
        """
        followed = [
            rate(credit[~np.isnan(credit)], chance=self.alone.chance, seed=self.seed) for credit in self.through
        ]
        return largest([self.alone.found, self.together.found, *followed])

    @property
    def earlier(self) -> Estimate:
        """Share of people found in the earlier release in which most are found."""
        return max((one.found for one in self.before), key=lambda estimate: estimate.value)

    @property
    def added(self) -> float:
        """What the new release adds to the share of people found in the earlier ones."""
        return max(0.0, self.found.value - self.earlier.value)

    @property
    def surest(self) -> ChannelLinkage:
        """The attack by which the intruder is sure of most people, and right."""
        return max(self.alone, self.together, key=lambda one: one.known.value)

    @property
    def known(self) -> Estimate:
        """Share of people of whom the intruder is sure, and right."""
        return largest([self.alone.known, self.together.known])

    @property
    def per_record(self) -> Floats:
        """One risk for each original record, of the way that finds most people; NaN for those not looked for."""
        ways = [self.alone.per_record, self.together.per_record, *self.through]
        return max(ways, key=lambda credit: float(np.nansum(np.sort(credit)) / max(1, (~np.isnan(credit)).sum())))

    @property
    def posterior(self) -> Floats | None:
        """How sure the intruder is of the row that they take for each person's, on the way that finds most people."""
        chosen = self.per_record
        for linkage, credit in ((self.together, self.together.per_record), (self.alone, self.alone.per_record)):
            if np.array_equal(chosen, credit, equal_nan=True):
                return linkage.best
        return None


def link_published(release: Release | Study, *, seed: int = 0, progress: Progress = silent) -> PublishedLinkage:
    """Find people by a release and all that were published earlier.

    Parameters
    ----------
    release
        The tables, with ``earlier``.
    seed, progress
        Seeds who teaches whom; called with the fraction done and a word.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.census(150, seed=1)
    >>> one, two = (unmask.parse_masking("noise(1)").apply(people, seed=k) for k in (1, 2))
    >>> found = unmask.link_published(unmask.Release(people, two, earlier=[one]))
    >>> found.found.value >= found.alone.found.value
    True

    """
    study = as_study(release)
    release, before = study.release, study.release.earlier
    if not before:
        raise RoleError(NONE, hint="give them in earlier=")
    progress(0.0, "laying the releases beside each other")
    beside = tuple(lay_beside(release, one, seed) for one in before)
    published = tuple(as_published(release, one) for one in before)
    laid = [Laid(one, at.rows, without(one, at.keys)) for one, at in zip(published, beside, strict=True)]
    found = link_several(release, laid, seed, lambda done, words: progress(0.2 + 0.8 * done, words))
    through = tuple(_followed(release, *one) for one in zip(before, found.others, beside, strict=True))
    left = left_of(release, published, beside)
    return PublishedLinkage(found.first, found.together, found.others, through, beside, left, seed=seed)


def _followed(release: Release, before: Earlier, linkage: ChannelLinkage, laid: Beside) -> Floats:
    """Credit of who finds the person in the earlier release, and is led from there to their row of the new one."""
    right = laid.rows == partners(release, before)
    led = np.where(release.truth >= 0, right[release.truth], False) & (before.truth >= 0)  # noqa: FBT003
    credit = np.where(led, np.nan_to_num(linkage.per_record), 0.0)
    asked = (release.truth >= 0) & (linkage.asked | (before.truth < 0))
    return np.where(asked, credit, np.nan)


def _applies(release: Release) -> str | None:
    return None if release.earlier else NONE


@measure(
    "earlier",
    title="Everything published so far",
    story="The intruder also has the releases of the same people that were published earlier. They lay them beside "
    "this one, as far as they can find out which rows belong together, and look for people in all of them at once.",
    keys=("earlier.rate", "earlier.known", "earlier.small"),
    applies=_applies,
    names=False,
)
def assess_earlier(study: Study, context: Context) -> Evidence:
    """Attack all releases together, and tell what this one adds."""
    linkage = link_published(study, seed=context.seed, progress=context.progress)
    return Evidence(
        observations=tuple(_observations(linkage, study.release)),
        per_record=linkage.per_record,
        posterior=linkage.posterior,
        facts=tuple(_facts(linkage)),
        figures=(_figure(linkage),),
        notes=tuple(_notes(linkage, study.release)),
    )


def _observations(linkage: PublishedLinkage, release: Release) -> Iterator[Observation]:
    found, known, surest = linkage.found, linkage.known, linkage.surest
    several = len(linkage.before) > 1
    those = f"the {len(linkage.before)} that were published earlier" if several else "the one published earlier"
    yield Observation(
        "earlier.rate",
        f"{found.hits:,.0f} of {found.n:,} people are found by someone who has this release and {those}; "
        f"{percent(linkage.alone.found.value)} by this one alone, {percent(linkage.earlier.value)} in "
        f"{'the worst of the earlier ones' if several else 'the earlier one'}.",
        found,
    )
    yield Observation(
        "earlier.known",
        f"They are sure of {known.hits:,.0f} of {known.n:,} people, and right: claims as sure as these are right 19 "
        "times in 20.",
        known,
        claims=int((surest.claimed & surest.asked).sum()),
    )
    if linkage.left.people.size:
        words = "{hits} of {n} people are among fewer than {k} rows by all releases together, their own among them."
        left = linkage.left
        yield small_groups("earlier.small", left.size, left.own, release.released.height, words=words)


def _facts(linkage: PublishedLinkage) -> Iterator[Fact]:
    alone, together = linkage.alone.found.value, linkage.together.found.value
    yield Fact("found by this release alone", alone, "share of people", share=True)
    for number, one in enumerate(linkage.before, 1):
        yield Fact(f"found in earlier release {number} alone", one.found.value, "share of the people in it", share=True)
    yield Fact("found by all releases added up", together, "share of people", share=True)
    yield Fact("added by this release", linkage.added, "to what is found in the earlier ones alone", share=True)
    for number, laid in enumerate(linkage.beside, 1):
        told = "share of the people in both whose two rows the intruder lays beside each other"
        yield Fact(f"rows joined with earlier release {number}", laid.right, told, share=True)
    if linkage.left.differing:
        told = "people who are in one release and not in another: who subtracts one from the other looks for them there"
        yield Fact("in one release only", linkage.left.differing, told)


def _notes(linkage: PublishedLinkage, release: Release) -> Iterator[str]:
    asked, there = int(linkage.together.asked.sum()), release.paired_rows.size
    if asked < there:
        yield f"{asked:,} of {there:,} people, drawn by lot, are looked for: the releases are too large for everybody"
    for number, laid in enumerate(linkage.beside, 1):
        which = f"earlier release {number}"
        if laid.right == 0.0:
            yield f"{which}: nothing says which of its rows belong to which of this one"
        elif laid.learnt:
            yield f"{which}: its rows were laid beside those of this one by what was learnt from known people"
        else:
            keys = ", ".join(f"`{name}`" for name in laid.keys)
            yield f"{which}: its rows were laid beside those of this one by what both publish unchanged: {keys}"


def _figure(linkage: PublishedLinkage) -> Figure:
    return Figure.bars(
        [
            ("earlier alone", linkage.earlier.value),
            ("this one alone", linkage.alone.found.value),
            ("all together", linkage.found.value),
            ("blind guess", linkage.alone.chance),
        ],
        title="What do all releases give away together?",
        caption="Share of people found by who has the earlier releases (the worst of them), this one, and all of them. "
        "Who has more may leave it aside, so together never finds fewer than this one alone.",
        said="Found: ",
        axes=("the intruder has", "people found"),
    )
