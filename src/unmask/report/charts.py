"""Draw figures with Altair as SVG: no script, no network, the same on screen, phone and paper."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

import altair as alt
import vl_convert

from unmask.evidence import Figure, name_of
from unmask.inert import visible
from unmask.report.document import FindingEntry, MeasureEntry
from unmask.report.words import OUTCOMES, limit, percent, span

INK, GREY, BLUE, ORANGE, RED, GREEN = "#1b1b1f", "#6b6b76", "#1f5fa8", "#a34700", "#b3261e", "#146c2e"
COLOURS = [BLUE, ORANGE, GREEN, "#6d3b9e", RED, GREY]
OUTCOME_COLOURS = {"for": GREEN, "against": RED, "inconclusive": ORANGE, "not judged": GREY}
CONTROL = r"\\u00[01][0-9a-f]|\\[bf]|\\ud[89a-f][0-9a-f]{2}"  # what XML cannot hold, as JSON writes it
WIDTH = 790  # of what is drawn on; with its labels a picture is as wide as the page
WHOLE = 890
LETTER = 7.2  # mean width of one
WEIGHTS = {  # attacks that weigh columns: the axis, the caption, the unit, how a value is written
    "channel": (
        "bits",
        "Bits that each column tells about who somebody is: each bit halves the records that may be theirs.",
        1 / math.log(2),
        "{} {:.1f}",
    ),
    "nearest": (
        "people found less without it",
        "How much the share of people found falls when the intruder does not know the column, but all others.",
        1.0,
        "{} {change}",
    ),
    "knowledge_sweep": (
        "what it adds to the risk",
        "The risk that a column adds, averaged over all orders in which columns become known (Shapley values).",
        1.0,
        "{} {change}",
    ),
}
WIDER = {"left": 40, "right": 18, "top": 6, "bottom": 6}  # a reader's letters may be wider than ours
SPACED = "replace(datum.label, '%', ' %')"  # shares as everywhere: 20 %
WHOLE_LABELS = alt.Axis(labelLimit=0, labelExpr="split(datum.label, '\\n')", labelLineHeight=14)
LINE = 36  # letters in a line of a label: a longer name goes on in the next
FONT = "Arial, 'Liberation Sans', sans-serif"  # widths are measured here and drawn there: fonts of equal metrics


def draw(figure: Figure) -> str:
    """Return a figure as SVG text with its alternative text inside."""
    return _svg(chart(figure), f"{figure.title} {figure.alt}")


def chart(figure: Figure) -> Any:  # noqa: ANN401 - altair's own chart type
    """Return a figure as an Altair chart."""
    rows = [
        {"x": x, "y": y, "series": series.name, "order": position}
        for series in figure.series
        for position, (x, y) in enumerate(zip(series.x, series.y, strict=True))
    ]
    words = bool(rows) and isinstance(rows[0]["x"], str)
    if words and len(figure.series) == 1 and (figure.shape == "waterfall" or _long(figure)):
        return _lying(figure)
    if figure.shape == "interval":
        return _dots(figure)
    names = [series.name for series in figure.series]
    drawn = _mark(alt.Chart(alt.InlineData(rows)), figure.shape).encode(
        x=_x(figure, words=words),
        y=alt.Y(
            "y:Q",
            title=figure.y_label,
            scale=alt.Scale(zero=figure.shape != "point"),
            axis=_axis([y for series in figure.series for y in series.y], percent=figure.percent[1]),
        ),
        order=alt.Order("order:Q"),
        color=alt.Color(
            "series:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))]),
            legend=alt.Legend(title=None, orient="top", labelLimit=400) if len(names) > 1 else None,
        ),
    )
    return drawn.properties(width=WIDTH, height=230)


def _long(figure: Figure) -> bool:
    """Whether the words below the bars would run into each other."""
    words = [str(x) for x in figure.series[0].x]
    return figure.shape == "bar" and max(map(len, words)) * len(words) > WIDTH / 7


def folded(name: str, most: int = LINE) -> str:
    """A name in lines of at most so many letters, broken after a blank or an underscore where there is one."""
    lines = [""]
    for part in re.findall(rf"[^\s_]{{1,{most}}}_*\s*|[\s_]+", name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > most:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _letters(line: str) -> int:
    """Letters that a line is as wide as: those of East Asia count twice."""
    return sum(1 + (east_asian_width(letter) in "WF") for letter in line)


def _beside(labels: Sequence[str]) -> int:
    """Width that is left beside whole labels."""
    widest = max((_letters(line) for label in labels for line in label.split("\n")), default=0)
    return max(WIDTH // 3, int(WHOLE - LETTER * widest) - 80)


def _height(labels: Sequence[str], row: int) -> int:
    """Height of so many rows, each as high as the label of most lines."""
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    return max(row, 15 * lines + 6) * len(labels) + 10


def _lying(figure: Figure) -> Any:  # noqa: ANN401 - altair's own chart type
    """Bars with their words beside them."""
    series = figure.series[0]
    labels = [folded(str(x)) for x in series.x]
    rows = [{"what": x, "from": a, "to": b} for x, (a, b) in zip(labels, spans(figure), strict=True)]
    axis = _axis([end for span in spans(figure) for end in span], percent=figure.percent[1])
    return (
        alt.Chart(alt.InlineData(rows))
        .mark_bar(color=BLUE)
        .encode(
            y=alt.Y("what:N", sort=labels, title=figure.x_label or None, axis=WHOLE_LABELS),
            x=alt.X("from:Q", title=figure.y_label, axis=axis),
            x2="to:Q",
        )
        .properties(width=_beside(labels), height=_height(labels, 20), padding=WIDER)
    )


def _dots(figure: Figure) -> Any:  # noqa: ANN401 - altair's own chart type
    """Dots with their intervals, one below the other, and an upright line that they are held against."""
    value, low, high, against = figure.series
    labels = [folded(str(x)) for x in value.x]
    rows = [
        {"what": what, "value": v, "low": a, "high": b}
        for what, v, a, b in zip(labels, value.y, low.y, high.y, strict=True)
    ]
    axis = _axis([*high.y, *against.y], percent=figure.percent[1])
    base = alt.Chart(alt.InlineData(rows)).encode(
        y=alt.Y("what:N", sort=labels, title=figure.x_label or None, axis=WHOLE_LABELS)
    )
    bars = base.mark_rule(strokeWidth=5, opacity=0.45, color=BLUE).encode(
        x=alt.X("low:Q", title=figure.y_label, axis=axis), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=90, opacity=1, color=BLUE).encode(x="value:Q")
    line = alt.Chart(alt.InlineData([{"at": against.y[0]}])).mark_rule(color=INK, strokeWidth=1.5).encode(x="at:Q")
    return (bars + dots + line).properties(width=_beside(labels), height=_height(labels, 26), padding=WIDER)


def spans(figure: Figure) -> list[tuple[float, float]]:
    """Begin and end of each bar: 0 and its value; in a waterfall each begins where the last ended, but the sum at 0."""
    values = figure.series[0].y
    if figure.shape != "waterfall":
        return [(0.0, value) for value in values]
    ends = list(accumulate(values[:-1]))
    return [*zip([0.0, *ends], ends, strict=False), (0.0, values[-1])]


def _mark(chart: Any, shape: str) -> Any:  # noqa: ANN401 - altair's own chart type
    if shape in {"line", "step"}:
        return chart.mark_line(strokeWidth=2.2, interpolate="step-before" if shape == "step" else "linear")
    if shape == "path":
        return chart.mark_line(strokeWidth=2.2, point={"size": 50, "filled": True})
    if shape == "point":
        return chart.mark_point(filled=True, size=40, opacity=0.7)
    return chart.mark_bar()


def _x(figure: Figure, *, words: bool) -> Any:  # noqa: ANN401 - altair's own channel type
    if words:
        order = list(dict.fromkeys(str(x) for series in figure.series for x in series.x))
        return alt.X(
            "x:N",
            title=figure.x_label,
            sort=order,
            axis=alt.Axis(labelAngle=0 if len(order) < 11 else -40, labelLimit=0),
        )
    scale = alt.Scale(type="log") if figure.log_x else alt.Scale(zero=False)
    values = [float(x) for series in figure.series for x in series.x]
    axis = _axis(values, percent=figure.percent[0])
    return alt.X("x:Q", title=figure.x_label, scale=scale, axis=axis)


def _axis(values: list[float], *, percent: bool) -> Any:  # noqa: ANN401 - altair's own axis type
    form, spaced = _format(values, percent=percent), SPACED if percent else alt.Undefined
    return alt.Axis(format=form, tickCount=6, labelOverlap=True, labelExpr=spaced)


def _format(values: list[float], *, percent: bool) -> str:
    """How the numbers of an axis are written: 50 and 0.1 where a prefix would make them 0.05k and 100m."""
    largest = max(map(abs, values), default=0.0)
    return "%" if percent else ",~r" if 1e-3 <= largest < 1e5 else "~s"


def _finding_rows(findings: Sequence[FindingEntry]) -> list[dict[str, Any]]:
    return [
        {
            "finding": name_of(finding.key),
            "value": finding.estimate.value,
            "low": finding.estimate.low,
            "high": finding.estimate.high,
            "chance": finding.estimate.chance,
            "limit": _stroke(finding),
            "outcome": OUTCOMES[finding.outcome],
        }
        for finding in findings
        if finding.estimate is not None
    ]


def _stroke(finding: FindingEntry) -> float | None:
    """Where the limit stands on the axis of shares; None: there is none."""
    if finding.people is not None and finding.estimate is not None:
        return finding.people / finding.estimate.n
    return finding.threshold if finding.threshold is not None and finding.threshold < 1 else None


def findings_chart(findings: Sequence[FindingEntry]) -> str | None:
    """Draw every rate with its interval, its limit and the blind guess on one axis; None where there is none."""
    rows = _finding_rows(findings)
    text = "; ".join(
        f"{r['finding']}: {percent(r['value'])}, interval {span(r['low'], r['high'])}, "
        f"blind guess {percent(r['chance'])}, limit {limit(r['limit'])}, {r['outcome']}"
        for r in rows
    )
    return _svg(chart_of_findings(findings), f"Rates with intervals. {text}") if rows else None


def chart_of_findings(findings: Sequence[FindingEntry]) -> Any:  # noqa: ANN401 - altair's own chart type
    """Every rate with its interval, its limit and the blind guess, as an Altair chart."""
    rows = _finding_rows(findings)
    labels = [str(row["finding"]) for row in rows]
    base = alt.Chart(alt.InlineData(rows)).encode(y=alt.Y("finding:N", title=None, sort=labels, axis=WHOLE_LABELS))
    axis = alt.Axis(format="%", values=[0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1], labelOverlap=True, labelExpr=SPACED)
    scale = alt.Scale(type="sqrt", domain=[0, 1])
    colour = alt.Color(
        "outcome:N",
        legend=alt.Legend(title=None, orient="top"),
        scale=alt.Scale(domain=[OUTCOMES[o] for o in OUTCOME_COLOURS], range=list(OUTCOME_COLOURS.values())),
    )
    interval = base.mark_rule(strokeWidth=5, opacity=0.55).encode(
        x=alt.X("low:Q", title="share of people", scale=scale, axis=axis), x2="high:Q", color=colour
    )
    value = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("value:Q", scale=scale), color=colour)
    stroke = base.mark_tick(thickness=2.5, size=24, color=INK).encode(x=alt.X("limit:Q", scale=scale))
    chance = base.mark_point(shape="diamond", size=70, color=GREY, filled=False, strokeWidth=2).encode(
        x=alt.X("chance:Q", scale=scale)
    )
    return (interval + stroke + chance + value).properties(
        width=_beside(labels), height=_height(labels, 26), padding=WIDER
    )


def attributes_figure(entry: MeasureEntry) -> Figure | None:
    """What each column adds by one attack, the largest first; None where it does not say, or draws it itself."""
    if not entry.attributes or entry.name not in WEIGHTS:
        return None
    axis, caption, factor, form = WEIGHTS[entry.name]
    top = sorted(((name, factor * value) for name, value in entry.attributes), key=lambda pair: -pair[1])[:20]
    title = "Which columns matter?"
    return Figure.bars(top, title=title, caption=caption, said=f"{axis}: ", axes=("column", axis), form=form)


def _svg(chart: Any, text: str) -> str:  # noqa: ANN401 - altair's own chart type
    styled = (
        chart.configure(font=FONT, background="transparent", padding={**WIDER, "left": 12})
        .configure_axis(
            labelColor=INK,
            titleColor=INK,
            labelFontSize=13,
            titleFontSize=13,
            titleFontWeight="normal",
            gridColor="#e3e3ea",
        )
        .configure_view(stroke=None)
        .configure_legend(labelFontSize=13, labelColor=INK, columnPadding=24)
    )
    svg: str = vl_convert.vegalite_to_svg(re.sub(CONTROL, "\N{REPLACEMENT CHARACTER}", styled.to_json()))
    return visible(_accessible(svg, text))


def _accessible(svg: str, text: str) -> str:
    """Give the picture its alternative text, and let the page set its width."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    svg = re.sub(r"<\?xml[^>]*\?>|<!DOCTYPE[^>]*>", "", svg).strip()
    svg = re.sub(
        r'\s(?:aria-label|aria-roledescription|role)="[^"]*"', "", svg
    )  # one text for the whole, not one per mark
    width = re.search(r'<svg[^>]* width="([0-9.]+)"', svg)
    style = f' style="max-width:{1.05 * float(width[1]):.0f}px"' if width else ""  # all letters of one size
    return svg.replace("<svg", f'<svg role="img" aria-label="{safe}"{style}', 1)
