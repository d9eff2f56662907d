"""The report as one HTML file: no network, no script, readable on paper and on a phone."""

from __future__ import annotations

import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unmask.report.charts import attributes_chart, draw, findings_chart
from unmask.report.document import Document
from unmask.report.words import (
    NO_GROUPS,
    OUTCOMES,
    VERDICTS,
    about_risk,
    about_sure,
    finders,
    held,
    intruder,
    limit,
    others,
    percent,
    times,
)


def render(document: Document) -> str:
    """Render the document. Everything that comes from the data is escaped; only our own SVG is not."""
    environment = Environment(
        loader=PackageLoader("unmask.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.filters["limit"] = limit
    environment.filters["times"] = times
    environment.filters["finders"] = finders
    environment.filters["figure"] = _figure_number
    environment.filters["capfirst"] = lambda text: text[:1].upper() + text[1:]
    chart = findings_chart(document.findings)
    return environment.get_template("report.html.j2").render(
        document=document,
        headline=VERDICTS[document.verdict],
        outcomes=OUTCOMES,
        intruder=intruder(document),
        titles={entry.name: entry.title for entry in document.measures},
        others=others(document),
        held=held(document),
        findings_svg=Markup(chart) if chart else None,  # noqa: S704 - made by us from escaped text
        risk_svg=Markup(draw(document.risk_figure)) if document.risk_figure else None,  # noqa: S704
        reliability_svg=Markup(draw(document.people.figure)) if document.people.figure else None,  # noqa: S704
        groups=[(entry, Markup(draw(entry.figure)) if entry.figure else None) for entry in document.people.groups],  # noqa: S704
        no_groups=NO_GROUPS,
        about_risk=about_risk(document),
        about_sure=about_sure(document),
        measures=[_measure(entry) for entry in document.measures],
        manifest=json.dumps(
            {"command": document.manifest.command, "settings": document.manifest.settings}, indent=1, ensure_ascii=False
        ),
    )


def _measure(entry: Any) -> dict[str, Any]:  # noqa: ANN401 - a MeasureEntry
    return {
        "entry": entry,
        "figures": [(figure, Markup(draw(figure))) for figure in entry.figures],  # noqa: S704
        "attributes": Markup(attributes_chart(entry.attributes, "Which attributes matter"))  # noqa: S704
        if entry.attributes
        else None,
    }


def _figure_number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
