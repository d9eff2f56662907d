"""The plane of releases that were tried: what is left of the data to the right, who is found above; each is a link."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAME = re.compile(r"\b([a-z_]+)\(")  # of a method in the text of a masking
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 440, 340, 52, 48, 20, 24  # letters are large enough at 320 pixels
TOPS = (0.05, 0.1, 0.25, 0.5, 1.0)  # ends of the axis of risks, which give round marks
STEPS = 5


@dataclass(frozen=True, slots=True)
class Dot:
    """A release on the plane."""

    number: int
    x: float
    y: float
    point: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Plane:
    """Where everything is drawn, in units of the picture."""

    dots: tuple[Dot, ...]
    across: tuple[tuple[float, str], ...]  # marks of the axes, with their words
    up: tuple[tuple[float, str], ...]
    limit: float | None  # height of the policy's line
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM
    right: int = WIDTH - RIGHT
    top: int = TOP


def plane(points: list[dict[str, Any]], limit: float | None) -> Plane:
    """Put the points on a plane; risks go up to the largest, what is left from 0 to all."""
    highest = max([*(float(point["risk"]) for point in points), (limit or 0.0) * 1.25, 0.05])
    highest = next(top for top in TOPS if highest * 1.02 <= top or top == TOPS[-1])

    def x(left: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(left, 0.0), 1.0), 1)

    def y(risk: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(risk / highest, 1.0), 1)

    shares = [k / STEPS for k in range(STEPS + 1)]
    return Plane(
        tuple(Dot(k, x(float(p["utility"])), y(float(p["risk"])), p) for k, p in enumerate(points)),
        tuple((x(share), f"{100 * share:.0f} %") for share in shares),
        tuple((y(share * highest), f"{100 * share * highest:.3g} %") for share in shares),
        None if limit is None else y(limit),
    )


def in_short(masking: str) -> str:
    """The methods of a masking by name, without their parameters."""
    names = [name.replace("_", " ") for name in NAME.findall(masking) if name != "chain"]
    return ", ".join(dict.fromkeys(names)) or masking or "the table as it is"
