"""The report as one HTML file: no network, no script, readable on paper, on a phone and with a screen reader."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unmask.evidence import FAMILIES, Fact, Figure, name_of
from unmask.inert import inert
from unmask.report import facts
from unmask.report.charts import attributes_figure, draw, findings_chart
from unmask.report.commands import making
from unmask.report.deciding import QUESTIONS, Decided, by_family, by_question
from unmask.report.document import Document, FindingEntry, MeasureEntry
from unmask.report.front import about, front
from unmask.report.words import (
    GLOSSARY,
    NO_GROUPS,
    OUTCOMES,
    about_known,
    about_risk,
    finders,
    held,
    how,
    limit,
    number,
    ordered,
    others,
    percent,
    span,
    tell,
    times,
)

Row = tuple[str | Markup, ...]
NOISE = re.compile(  # what Vega writes and a page that styles its own text does not need
    r'\s(?:aria-hidden|pointer-events|class|font-family|font-size|version|xmlns:xlink|text-decoration)="[^"]*"'
    r'|\s(?:opacity|stroke-width|fill-opacity)="1"|\stransform="translate\(0,0\)"'
)
TICKS = re.compile(r'<line(?: transform="[^"]*")? x2="(?:0|-5)" y2="(?:0|5)" stroke="#888"/>')  # labels say it
UNSEEN = re.compile(r'<path(?: d="(?:M0,0h[0-9.]+v[0-9.]+h-?[0-9.]+Z)?"| display="none")*/>|<g>\s*</g>')


def environment() -> Environment:
    """Where every page comes from. Everything that comes from the data is escaped; only our own SVG is not."""
    made = Environment(
        loader=PackageLoader("unmask.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=inert,
    )
    made.filters |= {
        "percent": percent,
        "limit": limit,
        "name": name_of,
        "tell": tell,
        "figure": number,
        "capfirst": lambda text: text[:1].upper() + text[1:],
    }
    made.globals["outcomes"] = OUTCOMES
    return made


def render(document: Document) -> str:
    """Render the document: page 1, page 2, and everything else folded."""
    shown = ordered(document.findings)
    chart = findings_chart(shown)
    attacks = _attacks(document)
    page = (
        environment()
        .get_template("report.html.j2")
        .render(
            document=document,
            front=front(document),
            contents=_contents(document, attacks),
            questions=by_question(document),
            asked=QUESTIONS,
            families=[_family_row(entry) for entry in by_family(document)],
            recipients=_recipients(document),
            held=held(document),
            others=others(document),
            findings_svg=lean(chart) if chart else None,
            findings=[_finding_row(f) for f in shown if f.outcome != "does not apply"],
            intruders=_intruders(document),
            about_known=about_known(document.findings),
            risk_svg=_drawn(document.risk_figure),
            reliability_svg=_drawn(document.people.figure),
            groups=[(g, _drawn(g.figure), _group_rows(g)) for g in document.people.groups],
            no_groups=NO_GROUPS,
            **_exposed(document),
            **_stories(document) | _change(document),
            about_risk=about_risk(document),
            attacks=attacks,
            untried=_untried(document),
            columns=_columns(document),
            manifest=_manifest(document),
            settings=_settings(document),
            glossary=GLOSSARY.items(),
        )
    )
    return page.replace(" %", "\N{NO-BREAK SPACE}%")  # a number and its sign stay together


def _change(document: Document) -> dict[str, Any]:
    """The change to try first, and the command that makes it."""
    return {"change": document.advice, "change_command": making(document)}


def lean(svg: str) -> Markup:
    """Leave out of a picture what the page's own style says, so that forty pictures fit one page."""
    svg = re.sub(r"-?\d+\.\d{2,}", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), svg)
    before = ""
    svg = TICKS.sub("", re.sub(r'(<text[^>]*?) fill="[^"]*"', r"\1", NOISE.sub("", svg)))
    while before != svg:
        before, svg = svg, UNSEEN.sub("", svg)
    return Markup(svg)  # noqa: S704 - made by us from escaped text


