"""`unmask person`: what gives somebody away, and what would hide them."""

from __future__ import annotations

from unmask.cli.report_options import Person
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_atomically, write_findings
from unmask.errors import ParameterError
from unmask.evidence import name_of
from unmask.people import explain_person, hiding_list
from unmask.study import as_study
from unmask.verify import release_of

RISK = "risk"  # stands beside the attacks in a report: how often the best of them finds somebody


def run(options: Person) -> int:
    """Tell the story of each person, and what to blank for all of them."""
    check_files(options)
    if options.chart is not None and len(options.row) != 1:
        raise ParameterError("--chart shows one person", got=f"{len(options.row)} rows", hint="name one with --row")
    release, report = release_of(options.report, original=options.original, released=options.released)
    by = {entry["row"]: entry["risks"] for entry in report["exposed"]}
    rows = [_row(text) for text in options.row] or list(by)
    if not rows:
        say("No attack of the report found any single record.")
        return 0
    study = as_study(release)
    stories = [explain_person(study, row, k=options.k) for row in rows]
    for story in stories:
        say(story.words)
        found = [name_of(name) for name, risk in by.get(story.row, {}).items() if risk and risk > 0 and name != RISK]
        if found:
            say(f"  In the report they were found by {', '.join(found)}.")
    listed = hiding_list(stories)
    if len(stories) > 1:
        for change in listed.iter_rows(named=True):
            hidden = "1 person is" if change["people"] == 1 else f"{change['people']} people are"
            say(f"Blank {change['blank']}: {hidden} hidden by {change['cells']} cells.")
    if options.output is not None:
        write_findings(listed.drop("rows").explode("records").rename({"records": "record"}), options.output)
        say(f"Cells to blank: {options.output}.")
    if options.chart is not None:
        from unmask.report import draw  # noqa: PLC0415 - imports altair

        write_atomically(options.chart, draw(stories[0].figure()))
        say(f"Picture: {options.chart}.")
    return 0


def _row(text: str) -> int:
    if not text.strip().isdigit():
        raise ParameterError("a row is a whole number from 1", got=repr(text))
    return int(text)
