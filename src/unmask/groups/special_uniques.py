"""Special uniques: people who stand out by few attributes, found by SUDA2 [SUDA2]_ and scored as in [SUDA]_.

A record that is unique already on two or three attributes (a sixteen-year-old widow) is unique whatever else is known,
and likely unique in the population too. All minimal sample uniques (MSUs) are found; small and many ones score high.
Departure from sdcMicro: missing is a value of its own here (docs/methods.md, section 0), there it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import comb, factorial
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Codes, Counts, Flags, Floats, Table
from unmask.errors import EngineError, ParameterError, check_name
from unmask.evidence import (
    Context,
    Estimate,
    Evidence,
    Fact,
    Figure,
    Observation,
    Progress,
    measure,
    shared_rate,
    silent,
)
from unmask.groups.claims import Claims
from unmask.groups.counting import Classes, check_keys, count_classes
from unmask.groups.knowledge_sweep import size_of_sets
from unmask.shown import Shown
from unmask.study import Matcher, Study, narrowed

Scoring = Literal["elliot", "ihsn"]

DEFAULT_FRACTION = 0.01  # sampling fraction of DIS-SUDA when none is known, as in SUDA and sdcMicro
MAX_WORK = 20_000_000_000  # classes looked at over all sets: some minutes of one core


@dataclass(frozen=True, slots=True)
class SpecialUniques(Shown):
    """Minimal sample uniques of a table. MSUs are stored; scores, contributions and DIS derive from them."""

    classes: Classes
    max_size: int
    scoring: Scoring
    fraction: float  # sampling fraction pi
    msu_class: Codes  # one entry for each MSU: the class ...
    msu_mask: Counts  # ... and its attributes, bit k = k-th quasi-identifier

    @property
    def n_records(self) -> int:
        """N."""
        return self.classes.n_records

    @property
    def n_unique(self) -> int:
        """Records alone on all quasi-identifiers: only they have MSUs."""
        return int((self.classes.counts == 1).sum())

    @property
    def n_pairs(self) -> int:
        """Records in groups of exactly two."""
        return 2 * int((self.classes.counts == 2).sum())

    @property
    def n_special(self) -> int:
        """Records with an MSU of at most ``max_size`` attributes."""
        return len(np.unique(self.msu_class))

    @property
    def sizes(self) -> Counts:
        """How many MSUs have 1, 2, ..., ``max_size`` attributes."""
        return np.bincount(_sizes(self.msu_mask), minlength=self.max_size + 1)[1:]

    @property
    def class_scores(self) -> Floats:
        """Score of each class: the sum of the weights of its MSUs."""
        return self._sum_weights(np.ones(len(self.msu_mask), bool))

    @property
    def dis(self) -> float:
        """DIS of the file: the probability that a match on a sample unique is right (0 when nobody is unique).

        Skinner, Elliot 2002: U pi / (U pi + P (1 - pi)) with U uniques and P records in pairs.
        """
        return file_dis(self.n_unique, self.n_pairs, self.fraction)

    @property
    def class_dis(self) -> Floats:
        """DIS-SUDA of each class: 1 / (1 + (U/DIS - U) / (s^Q A)), Q = 1 + (8 - M)/20, A = sum of s^-Q."""
        scores = self.class_scores
        dis = np.zeros(len(scores))
        scored = scores > 0
        if scored.any():
            logs = np.log(scores[scored]) * (1 + (8 - len(self.classes.keys)) / 20)
            level = np.exp(-logs).sum()
            dis[scored] = 1 / (1 + (self.n_unique / self.dis - self.n_unique) / (np.exp(logs) * level))
        return dis

    @property
    def scores(self) -> Floats:
        """Score of each record, in row order."""
        return self.classes.spread(self.class_scores)

    @property
    def per_record(self) -> Floats:
        """DIS-SUDA of each record, in row order: a risk in [0, 1]."""
        return self.classes.spread(self.class_dis)

    @property
    def class_contributions(self) -> Floats:
        """Classes x attributes: the share of a class's score that comes from MSUs with the attribute."""
        scores = self.class_scores
        shares = np.zeros((len(scores), len(self.classes.keys)))
        for k in range(len(self.classes.keys)):
            part = self._sum_weights((self.msu_mask >> k) & 1 == 1)
            np.divide(part, scores, out=shares[:, k], where=scores > 0)
        return shares

    @property
    def attributes(self) -> dict[str, float]:
        """The share of all scores that comes from MSUs with the attribute (shares overlap: they sum to more than 1)."""
        masks, counts = np.unique(self.msu_mask, return_counts=True)
        return share_of_scores(self.classes.keys, masks, counts, self.scoring)

    def values(self, attribute: str) -> pl.DataFrame:
        """Each value of the attribute with its share of the attribute's contribution, largest first."""
        if attribute not in self.classes.keys:
            raise ParameterError(f"{attribute!r} is not a quasi-identifier here", allowed=", ".join(self.classes.keys))
        k = self.classes.keys.index(attribute)
        part = pl.Series("contribution", self.class_scores * self.class_contributions[:, k])
        column = self.classes.columns[attribute].alias("value")
        summed = pl.DataFrame([column, part]).group_by("value").agg(pl.col("contribution").sum())
        total = float(part.sum())
        share = pl.col("contribution") / total if total > 0 else pl.lit(0.0)
        return summed.with_columns(share.alias("contribution")).sort("contribution", "value", descending=[True, False])

    def _sum_weights(self, chosen: Flags) -> Floats:
        weights = msu_weights(len(self.classes.keys), self.scoring)[_sizes(self.msu_mask[chosen])]
        return np.bincount(self.msu_class[chosen], weights, minlength=self.classes.n_classes).astype(np.float64)


