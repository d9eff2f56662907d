"""People inside and outside the release, on one codebook: what is learnt about both alike is not disclosure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.arrays import Flags, Floats, Rows
from unmask.disclosure.learn import matrix
from unmask.errors import RoleError
from unmask.evidence import Progress, silent
from unmask.kernels.base import Space
from unmask.kernels.search import Nearest
from unmask.study import Index, Study
from unmask.tables import Encoded, Encoding, Release, canonical_order, centre_and_spread

SORTED = 20_000  # rows up to which they are sorted by their values
DIFFERENT = 0.05  # share of the people who may equal somebody, where an equal outsider is taken for one of them
FEWEST = 20  # people outside, without whom nothing can be compared
NOBODY = (
    f"it compares with people who are not in the release: give a control table (of {FEWEST} or more, from the same "
    "population), or an original in which some people were not released"
)


class Scene(NamedTuple):
    """All people (the original, then control) and the release in one encoding; who is in it and who is not."""

    encoding: Encoding
    members: Rows
    strangers: Rows
    ruler: Ruler

    def of(self, rows: Rows) -> Encoded:
        """Return the records of some people."""
        return self.encoding.original.take(rows)


def needs_outsiders(release: Release) -> str | None:
    """Tell why there is nobody to compare with, or None."""
    if release.control is not None:
        return None if release.control.height >= FEWEST else NOBODY
    unreleased = 0 if release.synthetic else int((release.truth < 0).sum())
    return None if unreleased >= FEWEST else NOBODY


def set_scene(study: Study) -> Scene:
    """Encode what the intruder knows of everybody; a control that overlaps the original is refused."""
    release = study.release
    reason = needs_outsiders(release)
    if reason:
        raise RoleError("nobody is known to be outside the release", hint=reason)
    everybody = study.everybody()
    encoding = everybody.encoding(release.quasi)
    ruler = make_ruler(encoding, everybody.index(release.quasi, scale="original").space)
    n = release.original.height
    members = np.arange(n) if release.synthetic else release.paired_rows
    if release.control is None:
        return Scene(encoding, members, np.flatnonzero(release.truth < 0), ruler)
    refuse_overlap(study)
    return Scene(encoding, members, np.arange(n, len(encoding.original)), ruler)


def refuse_overlap(study: Study) -> Flags:
    """Refuse control people who are in the original: by id, or by more equal records than strangers would have.

    Of fewer, tell which they are, where rows are nearly all different: one member among the people outside, whose copy
    is in the release, would hide everybody else's.
    """
    release, control = study.release, study.release.control
    nobody = np.zeros(0 if control is None else control.height, dtype=np.bool_)
    if control is None:
        return nobody
    if release.id is not None and release.id in control.columns:
        both = set(control[release.id].cast(str)) & set(release.original[release.id].cast(str))
        if both:
            raise RoleError(
                "the control table overlaps the original", got=f"{len(both)} ids of {release.id!r} are in both",
                hint="control people must not be in the original",
            )  # fmt: skip
        return nobody
    names = [
        name for name in release.original.columns
        if name in control.columns
        and name in release.released.columns
        and release.role(name) in {"quasi", "confidential"}
        and release.fits(control, name)
    ]  # fmt: skip
    if not names:
        return nobody
    people = study.beside("control", names).release.original.select(names)  # under one another, as values
    label = np.unique(people.hash_rows().to_numpy(), return_inverse=True)[1]
    n = release.original.height
    counts = np.bincount(label[:n], minlength=int(label.max()) + 1)
    alike, matched = float((counts[label[:n]] > 1).mean()), counts[label[n:]] > 0
    if surely_overlaps(int(matched.sum()), matched.size, alike):
        raise RoleError(
            "the control table overlaps the original",
            got=f"{int(matched.sum())} of {matched.size} control rows equal a row of the original, about "
            f"{alike * matched.size:.0f} would by chance; the first is row {int(np.flatnonzero(matched)[0]) + 1}",
            hint="control people must not be in the original",
        )
    return matched if alike <= DIFFERENT else nobody


def surely_overlaps(matched: int, n: int, alike: float) -> bool:
    """Whether more of n control rows equal an original one than by chance; ``alike``: the share who equal others."""
    expected = alike * n
    return bool(matched > expected + 4 * np.sqrt(expected * (1 - alike)) + 4)


def in_order(side: Encoded) -> Rows:
    """Rows in an order of their content: what is drawn by lot from it does not follow the file.

    Of many rows that of a number made of all their values.
    """
    return canonical_order(matrix(side)) if len(side) <= SORTED else np.argsort(content_numbers(side))


def content_numbers(side: Encoded) -> NDArray[np.uint64]:
    """A number of each row, made of all its values: only equal rows have the same, but for one in 2**64."""
    number = np.zeros(len(side), dtype=np.uint64)
    for column in (*side.numeric.T, *side.codes.T):
        if column.dtype.kind == "f":
            values = np.where(np.isnan(column), np.inf, column + 0.0).view(np.int64)  # + 0.0 turns -0.0 into 0.0
        else:
            values = column.astype(np.int64)
        number = (number ^ values.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        number ^= number >> np.uint64(29)
    return number


def draw(side: Encoded, count: int, seed: int) -> Rows:
    """Draw rows by lot over the canonical order and in it; all of them when there are not more."""
    order = in_order(side)
    return order if count >= order.size else np.asarray(order[places_drawn(order.size, count, seed)])


def places_drawn(n: int, count: int, seed: int) -> Rows:
    """Which places of n are drawn by lot, fewer than all, in order."""
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False))


class Ruler(NamedTuple):
    """Distances between any records, scaled by the people of one encoding so that figures compare."""

    space: Space  # of these people and the release: steps and contributions of missing values
    mean: Floats
    sd: Floats

    def nearest(self, asking: Encoded, asked: Encoded, progress: Progress = silent) -> Nearest:
        """Nearest of ``asked`` for each of ``asking``."""
        sides = (np.ascontiguousarray((side.numeric - self.mean) / self.sd) for side in (asking, asked))
        queries, points = sides
        space = self.space._replace(queries=queries, points=points, query_codes=asking.codes, point_codes=asked.codes)
        return Index(space).nearest(seed=0, tell=progress)


def make_ruler(encoding: Encoding, space: Space) -> Ruler:
    """Take the scale of the people of an encoding; ``space`` is theirs, with ``scale="original"``."""
    left, right = encoding.original.numeric, encoding.released.numeric
    pairs = [centre_and_spread(left[:, k]) for k in range(left.shape[1])]
    other = [centre_and_spread(right[:, k])[1] for k in range(right.shape[1])]
    sd = [sd or spare or 1.0 for (_, sd), spare in zip(pairs, other, strict=True)]
    return Ruler(space, np.array([mean for mean, _ in pairs]), np.array(sd))
