"""Releases that were tried, on one plane of risk and what is left: one HTML file with hover text, no script."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unmask.report.words import percent

WIDE, HIGH, LEFT, TOP = 720.0, 420.0, 60.0, 20.0  # of the plane, and where it begins
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def render_frontier(found: dict[str, Any], words: str) -> str:
    """Render what `Frontier.to_dict` says: every point with its interval, the front, the policy's line, a table."""
    environment = Environment(
        loader=PackageLoader("unmask.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["percent"] = percent
    points = [{**point, "x": across(point["utility"]), "y": down(point["risk"]), "ends": _ends(point)}
              for point in found["points"]]  # fmt: skip
    front = sorted((point["x"], point["y"]) for point in points if point["front"])
    return environment.get_template("frontier.html.j2").render(
        found=found, words=words, points=points, path=" ".join(f"{x:.1f},{y:.1f}" for x, y in front),
        line=down(found["limit"]), ticks=[(share, across(share), down(share)) for share in TICKS],
        edges=(LEFT, TOP, LEFT + WIDE, TOP + HIGH),
    )  # fmt: skip


def across(share: float) -> float:
    """Where a share of the data stands, from left (0) to right (1)."""
    return LEFT + WIDE * share


def down(share: float) -> float:
    """Where a risk stands, from bottom (0) to top (1); stretched near 0, where the decision is."""
    return float(TOP + HIGH * (1.0 - share**0.5))


def _ends(point: dict[str, Any]) -> tuple[float, float]:
    return down(point["low"]), down(point["high"])
