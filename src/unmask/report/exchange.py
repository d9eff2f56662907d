"""The findings for machines that decide: JUnit for build servers, SARIF for code scanning, annotations for GitHub."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from unmask.evidence import name_of
from unmask.inert import json_text, visible
from unmask.report.document import Document, FindingEntry, RecipientEntry
from unmask.report.words import headline_of, percent, says

LEVELS = {"against": "error", "could not run": "error", "inconclusive": "warning"}  # of what stands in the way
VERDICT_LEVELS = {"unsafe": "error", "inconclusive": "warning"}
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"  # the name of the format, which nobody fetches


def to_junit(document: Document) -> str:
    """One test case a finding: above a limit or undecided is a failure, could not run an error, the rest passes.

    The verdict is a case of its own, so that a release that was not shown to be safe never looks green.
    """
    suite = ET.Element("testsuite", name="unmask", timestamp=document.manifest.created)
    verdict = ET.SubElement(suite, "testcase", classname="unmask", name="verdict")
    if document.verdict != "safe":
        ET.SubElement(verdict, "failure", type=document.verdict, message=_clean(in_a_line(document)))
    for entry in document.recipients:
        case = ET.SubElement(suite, "testcase", classname="unmask.recipient", name=_clean(entry.name))
        if entry.verdict != "safe":
            ET.SubElement(case, "failure", type=entry.verdict, message=_clean(_told_of(entry)))
    for finding in document.findings:
        case = ET.SubElement(suite, "testcase", classname=f"unmask.{finding.measure}", name=finding.key)
        if finding.outcome in {"against", "inconclusive"}:
            ET.SubElement(case, "failure", type=finding.outcome, message=_clean(told(finding)))
        elif finding.outcome == "could not run":
            ET.SubElement(case, "error", type=finding.outcome, message=_clean(told(finding)))
        elif finding.outcome in {"does not apply", "not judged"}:
            ET.SubElement(case, "skipped", message=_clean(finding.reason))
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(kind, str(len(suite.findall(f"./testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("./testcase"))))
    ET.indent(suite)
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ET.tostring(suite, encoding="unicode") + "\n"


def to_sarif(document: Document) -> str:
    """One result for the verdict and for each finding that stands in the way; the place is the released file's name.

    Nothing for what is within its limit or was not tried: code scanning shows every result as an alert, whatever its
    kind says (microsoft/PSRule, issue 955).
    """
    keys = dict.fromkeys(finding.key for finding in document.findings)
    rules = [{"id": "verdict", "shortDescription": {"text": "Whether the release may be published"}}]
    rules += [{"id": key, "shortDescription": {"text": name_of(key)}} for key in keys]
    said = [("verdict", VERDICT_LEVELS.get(document.verdict), in_a_line(document))]
    said += [("verdict", VERDICT_LEVELS.get(entry.verdict), _told_of(entry)) for entry in document.recipients]
    said += [(finding.key, LEVELS.get(finding.outcome), told(finding)) for finding in document.findings]
    results = [_result(rule, text, level, document) for rule, level, text in said if level is not None]
    driver = {"name": "unmask", "version": document.manifest.versions.get("unmask", ""), "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    return json_text({"$schema": SARIF, "version": "2.1.0", "runs": [run]}) + "\n"


def to_annotations(document: Document) -> list[str]:
    """Lines that GitHub shows beside a change: the verdict, and each finding that stands in the way."""
    levels = {"safe": "notice", **VERDICT_LEVELS}
    bad = [finding for finding in document.findings if finding.outcome in LEVELS]
    return [
        _annotation(levels[document.verdict], "unmask", in_a_line(document)),
        *(_annotation(levels[entry.verdict], "unmask recipient", _told_of(entry)) for entry in document.recipients),
        *(
            _annotation(LEVELS[finding.outcome], f"{name_of(finding.key)} ({finding.key})", told(finding))
            for finding in bad
        ),
    ]


def in_a_line(document: Document) -> str:
    """The verdict and its reason in one line."""
    return f"{headline_of(document)}: {document.reason}."


def _told_of(entry: RecipientEntry) -> str:
    return f"{entry.name}: {entry.verdict}, {entry.reason}."


def told(finding: FindingEntry) -> str:
    """A finding in one line: the claim, its share, and why it is judged so."""
    known = finding.estimate is None or says(finding.claim, finding.estimate)
    share = "" if known or finding.estimate is None else f" ({percent(finding.estimate.value)})"
    return f"{finding.claim.rstrip('.')}{share}: {finding.reason}."


def _result(rule: str, text: str, level: str, document: Document) -> dict[str, Any]:
    inputs = document.manifest.inputs
    what = "released" if "released" in inputs else next(iter(inputs), "release")  # a model has no table
    path = inputs.get(what, {}).get("path")
    place = str(path).replace("\\", "/").rpartition("/")[2] if path else what
    where = {"physicalLocation": {"artifactLocation": {"uri": place}, "region": {"startLine": 1}}}
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [where]}


def _annotation(level: str, title: str, text: str) -> str:
    escaped = visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={title.replace(':', '%3A').replace(',', '%2C')}::{escaped}"


def _clean(text: str) -> str:
    """Text with the control characters that XML does not have written out: a column's name may hold any."""
    return visible(text)