def special_uniques(  # noqa: PLR0913 - what to find, how to score it, and how long to look
    table: Table,
    *,
    quasi: Iterable[str],
    max_size: int | None = None,
    scoring: Scoring = "elliot",
    fraction: float = DEFAULT_FRACTION,
    max_work: int = MAX_WORK,
    progress: Progress = silent,
) -> SpecialUniques:
    """Find all minimal sample uniques of at most ``max_size`` attributes (all sizes when None), exactly.

    ``fraction`` is the sampling fraction of DIS-SUDA. ``progress`` is told the share of attribute sets done. The search
    gives up with :class:`EngineError` when it has looked at ``max_work`` classes.
    """
    keys = check_keys(quasi)
    size = _check(keys, max_size, scoring, fraction)
    classes = count_classes(table, keys)
    from unmask.kernels.uniques import minimal_uniques  # noqa: PLC0415 - numba is heavy

    with _bounded(classes, size, max_work):
        who, mask = minimal_uniques(
            classes.codes(narrow=True),
            classes.counts,
            max_size=size,
            max_work=max_work,
            progress=lambda done: progress(done, "sets of attributes"),
        )
    return SpecialUniques(classes, size, scoring, fraction, who, mask)


@contextmanager
def _bounded(classes: Classes, size: int, max_work: int) -> Iterator[None]:
    """Say what to do where the search passes its bound on work."""
    from unmask.kernels.uniques import WorkBoundError  # noqa: PLC0415 - numba is heavy

    try:
        yield
    except WorkBoundError as error:
        sets = sum(comb(len(classes.keys), k) for k in range(1, size + 1))
        raise EngineError(
            "the search for special uniques was given up: it passed its bound on work",
            got=f"{classes.n_classes} classes, {sets} sets of attributes, max_work {max_work}",
            hint=f"take max_size {max(1, min(3, size - 1))}, fewer quasi-identifiers, or a larger max_work",
        ) from error


def file_dis(n_unique: int, n_pairs: int, fraction: float) -> float:
    """U pi / (U pi + P (1 - pi)), U uniques and P records in pairs; 0 when nobody is unique."""
    right = n_unique * fraction
    return right / (right + n_pairs * (1 - fraction)) if n_unique else 0.0


def msu_weights(m: int, scoring: Scoring) -> Floats:
    """Weight of an MSU by its size 0..m."""
    if scoring == "elliot":
        return np.array([float(factorial(m - k)) for k in range(m + 1)])
    return np.array([(2.0 ** (m - k) - 1) / comb(m, k) for k in range(m + 1)])


def share_of_scores(
    keys: tuple[str, ...], masks: Counts, counts: Counts, scoring: Scoring = "elliot"
) -> dict[str, float]:
    """The share of all scores that comes from sets with each attribute; ``counts``: MSUs of each set."""
    weights = counts * msu_weights(len(keys), scoring)[_sizes(masks)]
    total, parts = weights.sum(), [weights[masks >> k & 1 == 1].sum() for k in range(len(keys))]
    return {key: float(part / total) if total > 0 else 0.0 for key, part in zip(keys, parts, strict=True)}


