"""What published tables give away, as evidence: sentences, limits to be held against, a picture."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from unmask.evidence import Absence, Estimate, Evidence, Fact, Figure, Observation, Reported, small_groups
from unmask.shares import percent
from unmask.tabular.risk import TableRisk

TITLE = "Published tables"
STORY = (
    "The intruder holds the tables and no record. They put all tables together, use that every count is a whole number "
    "of people, and work out for each cell how small and how large it can be."
)
NOTHING = (
    "amounts are protected by what is withheld and by who contributes: nothing is withheld, and without the people "
    "behind the tables (--original) nobody knows who dominates a cell"
)
EDGES = (1, 3, 5, 11, 21, 51)  # of the picture: people by how large their cell can be


def report_tables(risk: TableRisk) -> tuple[Reported, ...]:
    """What is judged: people in small cells, people whose secret follows, amounts that follow or are dominated."""
    observations = _of_counts(risk) if risk.cells.whole else _of_amounts(risk)
    if not observations:
        return (Reported("tables", TITLE, STORY, Absence("could not run", NOTHING)),)
    evidence = Evidence(
        observations=observations, identity=False, facts=_facts(risk), figures=_figures(risk), notes=risk.notes
    )
    return (Reported("tables", TITLE, STORY, evidence),)


def _of_counts(risk: TableRisk) -> tuple[Observation, ...]:
    sizes = risk.sizes()
    found = [small_groups("tables.small", sizes, np.ones(sizes.size, dtype=bool), max(1, sizes.size), IN_CELLS)]
    if risk.confidential is None:
        return tuple(found)
    known, learnt = _counted(risk.surprising, risk.people, 0.0), _counted(risk.learnt, risk.people, risk.commonest)
    words = f"have a value of {risk.confidential} that is certain from the tables"
    found.append(Observation.of_people("tables.known", known, f"{words} and not the commonest one."))
    found.append(Observation.of_people("tables.learnt", learnt, f"{words}."))
    return tuple(found)


IN_CELLS = "{hits} of {n} people are in cells that must have somebody and can have fewer than {k}."


def _counted(people: tuple[int, int], of: int, chance: float) -> Estimate:
    """People for certain; the upper end is the most that the tables leave room for."""
    low, high = (min(1.0, n / max(1, of)) for n in people)
    return Estimate(low, low, high, max(1, of), chance, None, "exact")


def _of_amounts(risk: TableRisk) -> tuple[Observation, ...]:
    found = []
    if risk.n_withheld:
        share = risk.n_recomputed / risk.n_withheld
        cells = f"{risk.n_recomputed:,} of {risk.n_withheld:,} withheld cells"
        words = f"{cells} follow from the others to within {percent(risk.p)}."
        found.append(
            Observation("tables.within", words, Estimate(share, share, share, risk.n_withheld, 0.0, None, "exact"))
        )
    if risk.truth is not None and risk.truth.n_cells:
        n = int(risk.truth.estimable.sum())
        share = n / risk.truth.n_cells
        words = (
            f"In {n:,} of {risk.truth.n_cells:,} published cells the second largest contributor learns the largest "
            f"amount to within {percent(risk.p)}."
        )
        found.append(
            Observation(
                "tables.estimable", words, Estimate(share, share, share, risk.truth.n_cells, 0.0, None, "exact")
            )
        )
    return tuple(found)


def _facts(risk: TableRisk) -> tuple[Fact, ...]:
    cells = risk.cells
    told = [
        Fact("tables", len(cells.of_table), "published tables, taken together"),
        Fact("cells", int((cells.row > 0).sum()), "published cells, totals included"),
        Fact("withheld", risk.n_withheld, "cells that are named but not told"),
        Fact("recomputed", risk.n_recomputed, "withheld cells that follow from the others all the same"),
    ]
    whole = [view for view in risk.views if set(view.dimensions) == set(cells.dimensions)]
    if whole:
        forced = int(min(view.bounds.low.sum() for view in whole))
        told.append(Fact("forced", forced, "people whose whole combination of labels follows from the tables"))
    return tuple(told)


def _figures(risk: TableRisk) -> tuple[Figure, ...]:
    sizes = risk.sizes()
    if not sizes.size:
        return ()
    ends = [*EDGES, np.inf]
    bars = [(_named(low, high), float(((sizes >= low) & (sizes < high)).sum())) for low, high in pairwise(ends)]
    return (
        Figure.bars(
            bars,
            title="How large can the cell of a person be?",
            caption="People by the most that their cell can have, in the table where most people stand in small cells.",
            said="People by the size of their cell: ",
            axes=("people in the cell, at most", "people"),
            form="{} {:,.0f}",
        ),
    )


def _named(low: float, high: float) -> str:
    if np.isinf(high):
        return f"{low:.0f} and more"
    return f"{low:.0f} to {high - 1:.0f}" if high - low > 1 else f"{low:.0f}"
