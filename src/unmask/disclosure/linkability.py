"""Linkability: the release as a bridge between two files that hold different columns of the same people [WP29]_.

Somebody holds one half of the columns of some people, somebody else the other half, and neither file says who is who.
For each record of the first file they take the nearest released row, and for what that row says in the other columns
the nearest record of the second file: is it the same person? [GIOMI]_ asks whether both halves of a person have one
nearest row in common; what an intruder would do is to follow the row. The same is done for as many people outside the
release: what works on both alike is how columns go together in the population.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unmask.arrays import Floats, Rows
from unmask.disclosure.outside import draw, needs_outsiders, refuse_overlap
from unmask.errors import ParameterError, RoleError
from unmask.evidence import (
    Context,
    Estimate,
    Evidence,
    Fact,
    Figure,
    Observation,
    Progress,
    excess_over_control,
    measure,
    rate,
)
from unmask.evidence import silent as unseen
from unmask.kernels.search import Nearest
from unmask.shown import Shown
from unmask.study import Index, Study, as_study, spread
from unmask.tables import Encoded, Encoding, Release, check_columns

SPLITS = 3  # ways to cut the columns in halves
MOST_PEOPLE = 2_000  # on each side
MOST_TIES = 20_000_000  # beyond so many tied rows one is drawn
ONE_COLUMN = "it needs two columns at least that both tables share, one for each half"


@dataclass(frozen=True, slots=True)
class Linkability(Shown):
    """People whose two halves are linked by the release, for the halves that do it best."""

    halves: tuple[tuple[str, ...], tuple[str, ...]]
    linked: Estimate  # people in the release; chance: a blind guess; control: the rate on people outside
    excess: Estimate  # less people outside
    per_record: Floats = field(repr=False)


def linkability(
    release: Release | Study,
    *,
    halves: tuple[Sequence[str], Sequence[str]] | None = None,
    second: object = None,
    seed: int = 0,
    progress: Progress = unseen,
) -> Linkability:
    """Link two halves of the columns of people through the release, inside it and outside.

    Parameters
    ----------
    release
        The tables; ``control``, or people of the original who were not released, are needed. Pairs are not.
    halves
        The columns of either file. None: the shared columns are cut in halves three times by lot, and the cut that
        links most counts, with the interval of the largest of three.
    second
        Another release of the same people: the way goes from the columns that only the first has to its nearest row,
        by the columns that both releases have to the nearest row of the second, and by the columns that only the
        second has back to people. (Two releases whose rows are paired are linked by `assess(Release(first, second))`.)
    seed, progress
        Seeds cuts, draws and bootstrap; called with the fraction done and a word.

    Examples
    --------
    >>> import unmask
    >>> people, others = unmask.datasets.census(120, seed=1), unmask.datasets.census(120, seed=2)
    >>> release = unmask.Release(people, people.sample(fraction=1.0, shuffle=True), control=others, synthetic=True)
    >>> unmask.linkability(release).linked.value > 0.9
    True

    """
    study = as_study(release)
    release = study.release
    reason = needs_outsiders(release)
    if reason:
        raise RoleError("nobody is known to be outside the release", hint=reason)
    refuse_overlap(study)
    if second is not None:
        if halves is not None:
            raise ParameterError("halves are of one release", hint="with second= the columns of each release are taken")
        return across(study, second, seed)
    cuts = _cuts(study, seed) if halves is None else [_named(release, halves)]
    everybody = study.everybody([*cuts[0][0], *cuts[0][1]])
    found = []
    for number, cut in enumerate(cuts):
        found.append(_linked(everybody, release, cut, len(cuts), seed))
        progress((number + 1) / len(cuts), "halves of the columns")
    return max(found, key=lambda one: (one.excess.value, one.excess.low))


def _columns(release: Release) -> list[str]:
    """Shared columns, known or wanted, that people outside have too."""
    names = [name for name in (*release.quasi, *release.confidential) if name in release.released.columns]
    control = release.control
    return list(dict.fromkeys(name for name in names if control is None or release.fits(control, name)))


def _cuts(study: Study, seed: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Halves by lot; with few columns there are fewer different ones."""
    names = _columns(study.release)
    if len(names) < 2:
        raise RoleError("there is only one column to link by", got=", ".join(map(repr, names)), hint=ONE_COLUMN)
    rng, cuts = np.random.default_rng(seed), dict[frozenset[int], tuple[tuple[str, ...], tuple[str, ...]]]()
    for _ in range(SPLITS):
        first = frozenset(rng.permutation(len(names))[: len(names) // 2].tolist())
        one, two = (tuple(n for k, n in enumerate(names) if (k in first) is side) for side in (True, False))
        cuts[first] = one, two
    return list(cuts.values())


def _named(release: Release, halves: tuple[Sequence[str], Sequence[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = _columns(release)
    one, two = (check_columns(side, known, "halves", "columns that all tables share") for side in halves)
    both = set(one) & set(two)
    if both or not one or not two:
        told = f"{', '.join(map(repr, sorted(both)))} in both" if both else "an empty half"
        raise ParameterError("halves are two sets of columns without a common one", got=told)
    return one, two


def across(study: Study, second: object, seed: int) -> Linkability:
    """Link people from the columns of one release to those of another, by the columns that both have."""
    release = study.release
    plain = release.original.select(release.roles.plain(release.original))
    other = Release(plain, second, control=release.control, synthetic=True)
    known = _columns(release), _columns(other)
    first, last = (tuple(n for n in known[k] if n not in known[1 - k]) for k in (0, 1))
    common = tuple(name for name in known[0] if name in known[1])
    if not first or not last or not common:
        raise RoleError(
            "two releases are linked by columns that both have, from columns that only one has to those of the other",
            got=f"{len(common)} common, {len(first)} only in the first, {len(last)} only in the second",
        )
    start, end = (s.everybody([*cols, *common]) for s, cols in ((study, first), (Study(other), last)))
    between = Study(Release(release.released.select(common), other.released.select(common), synthetic=True))
    drawn = _drawn(release, start.encoding(first).original, seed)
    mine, others = (_through(start, between, end, (first, common, last), people, seed) for people in drawn)
    return _told((first, last), (mine, others), (drawn[0], release.original.height), seed)


def _drawn(release: Release, everybody: Encoded, seed: int) -> list[Rows]:
    """As many people inside as outside, by lot."""
    n = release.original.height
    inside = np.arange(n) if release.synthetic else release.paired_rows
    outside = np.flatnonzero(release.truth < 0) if release.control is None else np.arange(n, len(everybody))
    count = min(inside.size, outside.size, MOST_PEOPLE)
    return [
        people[draw(everybody.take(people), count, seed + number)] for number, people in enumerate((inside, outside))
    ]


def _told(
    cut: tuple[tuple[str, ...], tuple[str, ...]], credits_: tuple[Floats, Floats], people: tuple[Rows, int], seed: int,
    among: int = 1,
) -> Linkability:  # fmt: skip
    """Sum up the credits of people inside and outside; ``people``: who they are inside, and of how many."""
    mine, others = credits_
    return Linkability(
        cut,
        rate(mine, chance=1.0 / mine.size, seed=seed, control=float(np.sort(others).mean())),
        excess_over_control(mine, others, seed=seed, among=among),
        spread(mine, *people, 0.0),
    )


def _through(
    start: Study, between: Study, end: Study, columns: tuple[tuple[str, ...], ...], people: Rows, seed: int
) -> Floats:
    """Credit of each person: how often the way through both releases leads back to them; ties are shared."""
    first, common, last = (s.encoding(c) for s, c in zip((start, between, end), columns, strict=True))
    one = _step(start, _between(first.original.take(people), first.released, first), "original", seed)
    rows = np.unique(one.indices)
    two = _step(between, _between(common.original.take(rows), common.released, common), "original", seed)
    reached = one[:, rows] @ two
    asked = np.unique(reached.indices)
    back = _between(last.released.take(asked), last.original.take(people), last)
    three = _step(end, back, "released", seed)
    return np.asarray(reached[:, asked].multiply(three.T.tocsr()).sum(axis=1)).ravel()


def _step(study: Study, encoding: Encoding, scale: str, seed: int) -> Any:  # noqa: ANN401 - a sparse matrix
    """Shares of the nearest points of each query, one in all."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 - slow to import

    begin, found = _nearest(study.index_for(encoding, scale=scale), seed)  # type: ignore[arg-type]
    many = np.diff(begin)
    shares = np.repeat(1.0 / np.maximum(many, 1), many)
    return csr_matrix((shares, found, begin), shape=(many.size, len(encoding.released)))


def _linked(
    study: Study, release: Release, cut: tuple[tuple[str, ...], tuple[str, ...]], among: int, seed: int
) -> Linkability:
    whole = study.encoding([*cut[0], *cut[1]])
    drawn = _drawn(release, whole.original, seed)
    mine, others = (bridged(study, whole, people, cut, seed) for people in drawn)
    return _told(cut, (mine, others), (drawn[0], release.original.height), seed, among)


def bridged(
    study: Study, whole: Encoding, people: Rows, cut: tuple[tuple[str, ...], tuple[str, ...]], seed: int
) -> Floats:
    """Credit of each person: how often the nearest row by one half leads back to them by the other; ties are shared."""
    first, second = (whole.only(half) for half in cut)
    there = study.index_for(_between(first.original.take(people), first.released, first), scale="original")
    start, rows = _nearest(there, seed)
    asked, place = np.unique(rows, return_inverse=True)
    back = study.index_for(
        _between(second.released.take(asked), second.original.take(people), second), scale="released"
    )
    begin, found = _nearest(back, seed)
    led = np.repeat(np.arange(asked.size), np.diff(begin)) * people.size + found  # pairs of a row and a person, ordered
    led = np.sort(led)
    owner = np.repeat(np.arange(people.size), np.diff(start))
    wanted = place.ravel() * people.size + owner
    at = np.minimum(np.searchsorted(led, wanted), led.size - 1)
    share = (led[at] == wanted) / (np.diff(begin)[place.ravel()] * np.diff(start)[owner])
    return np.asarray(np.bincount(owner, share, minlength=people.size))


def _between(asking: Encoded, asked: Encoded, like: Encoding) -> Encoding:
    return Encoding(asking, asked, like.numeric_names, like.code_names)


def _nearest(index: Index, seed: int) -> tuple[Rows, Rows]:
    """The nearest points of each query: where each one's begin, and all of them; one by lot where ties are too many."""
    nearest: Nearest = index.nearest(seed=seed)
    if int(nearest.ties.sum()) > MOST_TIES:
        return np.arange(nearest.row.size + 1), nearest.row
    return index.tied()


def _applies(release: Release) -> str | None:
    return needs_outsiders(release) or (ONE_COLUMN if len(_columns(release)) < 2 else None)


@measure(
    "linkability",
    title="Two files linked by the release",
    story="Two intruders hold different columns of the same people. They take the released row that is nearest to a "
    "record of the one, and the record of the other that is nearest to it. People who are not in the release show how "
    "often that works anyhow.",
    keys=("linkability.excess", "linkability.across"),
    applies=_applies,
    pairs=False,
)
def assess_linkability(study: Study, context: Context) -> Evidence:
    """Link halves of the columns, and tell how much oftener that works for people in the release."""
    found = {"excess": linkability(study, seed=context.seed, progress=context.progress)}
    notes, second = list[str](), study.release.second
    if second is not None:
        try:
            found["across"] = across(study, second, context.seed)
        except RoleError as error:
            notes.append(f"the second release was not linked: {error}")
    return Evidence(
        observations=tuple(
            Observation(
                f"linkability.{name}",
                f"Through {THROUGH[name]} {one.linked.value:.1%} of {one.linked.n:,} people are linked from one half "
                f"of their columns to the other, and {one.linked.control or 0:.1%} of as many people outside it.",
                one.excess,
            )
            for name, one in found.items()
        ),
        per_record=np.max([one.per_record for one in found.values()], axis=0),
        identity=False,
        facts=tuple(fact for name, one in found.items() for fact in _facts(one, ADDED[name])),
        figures=tuple(_picture(one.linked, ADDED[name]) for name, one in found.items()),
        notes=tuple(notes),
    )


THROUGH = {"excess": "the release", "across": "the release and then the second one, by the columns that both have,"}
ADDED = {"excess": "", "across": " by two releases"}


def _facts(found: Linkability, added: str) -> Iterator[Fact]:
    one, two = (", ".join(half) for half in found.halves)
    linked = found.linked
    yield Fact(f"linked{added}", round(linked.value, 4), f"from {one} to {two}; a blind guess: {linked.chance:.2g}")
    yield Fact(f"linked outside{added}", round(linked.control or 0.0, 4), "the same for people who are not in it")


def _picture(linked: Estimate, added: str) -> Figure:
    return Figure.bars(
        [("in the release", linked.value), ("outside it", linked.control or 0.0), ("blind guess", linked.chance)],
        title=f"Whose two halves are linked{added or ' by the release'}?",
        caption="People whose columns are linked from one half to the other through the nearest released row"
        f"{', and from that to the nearest row of the second release' if added else ''}. What works for people outside "
        "is how columns go together; only what goes beyond it is linked by the release.",
        said="Linked: ",
        axes=("people", "share linked"),
    )
