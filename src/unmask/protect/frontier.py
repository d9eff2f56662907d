"""Risk against utility: maskings that were tried, those that no other beats, and the one to take."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from unmask.evidence import Figure, Series
from unmask.shares import percent, span
from unmask.shown import Shown

NUMBER = r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])"  # the strength of a masking: its first number
Stage = Literal["glance", "core", "whole"]
SAID: dict[Stage, str] = {
    "glance": "a glance only, nearest-record linkage; what that or another draw shows to be unsafe is given up",
    "core": "attacked with what the policy asks for",
    "whole": "attacked with everything",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One masking with one seed: what the intruder finds, and what is left of the data."""

    masking: str
    seed: int
    stage: Stage  # how much of the assessment was run
    verdict: str
    reason: str
    attack: str  # the measure that finds most
    risk: float  # share of people that it finds, with its interval
    low: float
    high: float
    known: int | None  # people of whom the intruder is sure, and right; None: not asked
    utility: float  # what is left of the data, 0 to 1
    columns: float  # ... of its columns, relations and analyses
    relations: float | None
    analyses: float | None
    seconds: float
    measured: tuple[tuple[str, float], ...] = ()  # other figures that were asked for, by name
    used: tuple[tuple[str, float], ...] = ()  # of each limit: what the upper end of the figure takes up, 1 is at it

    def at(self, axis: str) -> float | None:
        """Where the point lies on an axis: a figure that was asked for, "strength", or a field; None: unknown."""
        if axis == "strength":
            number = re.search(NUMBER, self.masking)
            return None if number is None else float(number[0])
        value = dict(self.measured).get(axis, getattr(self, axis, None) if axis in {"utility", "risk"} else None)
        return None if value is None else float(value)

    @property
    def method(self) -> str:
        """The masking without its strength."""
        return re.sub(NUMBER, "..", self.masking, count=1)

    @property
    def tried(self) -> str:
        """How much of the assessment was run, in words."""
        return SAID[self.stage]

    @property
    def words(self) -> str:
        """The point in one sentence."""
        name = self.masking or "the table as it is"
        sure = "" if self.known is None else f"{self.known:,} known (right 19 times in 20), "
        return (
            f"{name}: {self.verdict}, {percent(self.risk)} found (95 % CI {span(self.low, self.high)}) "
            f"by {self.attack}, {sure}{percent(self.utility)} of the data left"
        )


@dataclass(frozen=True, slots=True)
class Frontier(Shown):
    """All points that were tried, the most useful first."""

    points: tuple[Point, ...]
    people: int
    policy: str
    limit: float  # largest share of people found that the policy accepts
    left_out: int = 0  # points for which there was no time

    @property
    def front(self) -> tuple[Point, ...]:
        """Points that no other beats: none has at most the same risk and more left, or less risk and as much left."""
        return tuple(point for point in self.points if not any(_beats(other, point) for other in self.points))

    @property
    def recommended(self) -> Point | None:
        """The most useful point that the whole assessment calls safe; None where there is none."""
        safe = [point for point in self.points if point.stage == "whole" and point.verdict == "safe"]
        return max(safe, key=lambda point: (point.utility, -point.risk, point.masking), default=None)

    @property
    def words(self) -> str:
        """What to do, in a sentence or two."""
        best = self.recommended
        if best is not None:
            return f"Take {best.words}."
        told = f"None of the {len(self.points)} releases that were tried is safe under the policy {self.policy!r}."
        if not self.points:
            return told
        if all(p.stage == "glance" for p in self.points) and any(p.verdict == "open" for p in self.points):
            told = f"{len(self.points)} releases were only looked at, not attacked: none can be called safe yet."
        near = min(self.points, key=lambda point: (point.high, -point.utility))
        return f"{told} The nearest is {near.words} ({near.reason}). `unmask protect` searches for combinations."

    def to_frame(self) -> pl.DataFrame:
        """A row for each point, with whether it is on the front and whether it is the one to take."""
        on_front, best = set(self.front), self.recommended
        rows = []
        for p in self.points:
            plain = {key: value for key, value in asdict(p).items() if key not in {"measured", "used"}}
            rows.append({**plain, **dict(p.measured), "front": p in on_front, "recommended": p == best})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        best = self.recommended
        return {
            "policy": self.policy,
            "limit": self.limit,
            "people": self.people,
            "left_out": self.left_out,
            "points": self.to_frame().to_dicts(),
            "recommended": None if best is None else best.masking,
        }

    def figure(self) -> Figure:
        """Every point on one plane, with the policy's line."""
        groups: dict[str, list[Point]] = {}
        for point in self.points:
            groups.setdefault(point.verdict, []).append(point)
        series = [
            Series(verdict, tuple(p.utility for p in points), tuple(p.risk for p in points))
            for verdict, points in sorted(groups.items())
        ]
        best = self.recommended
        if best is not None:
            series.append(Series("recommended", (best.utility,), (best.risk,)))
        ends = (min(p.utility for p in self.points), max(p.utility for p in self.points)) if self.points else (0.0, 1.0)
        steps = tuple(ends[0] + (ends[1] - ends[0]) * k / 20 for k in range(21))
        series.append(Series("limit of the policy", steps, (self.limit,) * 21))
        return Figure(
            shape="point",
            title="What is found, and what is left of the data?",
            caption="Each point is a release: to the right more of the data is left, above more people are found.",
            alt="; ".join(point.words for point in self.points),
            x_label="what is left of the data",
            y_label="people found by the best attack",
            series=tuple(series),
            percent=(True, True),
        )

    def plane(self, across: str, up: str, labels: tuple[str, str]) -> Figure:
        """The releases on a plane of two other figures, a line for each method from weak to strong; draws are averaged.

        ``across`` and ``up``: figures that were asked for, "strength" of the masking, "utility" or "risk".
        """
        groups: dict[str, dict[float, list[tuple[float, float]]]] = {}
        for point in self.points:
            x, y = point.at(across), point.at(up)
            if x is not None and y is not None:
                groups.setdefault(point.method, {}).setdefault(point.at("strength") or 0.0, []).append((x, y))
        means = {name: [_mean(found[one]) for one in sorted(found)] for name, found in sorted(groups.items())}
        told = [f"{name}: " + ", ".join(f"{x:.3g} and {y:.3g}" for x, y in found) for name, found in means.items()]
        lines = [Series(name, *zip(*found, strict=True)) for name, found in means.items()]
        return Figure(
            shape="path",
            title=f"{labels[1]} against {labels[0]}",
            caption="Each point is a masking of one strength; lines go from weak to strong.",
            alt=f"{labels[0]} and {labels[1]}. {'; '.join(told)}",
            x_label=labels[0],
            y_label=labels[1],
            series=tuple(lines),
        )


def _mean(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    return sum(x for x, _ in pairs) / len(pairs), sum(y for _, y in pairs) / len(pairs)


def _beats(one: Point, other: Point) -> bool:
    at_least = one.risk <= other.risk and one.utility >= other.utility
    return at_least and (one.risk < other.risk or one.utility > other.utility)
