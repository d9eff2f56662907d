"""Nearest-record linkage (DBRL): the intruder links each person he knows to the closest published record.

He holds the original records (or the attributes of them that he is said to know), takes the release, and for each
person picks the record at the least distance. Success is counted against the truth that the protector has; where
several records are equally near he must guess among them, so the credit is shared [TORRA]_, [HERRANZ]_.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.attacks.linkage import DIRECTIONS, Direction, Linkage
from unmask.engines import local
from unmask.engines.metric import Metric, Scale, build_space, readable, swap
from unmask.errors import ParameterError, did_you_mean
from unmask.evidence.figure import Figure, Series
from unmask.evidence.finding import Evidence, Fact, Observation
from unmask.evidence.measure import Context, measure, silent
from unmask.tables.encode import Encoding, RankMethod, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unmask.evidence.measure import Progress
    from unmask.tables.release import Release

SAMPLE_FOR_ATTRIBUTES = 2000  # intruders asked when one attribute after the other is taken away


def link_nearest(  # noqa: PLR0913 - the choices of a metric
    release: Release,
    *,
    metric: Metric = "euclidean",
    direction: Direction = "to_release",
    scale: Scale = "own",
    weights: Mapping[str, float] | None = None,
    ranks: RankMethod = "average",
    seed: int = 0,
    progress: Progress = silent,
) -> Linkage:
    """Link every record to its nearest candidates (DBRL).

    Parameters
    ----------
    release
        The two tables and the roles of their columns.
    metric
        "euclidean" (standardised), "manhattan", "chebyshev", "mahalanobis", "gower", or "permutation" (Chebyshev on
        ranks).
    direction
        "to_release": each original record looks for its nearest released one. "to_original": the paper's direction.
    scale
        Standardise each file by its "own" mean and sd, both by the "original"'s, or "none".
    weights
        Weight of attributes in the distance; 1 for those not named.
    ranks
        Ranks of equal values for "permutation": "average" and "dense" keep ties, which are then shared; "ordinal" tells
        them apart by a seeded lot, as the paper's tables do.
    seed
        Seeds the draw among tied candidates and the bootstrap interval; no risk depends on the draw.
    progress
        Called with the fraction done and a word.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"age": [20, 30, 40, 50], "income": [1.0, 2.0, 4.0, 8.0]})
    >>> unmask.link_nearest(unmask.Release(people, people)).estimate.value
    1.0

    """
    if direction not in DIRECTIONS:
        raise ParameterError(
            f"no direction {direction!r}", allowed=", ".join(DIRECTIONS), hint=did_you_mean(direction, DIRECTIONS)
        )
    space = build_space(encode(release), metric=metric, scale=scale, weights=weights, ranks=ranks, seed=seed)
    truth = release.truth
    if direction == "to_original":
        space, truth = swap(space), _inverse(truth, release.released.height)
    found = local.nearest(space, seed=seed, progress=progress)
    credit = local.credit(space, truth)
    distances = readable(found.least, space.norm)
    margin = np.where(found.ties > 1, 0.0, readable(found.second, space.norm) - distances)
    return Linkage(
        links=found.row,
        distances=distances,
        credit=credit,
        tie_sizes=found.ties,
        margin=np.where(np.isnan(margin), np.inf, margin),
        total_distance=float(np.sort(distances).sum()),
        optimal=True,
        truth=truth,
        n_candidates=int(space.points.shape[0]),
        direction=direction,
        seed=seed,
    )


def _inverse(truth: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    inverse = np.full(size, -1, dtype=np.int64)
    rows = np.flatnonzero(truth >= 0)
    inverse[truth[rows]] = rows
    return inverse


def attribute_contributions(encoding: Encoding, truth: NDArray[np.int64], seed: int) -> tuple[tuple[str, float], ...]:
    """How much the rate of correct links falls when the intruder does not know one attribute (euclidean)."""
    people = np.flatnonzero(truth >= 0)
    if people.size > SAMPLE_FOR_ATTRIBUTES:
        people = np.sort(np.random.default_rng(seed).choice(people, SAMPLE_FOR_ATTRIBUTES, replace=False))

    def reid(part: Encoding) -> float:
        space = build_space(part)
        asked = space._replace(queries=space.queries[people], query_codes=space.query_codes[people])
        return float(np.sort(local.credit(asked, truth[people])).mean())

    if len(encoding.names) < 2:
        return tuple((name, reid(encoding) - 1.0 / len(encoding.released)) for name in encoding.names)
    whole = reid(encoding)
    return tuple((name, whole - reid(encoding.without(name))) for name in encoding.names)


@measure(
    "nearest",
    title="Nearest-record linkage",
    story="The intruder knows these attributes of real people and takes, for each, the closest record of the release.",
    keys=("nearest.rate", "nearest.known"),
)
def assess_nearest(release: Release, context: Context) -> Evidence:
    """Run the attack and tell what it found."""
    linkage = link_nearest(release, seed=context.seed, progress=lambda done, text: context.progress(0.5 * done, text))
    encoding = encode(release)
    context.progress(0.5, "which attributes matter")
    attributes = attribute_contributions(encoding, release.truth, context.seed)
    context.progress(1.0, "done")
    estimate, known = linkage.estimate, linkage.known()
    return Evidence(
        observations=(
            Observation(
                "nearest.rate",
                _tell(estimate.hits, estimate.n, "are linked to their own record by taking the nearest one"),
                estimate,
            ),
            Observation(
                "nearest.known",
                _tell(
                    known.hits, known.n, "are linked with a margin that tells the intruder he is right (19 times in 20)"
                ),
                known,
            ),
        ),
        per_record=linkage.per_record(release.original.height),
        clarity=linkage.margin,
        facts=_facts(linkage),
        figures=(_curve_figure(linkage),),
        attributes=attributes,
        notes=encoding.notes,
    )


def _tell(hits: float, n: int, what: str) -> str:
    return f"{hits:,.0f} of {n:,} people {what}."


def _facts(linkage: Linkage) -> tuple[Fact, ...]:
    tied = linkage.tie_sizes[linkage.attempted]
    return (
        Fact(
            "median anonymity set",
            float(np.median(tied)),
            "records that are equally near, between which the intruder must guess",
        ),
        Fact(
            "people with a single nearest record",
            int((tied == 1).sum()),
            "for them the intruder has one answer, right or wrong",
        ),
    )


def _curve_figure(linkage: Linkage) -> Figure:
    curve = linkage.curve
    pick = np.unique(np.linspace(0, len(curve.coverage) - 1, 200).round().astype(int))
    known = linkage.known().value
    return Figure(
        shape="step",
        title="How sure can the intruder be?",
        caption="He claims his clearest links first: of this share of people claimed, this share is right.",
        alt=f"Precision against coverage. Precision is at least 95 percent up to {known:.1%} of people; "
        f"over all it is {linkage.estimate.value:.1%}.",
        x_label="people claimed",
        y_label="claims that are right",
        series=(
            Series(
                "nearest-record linkage", tuple(curve.coverage[pick].tolist()), tuple(curve.precision[pick].tolist())
            ),
            Series("blind guess", (0.0, 1.0), (linkage.chance, linkage.chance)),
        ),
        percent=(True, True),
    )
