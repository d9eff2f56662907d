"""Anonymity models: k, l, t and their relatives, per group and for the file.

Formulas are in ``diversity``; how missing keys count is in ``wildcard``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from unmask.arrays import Codes, Flags, Floats, Ints, Table
from unmask.errors import ParameterError, RoleError, check_name
from unmask.evidence import Context, Evidence, Fact, measure, small_groups
from unmask.groups.counting import (
    Classes,
    Crowds,
    Frame,
    check_keys,
    count_classes,
    encode,
    open_table,
    wildcard_sizes,
    wildcard_values,
)
from unmask.groups.diversity import Cells, Diversity, Ground, diversity
from unmask.shown import Shown
from unmask.study import Study
from unmask.tables import check_columns

Missing = Literal["value", "wildcard"]


@dataclass(frozen=True, slots=True)
class Anonymity(Shown):
    """Sizes of the groups and the diversity of each confidential attribute in them."""

    classes: Classes
    missing: Missing
    incomplete: float  # what an incomplete record counts for others, where missing is a wildcard
    class_sizes: Floats  # f of each class; a whole number unless missing is a wildcard with 0 < incomplete < 1
    class_weights: Floats | None  # F of each class, when there are weights
    attributes: tuple[Diversity, ...]

    @property
    def k(self) -> float:
        """The smallest crowd that a record hides in."""
        return float(self.class_sizes.min())

    def n_below(self, k: float) -> int:
        """Records that violate k-anonymity: their crowd is smaller than k."""
        return int(self.classes.counts[self.class_sizes < k].sum())

    @property
    def worst(self) -> dict[str, dict[str, float]]:
        """For each confidential attribute the value of each model that the whole file meets."""
        return {attribute.attribute: attribute.worst for attribute in self.attributes}

    def attribute(self, name: str) -> Diversity:
        """Diversity of one confidential attribute, one entry for each class."""
        for attribute in self.attributes:
            if attribute.attribute == name:
                return attribute
        known = [attribute.attribute for attribute in self.attributes]
        raise ParameterError(
            f"{name!r} is not a confidential attribute here", allowed=", ".join(known) or "none was given"
        )

    @property
    def per_record(self) -> Floats:
        """1/f for each record, in row order."""
        return self.classes.spread(1 / np.maximum(self.class_sizes, 1.0))

    def table(self) -> pl.DataFrame:
        """One row for each group: key values, records, crowd and, for each confidential attribute, all models."""
        fields = ("distinct", "entropy", "recursive", "alpha", "t", "delta", "beta", "enhanced_beta")
        added = {f"{a.attribute}_{field}": getattr(a, field) for a in self.attributes for field in fields}
        return self.classes.table(crowd=self.class_sizes, **added)


def anonymity(  # noqa: PLR0913 - one option for each model that has a parameter
    table: Table,
    *,
    quasi: Iterable[str],
    confidential: Iterable[str] = (),
    weight: str | None = None,
    missing: Missing = "value",
    incomplete: float = 1.0,
    ground: Mapping[str, Ground] | None = None,
    c: float = 2.0,
    alpha: float | None = None,
) -> Anonymity:
    """Group ``table`` by its quasi-identifiers and tell which anonymity models hold.

    Parameters
    ----------
    table
        Any frame that narwhals takes; it is counted where it lives.
    quasi, confidential
        What the intruder knows, and what they want to learn.
    weight
        Column of sampling weights, for the sum of weights of each crowd.
    missing
        "value": a missing key is a value of its own. "wildcard": it agrees with everything, an incomplete record
        counting ``incomplete`` for others (sdcMicro's alpha), in crowds and in their confidential values alike.
    ground
        Distance between confidential values in t-closeness: "equal", "ordered" or "numeric". Default: numeric for
        numbers with decimals, equal else. Records whose value is missing are left out of ordered and numeric
        distances.
    c
        The constant of recursive (c, l)-diversity.
    alpha
        The former name of ``incomplete``, until version 0.3: the alpha of the result is that of (alpha, k)-anonymity.

    """
    incomplete = incomplete if alpha is None else alpha
    keys = check_keys(quasi)
    wanted = (confidential,) if isinstance(confidential, str) else tuple(dict.fromkeys(confidential))
    _check(keys, wanted, missing, incomplete, c)
    frame = open_table(table, quasi=keys, confidential=wanted)
    grounds = _grounds(frame, wanted, ground or {})
    if len(wanted) == 1 and weight is None:  # one grouping serves both: groups are sums of cells
        classes, counted = _at_once(frame, keys, wanted[0])
        pairs = {wanted[0]: counted}
    else:
        classes = count_classes(table, keys, weight=weight)
        pairs = {name: _pairs(frame, classes, name) for name in wanted}
    sizes, weights, wild = classes.counts.astype(np.float64), classes.weights, None
    if missing == "wildcard":
        wild = Wild(classes.codes(), classes.columns.select(pl.all().is_null()).to_numpy(), incomplete)
        sizes = wildcard_sizes(*wild[:2], sizes, incomplete)
        weights = None if weights is None else wildcard_sizes(*wild[:2], weights, incomplete)
    attributes = tuple(_of_rows(rows, name, grounds[name], c, wild) for name, rows in pairs.items())
    return Anonymity(classes, missing, incomplete, sizes, weights, attributes)


class Wild(NamedTuple):
    """Keys of the classes and which are missing, where missing ones agree with everything."""

    codes: Codes
    missing: Flags
    incomplete: float


def _at_once(frame: Frame, keys: tuple[str, ...], name: str) -> tuple[Classes, Rows]:
    """Count (group, value) pairs once and sum the groups from them here."""
    counted = count_classes(frame.to_native(), (*keys, name))
    columns = counted.columns.select(keys)
    changes = columns.select(pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)).to_series()
    begins = np.r_[True, changes.to_numpy()[1:]]
    group = np.cumsum(begins) - 1
    sizes = np.bincount(group, counted.counts).astype(np.int64)
    classes = Classes(keys, columns.filter(pl.Series(begins)), sizes, None, None, frame)
    return classes, Rows(group, _levelled(counted.columns[name], frame, name), counted.counts, len(sizes))


def _pairs(frame: Frame, classes: Classes, name: str) -> Rows:
    """Count (group, value) pairs where the table lives and number the groups as ``classes`` does."""
    pairs = count_classes(frame.to_native(), (*classes.keys, name))
    group = classes.number(pairs.columns.rename({key: f"k{i}" for i, key in enumerate(classes.keys)}))
    return Rows(group, _levelled(pairs.columns[name], frame, name), pairs.counts, classes.n_classes)


class Rows(NamedTuple):
    """Counts of (group, value) pairs, in any order within a group."""

    group: Ints
    value: pl.Series
    records: Ints
    n_groups: int


def _of_rows(rows: Rows, name: str, ground: Ground, c: float, wild: Wild | None) -> Diversity:
    """Sort by group and value, and hand over; ordered scales leave missing values out."""
    code = encode(rows.value).astype(np.int64)
    positions = _positions(rows.value, code, ground)
    order = np.lexsort((code, rows.group)) if isinstance(rows.value.dtype, pl.Enum) else slice(None)
    counted = Crowds(rows.group[order], code[order], rows.records[order].astype(np.float64))
    whole = None if wild is None else np.bincount(code, rows.records, minlength=len(positions)).astype(np.float64)
    if wild is not None:
        counted = wildcard_values(wild.codes, wild.missing, counted, wild.incomplete)
    cells = Cells(*counted, rows.n_groups, positions, whole)
    if ground == "equal":
        return diversity(cells, name, ground, c)
    scale = len(positions) - int(rows.value.null_count() > 0)  # missing has the last code
    known = counted.take(counted.value < scale)
    placed = Cells(*known, rows.n_groups, positions[:scale], None if whole is None else whole[:scale])
    return diversity(cells, name, ground, c, placed)


def _levelled(value: pl.Series, frame: Frame, name: str) -> pl.Series:
    """Levels with a declared order come back as text (see ``classes``): give them their order again."""
    kind = frame.collect_schema()[name]
    return value.cast(pl.Enum(kind.categories)) if kind == nw.Enum and getattr(kind, "categories", None) else value


def _positions(value: pl.Series, code: Ints, ground: Ground) -> Floats:
    positions = np.arange(int(code.max()) + 1, dtype=np.float64)
    if ground == "numeric":
        known = value.is_not_null()
        numbers = value.to_physical() if value.dtype.is_temporal() else value
        positions[code[known.to_numpy()]] = numbers.filter(known).cast(pl.Float64).to_numpy()
    return positions


def _grounds(frame: Frame, wanted: tuple[str, ...], given: Mapping[str, Ground]) -> dict[str, Ground]:
    check_columns(given, wanted, "ground distance", "the confidential attributes")
    schema = frame.collect_schema()
    for name, ground in given.items():
        check_name(ground, ("equal", "ordered", "numeric"), f"unknown ground distance for {name!r}")
        if ground == "numeric" and not (schema[name].is_numeric() or schema[name].is_temporal()):
            raise RoleError(
                f"{name!r} has no numbers to take distances of", got=str(schema[name]), allowed="'equal', 'ordered'"
            )
    return {name: given.get(name, "numeric" if schema[name].is_float() else "equal") for name in wanted}


def _check(keys: tuple[str, ...], confidential: tuple[str, ...], missing: str, incomplete: float, c: float) -> None:
    both = [name for name in confidential if name in keys]
    if both:
        raise RoleError(
            "a column is both known and confidential", got=", ".join(map(repr, both)), hint="take it out of one role"
        )
    check_name(missing, ("value", "wildcard"), "unknown way to treat missing keys")
    if not 0 <= incomplete <= 1:
        raise ParameterError("incomplete is out of range", got=str(incomplete), allowed="0 to 1")
    if not c > 0:
        raise ParameterError("c of recursive diversity is out of range", got=str(c), allowed="above 0")


@measure(
    "anonymity",
    title="Small groups (k-anonymity and its relatives)",
    story="The intruder looks at all records that carry the values they know. The fewer there are, the nearer they are "
    "to the person; when these records agree on a secret value, it does not matter which one is the person's.",
    keys=("anonymity.small",),
)
def assess_anonymity(study: Study, context: Context) -> Evidence:
    """Count the people whose own record has too few look-alikes, itself included: how few is for the policy to say."""
    release = study.release
    match = study.comparable.match()
    credit, crowd = match.credit(release.truth), match.crowd
    context.progress(0.5, "groups")
    people = release.paired_rows
    names = [name for name in release.confidential if name in {*release.original.columns} & {*release.released.columns}]
    table = release.released.select(*release.quasi, *names)
    models = anonymity(table, quasi=release.quasi, confidential=names)
    return Evidence(
        observations=(small_groups("anonymity.small", crowd[people], credit[people] > 0, release.released.height),),
        per_record=credit,
        facts=tuple(_facts(models)),
        notes=study.matcher.notes,
    )


def _facts(found: Anonymity) -> Iterator[Fact]:
    yield Fact("k", found.k, "size of the smallest group")
    words = {
        "distinct": "fewest different values in a group (distinct l-diversity)",
        "entropy": "least effective number of values in a group (entropy l-diversity)",
        "alpha": "largest share of one value in a group",
        "t": "largest distance between a group's values and the file's (t-closeness)",
    }
    for name, worst in found.worst.items():
        for model, meaning in words.items():
            yield Fact(f"{name}: {model}", worst[model], meaning, share=model == "alpha")
