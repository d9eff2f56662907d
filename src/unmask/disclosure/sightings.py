"""What an auditor sees of a canary in a release: its own row where rows stay, and what the whole table adds up to.

Whoever audits knows both tables but for one row, and looks at everything that could tell which of them it was.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats
from unmask.disclosure.canaries import Worlds

ALONE = 0.5  # runs added to each answer of a word that was rarely seen


class Sightings:
    """Releases seen so far; ``rows_stay``: the i-th row of a release was made from the i-th of the table."""

    def __init__(self, worlds: Worlds, columns: Collection[str], *, rows_stay: bool) -> None:
        """Note what is looked at: these columns, and any that the release alone has."""
        self.worlds, self.rows_stay = worlds, rows_stay
        self.aside = {name for name in worlds.inside.columns if name not in columns}
        people = worlds.inside.head(worlds.row)
        self.numbers = [name for name in people.columns if people.schema[name].is_numeric()]
        self.words = [name for name in people.columns if name not in self.numbers]
        self.own = {name: _number(worlds.one[name]) for name in self.numbers}
        self.others = {name: _number(worlds.other[name]) for name in self.numbers}
        self.people = people
        self.seen: list[dict[str, float]] = []
        self.told: list[dict[str, str]] = []

    def look(self, release: pl.DataFrame) -> None:
        """Note what one release shows."""
        traits: dict[str, float] = {"rows": float(release.height)}
        words: dict[str, str] = {}
        at = self.worlds.row if self.rows_stay and release.height > self.worlds.row else None
        release = release.drop(self.aside & set(release.columns))
        for name in release.columns:
            column = release[name]
            if column.dtype.is_numeric() and name in self.own:
                self._numbers(traits, name, column.cast(pl.Float64).fill_null(float("nan")).to_numpy(), at)
            else:
                text = column.cast(pl.String).fill_null("")
                if name in self.worlds.one:
                    traits[f"rows with its {name}"] = float((text == str(self.worlds.one[name])).sum())
                if at is not None:
                    words[name] = text[at]
        traits["rows nearest to it"] = float(self._nearest(release).sum())
        self.seen.append(traits)
        self.told.append(words)

    def _numbers(self, traits: dict[str, float], name: str, values: Floats, at: int | None) -> None:
        present = values[np.isfinite(values)]
        traits[f"mean of {name}"] = float(present.mean()) if present.size else 0.0
        traits[f"least {name}"] = float(present.min()) if present.size else 0.0
        traits[f"largest {name}"] = float(present.max()) if present.size else 0.0
        if at is None:
            return
        own, other = self.own[name], self.others[name]
        place = (values[at] - other) / (own - other) if own != other else 0.0
        place = place if np.isfinite(place) else 0.5
        traits[f"its own {name}"] = float(place)
        traits[f"its own {name}, within the ends"] = float(np.clip(place, 0.0, 1.0))

    def _nearest(self, release: pl.DataFrame) -> Flags:
        """Rows that are nearer to the canary than to anybody else; per column, by its range, words by equality."""
        gaps = np.zeros((release.height, self.people.height))
        mine = np.zeros(release.height)
        for name in release.columns:
            if name not in self.worlds.one:
                continue
            if name in self.numbers and release[name].dtype.is_numeric():
                values = release[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
                known = self.people[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
                width = abs(self.own[name] - self.others[name]) or 1.0
                gaps += np.nan_to_num(np.abs(values[:, None] - known) / width, nan=0.5)
                mine += np.nan_to_num(np.abs(values - self.own[name]) / width, nan=0.5)
            elif name in self.words:
                text, known_words = (side[name].cast(pl.String).fill_null("").to_numpy().astype(object)
                                     for side in (release, self.people))  # fmt: skip
                gaps += text[:, None] != known_words
                mine += text != str(self.worlds.one[name])
        return np.asarray(mine < gaps.min(axis=1, initial=np.inf))

    def scores(self, inside: Flags, learn: Flags) -> dict[str, Floats]:
        """Scores of every run by the name of the attack; what has to be learnt is learnt of the runs ``learn``."""
        names = sorted({name for one in self.seen for name in one})
        traits = np.array([[one.get(name, 0.0) for name in names] for one in self.seen])
        found = {name: traits[:, k] for k, name in enumerate(names) if np.ptp(traits[:, k]) > 0}
        for name in sorted({name for one in self.told for name in one}):
            found[f"its own {name}"] = _odds([one.get(name, "") for one in self.told], inside, learn)
        own = [values for name, values in found.items() if name.startswith("its own") and "within" not in name]
        cut = [values for name, values in found.items() if "within the ends" in name]
        cut += [found[f"its own {name}"] for name in self.words if f"its own {name}" in found]
        several = {"all of it together": list(found.values()), "its own row": own, "its own row, within the ends": cut}
        for name, parts in several.items():
            if len(parts) > 1:
                found[name] = _learnt(np.column_stack(parts), inside, learn)
        if len(cut) > 1:
            found["its own row, added up"] = np.sum(cut, axis=0)
        return found


def _number(value: Any) -> float:  # noqa: ANN401 - a cell
    return float("nan") if value is None else float(value)


def _odds(words: list[str], inside: Flags, learn: Flags) -> Floats:
    """How much likelier each word is with the canary than without, as the runs to learn from tell (logarithm)."""
    _, codes = np.unique(np.array(words, dtype=object).astype(str), return_inverse=True)
    size = int(codes.max()) + 1
    counts = [np.bincount(codes[learn & side], minlength=size) + ALONE for side in (inside, ~inside)]
    return np.asarray(np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum()))[codes]


def _learnt(traits: Floats, inside: Flags, learn: Flags) -> Floats:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import

    mean, sd = traits[learn].mean(axis=0), traits[learn].std(axis=0)
    scaled = (traits - mean) / np.where(sd > 0, sd, 1.0)
    model = LogisticRegression(max_iter=1000).fit(scaled[learn], inside[learn])
    return np.asarray(model.decision_function(scaled))
