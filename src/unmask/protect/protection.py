"""What `protect` found: the treatment of each column with its reason and cost, the plan, and what stands against it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unmask.errors import ParameterError, TableError
from unmask.inert import json_text
from unmask.masking import parse_masking
from unmask.protect.frontier import Frontier, Point
from unmask.protect.making import mask_around
from unmask.protect.treatments import VALUES, Treatment
from unmask.schemas import FORMS, KEY, check_form
from unmask.shares import percent, span
from unmask.shown import Shown
from unmask.tables import read_table
from unmask.utility import Kept


@dataclass(frozen=True)
class Protection(Shown):
    """What was done to each column, and what the whole assessment says of the result."""

    steps: tuple[Treatment, ...]  # columns that changed, in the order of the steps: each cost is that of the step
    before: dict[str, float]  # bits by which each column pointed to a person
    final: Point | None  # None: nothing that was tried is safe
    again: Point | None  # the same release, attacked with other seeds: the last of them, or the first that was not safe
    frontier: Frontier
    left_out: tuple[str, ...] = ()  # columns that are not published: the id, what is ignored
    refused: tuple[Point, ...] = ()  # safe, but not when attacked again
    kept: tuple[Kept, ...] = ()  # the analyses that were asked for, in the result
    untouched: tuple[str, ...] = ()  # columns that are published as they are and that no step sees: household, weight

    @property
    def words(self) -> str:
        """The result in a few sentences."""
        if self.final is None:
            return self._nothing
        tried = len(self.frontier.points)
        changed = {name for step in self.steps for name in step.columns}
        found = f"{percent(self.final.risk)} found (95 % CI {span(self.final.low, self.final.high)})"
        seeds = "; attacked again with other seeds it stays so" if self.again is not None else ""
        told = (
            f"Safe under {self.frontier.policy!r}: {found}, {percent(self.final.utility)} of the data left. "
            f"{len(changed)} of {len(self.before)} columns changed, after {tried} releases were tried{seeds}."
        )
        return " ".join([told, *self._analyses])

    @property
    def _analyses(self) -> list[str]:
        """Which of the analyses come out, and what is said of those that do not."""
        if not self.kept:
            return []
        lost = [one.words for one in self.kept if not _comes_out(one)]
        return [f"{len(self.kept) - len(lost)} of {len(self.kept)} analyses come out as on the original.", *lost]

    @property
    def _nothing(self) -> str:
        """Why there is no release, and what came nearest."""
        points, policy = self.frontier.points, self.frontier.policy
        told = f"No release of these columns that was tried ({len(points)}) is safe under {policy!r}."
        if not points:
            return f"{told} There was no time for a single one."
        if self.refused:
            near = max(self.refused, key=lambda point: point.utility)
            many = f"{len(self.refused)} looked safe and {'was' if len(self.refused) == 1 else 'were'} not"
            told += f" {many} when attacked again with other seeds."
        else:
            attacked = [point for point in points if point.stage != "glance"] or list(points)
            near = min(attacked, key=lambda point: (point.verdict == "unsafe", point.high, -point.utility))
        most = max(self.before, key=lambda name: self.before[name])
        return (
            f"{told} The nearest is {near.words} ({near.reason}). What helps: leaving out a column such as {most}, "
            f"which points most to people ({self.before[most]:.1f} bits); more people; another recipient and policy."
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each step was taken, and what it cost."""
        return tuple(self._why(step) for step in self.steps)

    def _why(self, step: Treatment) -> str:
        done, cost = f"{step.column}: {parse_masking(step.masking)}", f"costs {percent(step.cost)} of the data"
        if step.column == VALUES:
            return f"{done} makes every number that moves to somebody else a mean of several people's, and {cost}"
        before = sum(self.before[name] for name in step.columns)
        return f"{done} leaves {step.bits:.1f} of {before:.1f} bits that point to a person, and {cost}"

    def plan(self) -> str:
        """The plan as TOML: `unmask mask TABLE --plan plan.toml` makes the same release from it."""
        if self.final is None:
            raise ParameterError("there is no plan: nothing that was tried is safe")
        lines = [
            "# Made by `unmask protect`. `unmask mask TABLE --plan FILE -o RELEASE` makes the same release again.",
            "# Steps may be edited; assess the result before you publish it.",
            f"{KEY} = {_toml(FORMS['plan'].name())}",
            f"policy = {_toml(self.frontier.policy)}",
            f"seed = {self.final.seed}",
            f"left_out = [{', '.join(map(_toml, self.left_out))}]",
            *([f"untouched = [{', '.join(map(_toml, self.untouched))}]"] if self.untouched else []),
        ]
        for step, why in zip(self.steps, self.reasons, strict=True):
            lines += ["", "[[steps]]", f"masking = {_toml(step.masking)}", f"why = {_toml(why)}"]
        return "\n".join(lines) + "\n"


def follow_plan(original: object, plan: str | Path, **reading: Any) -> pl.DataFrame:  # noqa: ANN401 - of `read_table`
    """Make the release that a plan describes: the same table and plan give the same bytes."""
    table = read_table(original, name="original", **reading)
    try:
        with open(plan, "rb") as file:  # noqa: PTH123 - a path or a name
            found = tomllib.load(file)
        check_form("plan", found.get(KEY), plan)
        seed, out, around = found["seed"], list(found.get("left_out", [])), list(found.get("untouched", []))
        maskings = [step["masking"] for step in found.get("steps", [])]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise TableError(f"{plan} is no plan", got=str(error), hint="make one with: unmask protect --plan") from error
    except OSError as error:
        raise TableError(f"cannot read {plan}", got=error.strerror or "") from error
    missing = [name for name in (*out, *around) if name not in table.columns]
    if missing:
        raise TableError("the plan is for another table", got=f"it has no column {missing[0]!r}")
    return mask_around(table.drop(out), chained(maskings), seed, around)[0]


def _comes_out(kept: Kept) -> bool:
    """Whether every number of an analysis stays within the interval that the original gives it."""
    low, high = kept.original_interval.T
    return not kept.reason and bool(((kept.released >= low) & (kept.released <= high)).all())


def chained(maskings: Iterable[str]) -> str:
    """Maskings in turn, written as one; nothing where there is none."""
    texts = list(maskings)
    return texts[0] if len(texts) == 1 else f"chain([{', '.join(texts)}])" if texts else ""


def _toml(text: str) -> str:
    return json_text(text)