def _check(keys: tuple[str, ...], max_size: int | None, scoring: str, fraction: float) -> int:
    if len(keys) > 62:  # sets of them are bit masks in int64
        raise ParameterError("too many quasi-identifiers for special uniques", got=str(len(keys)), allowed="up to 62")
    if max_size is not None and not 1 <= max_size <= len(keys):
        raise ParameterError("max_size is out of range", got=str(max_size), allowed=f"1 to {len(keys)}, or None")
    check_name(scoring, ("elliot", "ihsn"), "unknown scoring")
    if not 0 < fraction <= 1:
        raise ParameterError("the sampling fraction is out of range", got=str(fraction), allowed="above 0, at most 1")
    return len(keys) if max_size is None else max_size


def _sizes(masks: Counts) -> Counts:
    return np.bitwise_count(masks).astype(np.int64)


@measure(
    "special_uniques",
    title="Special uniques: people who stand out by few attributes",
    story="The intruder knows three things about a person, whichever, and looks for a record that is alone with them.",
    keys=("special_uniques.rate",),
)
def assess_special(study: Study, context: Context) -> Evidence:
    """Match each person on the minimal sample uniques of up to three attributes; ties are shared."""
    study, note = narrowed(study)
    matcher, people = study.comparable, study.release.paired_rows
    found, claims = search_release(matcher, size_of_sets(matcher), context.progress)
    credit, claimed = claims.shared(study.release.truth)
    # where no record stands out the intruder claims none
    chance = float(claimed[people].mean()) / study.release.released.height
    told = special_evidence(found, shared_rate(credit[people], chance))
    return replace(told, per_record=credit, notes=(*matcher.notes, *note))


class Uniques(NamedTuple):
    """What a report tells of the minimal sample uniques of a release."""

    n_special: int
    n_sets: int
    dis: float
    fraction: float
    max_size: int
    attributes: dict[str, float]


def special_evidence(found: Uniques, rate_: Estimate) -> Evidence:
    """What share of people they find."""
    told = f"found by at most {found.max_size} attributes that no other record has"
    claim = f"{rate_.hits:,.0f} of {rate_.n:,} people are {told}."
    return Evidence(
        observations=(Observation("special_uniques.rate", claim, rate_),),
        facts=_facts(found),
        figures=(_figure(found),),
        attributes=tuple(found.attributes.items()),
    )


def search_release(matcher: Matcher, size: int, progress: Progress = silent) -> tuple[Uniques, Claims]:
    """Minimal sample uniques of up to three attributes, and who carries the values of each: no list of all is kept."""
    from unmask.kernels.uniques import find_claims, group_rows  # noqa: PLC0415 - numba is heavy

    kinds, claims, sets, n_special = group_rows(matcher.released), Claims(matcher), dict[int, int](), 0
    found = find_claims(
        kinds,
        matcher.original,
        max_size=size,
        apart=matcher.inside,
        progress=lambda done: progress(done, "sets of attributes"),
    )
    for told in found:
        sets |= told.number
        claims.add(told.people, kinds.first[told.records])
        for mask in np.unique(told.masks).tolist():
            claims.look_up(mask, kinds.first[told.listed[told.masks == mask]])
        n_special = int(told.special.sum())
    masks, counts = np.array(list(sets), dtype=np.int64), np.array(list(sets.values()), dtype=np.int64)
    alone, paired = (int((kinds.counts == k).sum()) for k in (1, 2))
    dis = file_dis(alone, 2 * paired, DEFAULT_FRACTION)
    shares = share_of_scores(matcher.names, masks, counts)
    return Uniques(n_special, int(counts.sum()), dis, DEFAULT_FRACTION, size, shares), claims


def _facts(found: Uniques) -> tuple[Fact, ...]:
    return (
        Fact("special uniques", found.n_special, f"released records alone by {found.max_size} attributes or fewer"),
        Fact("minimal sample uniques", found.n_sets, "smallest sets of attributes that single a record out"),
        Fact(
            "DIS",
            found.dis,
            f"chance that a unique match is right, if 1 person in {1 / found.fraction:.0f} is in the file",
            share=True,
        ),
    )


def _figure(found: Uniques) -> Figure:
    ranked = sorted(found.attributes.items(), key=lambda item: -item[1])[:12]
    return Figure.bars(
        ranked,
        title="Which attributes make people special?",
        caption="Share of the SUDA scores that comes from sets with the attribute; sets overlap, and so do shares.",
        said="Contribution of attributes: ",
        axes=("attribute", "share of scores"),
        name="contribution",
        form="{}: {share}",
    )
