"""Value disclosure (SADR): how often a published category is still the person's own [TORRA]_.

Two unrelated columns agree as well, by chance. What counts is agreement beyond that, (SADR - chance) / (1 - chance).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from unmask.arrays import Counts, Floats
from unmask.disclosure.inference import hold_out
from unmask.disclosure.secrets import Categories, category_secrets, paired_categories
from unmask.errors import RoleError
from unmask.evidence import Context, Estimate, Evidence, Fact, Figure, Observation, measure, rate
from unmask.shares import percent
from unmask.shown import Shown
from unmask.study import Study, as_study, spread
from unmask.tables import Release


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """Agreement of one categorical attribute. Arrays have one entry per category of the codebook, missing first."""

    name: str
    estimate: Estimate  # SADR; chance: the agreement of the marginals; control: nearest rows of outsiders
    people: Counts = field(repr=False)  # who have the category in the original
    kept: Counts = field(repr=False)  # of these, who have it in the release too
    released: Counts = field(repr=False)  # who have it in the release

    @property
    def corrected(self) -> float:
        """Agreement beyond chance, as a share of what is possible: 0 by chance, 1 for a copy."""
        return corrected(self.estimate.value, self.estimate.chance)

    @property
    def by_category(self) -> Floats:
        """SADR of each category: the share of its people whose category is still there; NaN where there are none."""
        return np.where(self.people > 0, self.kept / np.maximum(self.people, 1), np.nan)


@dataclass(frozen=True, slots=True)
class ValueDisclosure(Shown):
    """SADR of each categorical attribute, and the mean over them."""

    attributes: tuple[AttributeValues, ...]
    estimate: Estimate
    per_record: Floats = field(repr=False)  # share of a person's categories that are published as they are
    notes: tuple[str, ...] = ()

    @property
    def corrected(self) -> float:
        """Mean agreement beyond chance, as a share of what is possible."""
        return corrected(self.estimate.value, self.estimate.chance)


def corrected(agreement: float, chance: float) -> float:
    """Agreement beyond chance; 0 where chance leaves nothing to be added."""
    return (agreement - chance) / (1 - chance) if chance < 1 else 0.0


def value_disclosure(
    release: Release | Study, *, attributes: Iterable[str] | None = None, seed: int = 0
) -> ValueDisclosure:
    """Share of people whose published category is their own (Torra's SADR), with its chance level.

    Parameters
    ----------
    release
        The two tables, paired. Where the release has coarser categories, agreement is that of the coarser ones.
    attributes
        Categorical columns. None: the confidential ones if any are named, else all that the intruder knows.
    seed
        Seeds the bootstrap of the interval.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> original, released = pl.DataFrame({"sex": list("ffmm")}), pl.DataFrame({"sex": list("fmmm")})
    >>> unmask.value_disclosure(unmask.Release(original, released)).estimate.value
    0.75

    """
    study = as_study(release)
    release = study.release
    names = category_secrets(release, attributes)
    if not names:
        raise RoleError("there is no categorical attribute", hint="name some in attributes= or confidential=")
    pairs = [paired_categories(study, name) for name in names]
    found = tuple(_attribute(study, name, columns, seed) for name, columns in zip(names, pairs, strict=True))
    same = np.mean([columns.original == columns.released for columns in pairs], axis=0)
    per_record = spread(same, release.paired_rows, release.original.height, np.nan)
    chance = float(np.mean([entry.estimate.chance for entry in found]))
    outside = [entry.estimate.control for entry in found if entry.estimate.control is not None]
    control = float(np.mean(outside)) if len(outside) == len(found) else None
    notes = tuple(note for columns in pairs for note in columns.notes)
    return ValueDisclosure(found, rate(same, chance=chance, seed=seed, control=control), per_record, notes)


def _attribute(study: Study, name: str, columns: Categories, seed: int) -> AttributeValues:
    size, n = columns.n_categories + 1, columns.original.size
    people, released = (np.bincount(side + 1, minlength=size) for side in (columns.original, columns.released))
    same = columns.original == columns.released
    kept = np.bincount(columns.original[same] + 1, minlength=size)
    chance = float(people.astype(np.float64) @ released) / (float(n) * n)
    outside = hold_out(study, name)
    control = None if outside is None else float((outside.guess == outside.truth).mean())
    estimate = rate(same.astype(np.float64), chance=chance, seed=seed, control=control)
    return AttributeValues(name, estimate, people, kept, released)


@measure(
    "values",
    title="Value disclosure (SADR)",
    story="The intruder has found a person's record and takes the categories in it for the person's own.",
    keys=("values.rate",),
    applies=lambda release: (
        None
        if category_secrets(release, None)
        else "there is no categorical attribute (a confidential one, if any is named)"
    ),
)
def assess_values(study: Study, context: Context) -> Evidence:
    """Compare categories pair by pair."""
    found = value_disclosure(study, seed=context.seed)
    worst = max(found.attributes, key=lambda entry: (entry.corrected, entry.name))
    return Evidence(
        observations=(
            Observation(
                "values.rate",
                f"{percent(found.estimate.value)} of the categories of {len(found.attributes)} attributes are "
                f"published as "
                f"they are ({percent(found.corrected)} of what chance leaves; most of all {worst.name!r}).",
                found.estimate,
            ),
        ),
        per_record=found.per_record,
        identity=False,
        facts=tuple(
            Fact(
                f"{entry.name}: SADR",
                round(entry.estimate.value, 4),
                f"by chance {percent(entry.estimate.chance)}; beyond chance {percent(entry.corrected)}; by category "
                f"from "
                f"{percent(float(np.nanmin(entry.by_category)))} to {percent(float(np.nanmax(entry.by_category)))}",
                share=True,
            )
            for entry in found.attributes
        ),
        figures=(_figure(found),),
        notes=found.notes,
    )


def _figure(found: ValueDisclosure) -> Figure:
    return Figure.bars(
        [(entry.name, max(0.0, entry.corrected)) for entry in found.attributes],
        title="How many categories are published as they are, beyond chance?",
        caption="Agreement of the published with the true category: 0 % as two unrelated columns, 100 % as a copy.",
        said="Agreement beyond chance: ",
        axes=("attribute", "agreement beyond chance"),
        name="beyond chance",
    )
