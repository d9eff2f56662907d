"""The plane of risk and what is left as one HTML file."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from unmask.protect import Frontier, Point
from unmask.report import render_frontier
from unmask.report.frontier import across, down


def point(masking, risk, utility, verdict="safe", stage="whole"):
    return Point(
        masking, 1, stage, verdict, "", "nearest", risk, risk / 2, risk * 2, 3, utility, utility, None, None, 1.0
    )


@pytest.fixture(scope="module")
def frontier():
    points = (
        point("noise(0.1)", 0.4, 0.9, "unsafe", "glance"),
        point("shuffle(<b>)", 0.02, 0.6),
        point("noise(9)", 0.03, 0.5),
    )
    return Frontier(points, 100, "partner", 0.09)


def test_every_point_has_its_hover_text_and_the_line_is_there(frontier):
    page = render_frontier(frontier.to_dict(), frontier.words).replace("\N{NO-BREAK SPACE}", " ")
    assert (
        "shuffle(&lt;b&gt;): safe, 2 % found (95 % CI 1-4 %) by Nearest record, 3 known (right 19 times in 20)" in page
    )
    assert "<script" not in page
    assert "limit of the policy partner: 9 %" in page
    svg = ET.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])  # noqa: S314 - our own
    circles = [node for node in svg.iter("circle") if node.get("class") is None]
    assert [float(node.get("cy")) for node in circles] == [pytest.approx(down(r), abs=0.1) for r in (0.4, 0.02, 0.03)]
    assert [float(node.get("cx")) for node in circles] == [pytest.approx(across(u), abs=0.1) for u in (0.9, 0.6, 0.5)]
    assert len([node for node in svg.iter("circle") if node.get("class") == "ring"]) == 1
    path = next(svg.iter("polyline")).get("points")
    assert len(path.split()) == 2  # noise(9) is beaten


def test_axes():
    assert down(0) > down(0.01) > down(0.5) > down(1)
    assert across(0) < across(1)


def test_nothing_was_tried():
    nothing = Frontier((), 100, "public", 0.09, 4)
    assert "None of the 0 releases" in render_frontier({**nothing.to_dict(), "points": []}, nothing.words)