def _drawn(figure: Figure | None) -> Markup | None:
    return None if figure is None else lean(draw(figure))


def _outcome(word: str) -> Markup:
    return Markup('<span class="mark {}">{}</span>').format(word.replace(" ", "-"), OUTCOMES[word])


def coded(words: str, code: str) -> Markup:
    """A name in words, and in small type the code that is typed."""
    return Markup('{} <code class="small soft">{}</code>').format(words, code)


def _figures(finding: FindingEntry | None) -> Row:
    if finding is None or finding.estimate is None:
        return ("-",) * 4
    e = finding.estimate
    return percent(e.value), span(e.low, e.high), percent(e.chance), limit(finding.threshold, finding.people)


def _family_row(entry: Decided) -> Row:
    family = f"{entry.name.capitalize()} ({entry.ran} of {entry.attacks} ran)"
    if entry.finding is None:
        return family, "none was run", *("-",) * 5
    link = Markup('<a href="#attack-{}">{}</a>').format(entry.finding.measure, name_of(entry.finding.key))
    return family, link, *_figures(entry.finding), _outcome(entry.finding.outcome)


def _finding_row(finding: FindingEntry) -> Row:
    name = coded(name_of(finding.key), finding.key)
    if finding.estimate is None:
        name += Markup('<br><span class="small soft">{}</span>').format(tell(finding))
    return name, *_figures(finding), _outcome(finding.outcome)


def _recipients(document: Document) -> list[Row]:
    return [
        (
            r.name, r.audience, f"{r.intruder}, who {r.words}",
            percent(None if r.estimate is None else r.estimate.value), percent(r.largest), percent(r.attempt),
            Markup('<span class="mark {}">{}</span>').format(r.verdict, r.verdict),
        )
        for r in document.recipients
    ]  # fmt: skip


def _intruders(document: Document) -> list[Row]:
    titles = {entry.name: entry.title for entry in document.measures}
    return [
        (
            i.words, percent(i.estimate.value), span(i.estimate.low, i.estimate.high), percent(i.estimate.chance),
            percent(None if i.known is None else i.known.value),
            f"{titles.get(i.measure, i.measure)} (of {i.n_attacks} tried)",
        )
        for i in document.intruders
    ]  # fmt: skip


def _group_rows(told: Any) -> list[Row]:  # noqa: ANN401 - a RiskByGroup
    return [
        (g.name, f"{g.n:,}", percent(g.risk), percent(g.found.value), span(g.found.low, g.found.high), times(g.ratio))
        for g in (*told.groups, *([] if told.everybody is None else [told.everybody]))
    ]


def _exposed(document: Document) -> dict[str, Any]:
    labelled = any(entry.label is not None for entry in document.exposed)
    names = ["Row", *(["Id"] if labelled else []), ">Risk", "Found this time by (with its share where several fit)"]
    rows = [(str(e.row), *([e.label or ""] if labelled else []), percent(e.risk), finders(e)) for e in document.exposed]
    return {"exposed_names": names, "exposed": rows}


def _stories(document: Document) -> dict[str, Any]:
    """Why each of the most exposed is found, in words without values; the first with a picture."""
    figure = next((story.figure() for story in document.stories if story.fit < story.records), None)
    return {"stories": [story.words for story in document.stories], "story": figure, "story_svg": _drawn(figure)}


def _attacks(document: Document) -> list[tuple[str, list[dict[str, Any]]]]:
    """Attacks that ran, by family; one that the catalogue does not know comes last."""
    ran = {entry.name: entry for entry in document.measures if entry.ran}
    listed = {family: [ran.pop(name) for name in names if name in ran] for family, names in FAMILIES.items()}
    listed["others"] = list(ran.values())
    rules = {f"{c.name!r}: {c.rule}" for c in document.columns}  # told where the columns are
    return [(family, [_attack(e, document, rules) for e in entries]) for family, entries in listed.items() if entries]


