"""Other figures of a release than risk and what is left: the axes of the papers' risk-utility maps.

- ``correlations``: how far the correlations moved, as the Frobenius norm of their change [MAXKNOW]_ (Figures 4 and 7).
- ``distance``: the smallest linkage distance of a person, in ranks [MAXKNOW]_ (Figure 4).
- ``error(COLUMN)``: mean rank error of who links on the other columns to learn this one [MAXKNOW]_ (Figure 7).
- ``variance``: of the change of distances between people, after a masking of places [KROLL]_ (Figure 9).
- ``precision``: share of the graph attack's claims that are right, after a masking of places [KROLL]_ (Figure 9).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np

from unmask.errors import ParameterError
from unmask.graph import Coordinates, GraphLinkage, NoiseTolerance, Place, link_graph, read_place
from unmask.masking import PlaceMasking, parse_masking
from unmask.max_knowledge import attribute_test, dictionary_test
from unmask.tables import Release
from unmask.utility import compare_moments

ALPHA = 0.5  # share of the deviations that the graph attack allows for, as in the paper's Figure 9
FEW = 400  # people among whom the largest cliques are searched for, as in the paper
DRAWN = 100  # records of the dictionary, and draws of a release that says nothing: only compared with, not shown
WORDS = {
    "correlations": "change of correlations (Frobenius norm)",
    "distance": "smallest linkage distance (ranks)",
    "error": "mean rank error of",
    "variance": "variance of the change of distances",
    "precision": "claims of the graph attack that are right",
    "strength": "strength of the masking",
    "utility": "what is left of the data",
    "risk": "people found by the best attack",
}
Measured = tuple[tuple[str, float], ...]


def check_axes(names: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
    """The axes as they are written; one that is unknown is an error."""
    found = tuple(names)
    for name in found:
        kind, column = _parted(name)
        if kind not in _MEASURES or (kind == "error") != bool(column):
            raise ParameterError(
                "no such axis", got=repr(name), allowed="correlations, distance, error(COLUMN), variance, precision"
            )
        if column and column not in columns:
            raise ParameterError("no such column to learn", got=repr(column), allowed=", ".join(columns))
    return found


def measure_axes(names: Iterable[str], release: Release, masking: str, seed: int) -> Measured:
    """The figures of one release."""
    return tuple((name, _MEASURES[_parted(name)[0]](release, masking, _parted(name)[1], seed)) for name in names)


def label(name: str) -> str:
    """An axis in words."""
    kind, column = _parted(name)
    return f"{WORDS[kind]} {column}".strip()


def _parted(name: str) -> tuple[str, str]:
    found = re.fullmatch(r"\s*(\w+)\s*(?:\(\s*(.+?)\s*\))?\s*", name)
    return (found[1], found[2] or "") if found else (name, "")


def _correlations(release: Release, _masking: str, _column: str, _seed: int) -> float:
    names = [name for name in release.quasi if name in release.released.columns]
    return compare_moments(release.original.select(names), release.released.select(names)).correlation_norm


def _distance(release: Release, _masking: str, _column: str, seed: int) -> float:
    return dictionary_test(release, size=DRAWN, ranks="ordinal", seed=seed).minimum


def _error(release: Release, _masking: str, column: str, seed: int) -> float:
    return attribute_test(release, column, instantiations=1, seed=seed).mean


def _variance(release: Release, masking: str, _column: str, _seed: int) -> float:
    known, published, _ = _places(release, masking)
    change = known.block(np.arange(known.n)) - published.block(np.arange(known.n))
    return float(change[np.triu_indices(known.n, 1)].var())


def _precision(release: Release, masking: str, _column: str, seed: int) -> float:
    """Claims only, as in the paper; nothing claimed is nothing right."""
    _, _, link = _places(release, masking)
    found = link(seed)
    return found.precision(np.column_stack([np.arange(release.original.height)] * 2)) if found.found else 0.0


def _places(release: Release, masking: str) -> tuple[Place, Place, Callable[[int], GraphLinkage]]:
    """The places of both tables, in the same order of people, and the attack on them."""
    made = parse_masking(masking)
    if not isinstance(made, PlaceMasking) or not hasattr(made, "x"):
        raise ParameterError("this axis needs a masking of places", got=masking, allowed="such as place_noise(0.05)")
    x, y = str(made.x), str(getattr(made, "y", ""))
    where = Coordinates(x, y, kind=getattr(made, "kind", "lonlat"))
    labels = [name for name in release.quasi if name not in (x, y)]
    known, published = (release.original, where), (release.released, where)

    def link(seed: int) -> GraphLinkage:
        tolerance = NoiseTolerance(made.strength, ALPHA, masking=made.moves)
        method: Literal["exact", "auto"] = "exact" if release.original.height <= FEW else "auto"
        return link_graph(
            original=known, released=published, labels=labels, tolerance=tolerance, method=method, null=None, seed=seed
        )

    return read_place(known, labels, "original"), read_place(published, labels, "released"), link


_MEASURES = {
    "correlations": _correlations, "distance": _distance, "error": _error, "variance": _variance,
    "precision": _precision,
}  # fmt: skip
