"""Releases that were tried, on one plane of risk and what is left: one HTML file with hover text, no script."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from unmask.evidence import name_of
from unmask.report.html import Row, environment
from unmask.report.words import percent, span

WIDE, HIGH, LEFT, TOP = 720.0, 420.0, 60.0, 20.0  # of the plane, and where it begins
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def render_frontier(found: dict[str, Any], words: str) -> str:
    """Render what `Frontier.to_dict` says: every point with its interval, the front, the policy's line, a table."""
    points = [{**point, "x": across(point["utility"]), "y": down(point["risk"]), "ends": _ends(point),
               "interval": span(point["low"], point["high"])} for point in found["points"]]  # fmt: skip
    front = sorted((point["x"], point["y"]) for point in points if point["front"])
    page = environment().get_template("frontier.html.j2").render(
        found=found, words=words, points=points, path=" ".join(f"{x:.1f},{y:.1f}" for x, y in front),
        line=down(found["limit"]), ticks=[(share, across(share), down(share)) for share in TICKS],
        edges=(LEFT, TOP, LEFT + WIDE, TOP + HIGH), rows=[_row(point) for point in points],
    )  # fmt: skip
    return page.replace(" %", "\N{NO-BREAK SPACE}%")


def _row(point: dict[str, Any]) -> Row:
    """A release in the table."""
    mark = "<strong>(recommended)</strong>" if point["recommended"] else "(no other beats it)" if point["front"] else ""
    return (
        Markup("{} ").format(point["masking"] or "the table as it is") + Markup(mark),  # noqa: S704 - our own words
        str(point["seed"]), percent(point["utility"]), percent(point["risk"]), point["interval"],
        "-" if point["known"] is None else f"{point['known']:,}", name_of(point["attack"]),
        Markup('<span class="mark {0}">{0}</span>').format(point["verdict"]), point["stage"],
    )  # fmt: skip


def across(share: float) -> float:
    """Where a share of the data stands, from left (0) to right (1)."""
    return LEFT + WIDE * share


def down(share: float) -> float:
    """Where a risk stands, from bottom (0) to top (1); stretched near 0, where the decision is."""
    return float(TOP + HIGH * (1.0 - share**0.5))


def _ends(point: dict[str, Any]) -> tuple[float, float]:
    return down(point["low"]), down(point["high"])