def _attack(entry: MeasureEntry, document: Document, rules: set[str]) -> dict[str, Any]:
    findings = [f for f in document.findings if f.measure == entry.name and f.estimate is not None]
    weighed = attributes_figure(entry)
    figures = [*entry.figures, *([] if weighed is None else [weighed])]
    return {
        "entry": entry,
        "findings": findings,
        "first": findings[0] if findings else None,
        "how": how(f.key for f in findings),
        "figures": [(figure, _drawn(figure)) for figure in figures],
        "facts": [_fact(fact) for fact in entry.facts],
        "notes": [note for note in entry.notes if note not in rules],
    }


def _fact(fact: Fact) -> Row:
    """A fact: what it is, the figure, and what it means."""
    words, code = facts.named(fact.name)
    value: str | Markup = facts.shown(fact)
    if isinstance(fact.value, str):
        value = Markup('<span class="text">{}</span>').format(value)  # which may be long, and goes over lines
    return coded(words, code) if code else words, value, fact.meaning


def _untried(document: Document) -> list[Row]:
    return [
        (coded(entry.title, entry.name), f"{'; '.join(entry.notes)}.") for entry in document.measures if not entry.ran
    ]


def _columns(document: Document) -> list[Row]:
    return [
        (
            c.name, c.role, c.original or "not there", c.released or "not there", percent(c.own),
            f"{c.kind or 'nothing'}: {c.rule or c.reason}",
        )
        for c in document.columns
    ]  # fmt: skip


def _manifest(document: Document) -> list[Row]:
    told = document.manifest
    rows: list[Row] = [
        (
            name,
            Markup('{}<br><span class="small soft">{}{} <code>{}</code></span>').format(
                source.get("path") or f"a {_what(name)} in memory",
                _size(source),
                "checksum under the steward's key" if "keyed" in source else "SHA-256",
                source.get("keyed") or source["sha256"] or "not known",
            ),
        )
        for name, source in told.inputs.items()
    ]
    return [
        *rows,
        ("seed", str(told.seed)),
        ("attacks", ", ".join(told.measures)),
        ("versions", ", ".join(f"{name} {number}" for name, number in told.versions.items())),
        ("made", told.created),
        ("digest of the result", Markup("<code>{}</code>").format(document.digest)),
    ]


def _what(name: str) -> str:
    """What an input is."""
    return name if name == "model" else "network" if name.endswith(" network") else "table"


def _size(source: dict[str, Any]) -> str:
    """How large an input is: rows and columns of a table, people and ties of a network, nothing of a model."""
    if "ties" in source:
        return f"{source['people']} people, {source['ties']} ties, "
    return f"{source['rows']} rows, {source['columns']} columns, " if source.get("rows") else ""


def _settings(document: Document) -> str:
    told = {"command": document.manifest.command, "settings": document.manifest.settings}
    return json.dumps(told, indent=1, ensure_ascii=False)


def _contents(document: Document, attacks: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Anchors and names, in the order of the page."""
    return [
        ("questions", "Three questions"),
        *((("families", "The strongest attack of each family"),) if by_family(document) else ()),
        *([("recipients", "Who may get it")] if document.recipients else []),
        *([("change", "The recommended change")] if document.advice else []),
        ("findings", "All findings"),
        *([("intruders", "What each intruder finds")] if document.intruders else []),
        ("people", "People"),
        *((f"family-{place}", f"Attacks: {family}") for place, (family, _) in enumerate(attacks, 1)),
        *([("untried", "Attacks that were not tried")] if any(not m.ran for m in document.measures) else []),
        *([("utility", "What is left of the data")] if document.utility else []),
        ("tables", about(document)),
        ("manifest", "Settings and manifest"),
        ("glossary", "Glossary"),
    ]
