"""`unmask check`: look at the two tables before they are attacked."""

from __future__ import annotations

from dataclasses import asdict, replace

from unmask.assessment import check_of
from unmask.cli.assess import check_tables, release_of
from unmask.cli.options import Check as Options
from unmask.cli.persons import check_many_rows, persons_of, told_rows
from unmask.cli.screen import console, say
from unmask.cli.targets import write_atomically
from unmask.errors import RepeatedIdError
from unmask.evidence import Policy
from unmask.inert import json_text
from unmask.intake import Check, check
from unmask.persons import Persons
from unmask.schemas import FORMS, KEY
from unmask.tables import Release

PASSED, NAMED, UNPAIRED = 0, 1, 3


def run(options: Options) -> int:
    """Check, show and write; names of people weigh more than rows that do not belong together."""
    check_tables(options)
    policy = Policy.load(options.policy)
    checked, release, kind = _checked(options)
    if options.accept_roles is not None:
        write_atomically(options.accept_roles, roles_toml(checked))
    if options.output is not None:
        text = json_text(_plain(checked)) + "\n"
        if options.output == "-":
            say(text.rstrip())
        else:
            write_atomically(options.output, text)
    if options.output != "-":
        _show(checked, release.warnings, policy.least_people(kind))
    if any(entry.against for entry in checked.identifiers):
        return NAMED
    return PASSED if checked.passed else UNPAIRED


def _checked(options: Options) -> tuple[Check, Release, str]:
    """Look at the tables, whose id may repeat; with the release and what the policy takes it for."""
    error = RepeatedIdError("people have many rows")
    if not options.many_rows:
        try:
            release = release_of(options)
            return check(release), release, "synthetic" if release.synthetic else "paired"
        except RepeatedIdError as repeated:
            error = repeated
    check_many_rows(options, error)
    persons = persons_of(options)
    return _of_persons(persons), persons.release, "persons"


def _of_persons(persons: Persons) -> Check:
    """Look at the columns and names; rows of a person are not paired with each other by any key."""
    found, both = check(persons.release), int(persons.there.sum())
    told = told_rows(persons)
    words = f"{told[:1].upper()}{told[1:]}. {both:,} people are in both files by the id column."
    return replace(found, pairing=replace(found.pairing, by="person", pairs=both, looks="untested", told=words))


def _plain(checked: Check) -> dict[str, object]:
    columns = [asdict(entry) for entry in checked.columns]
    told = asdict(check_of(checked))
    reasons = {each.column: each.reason for each in checked.suggestions}
    ids = list(checked.pairing.ids)
    form = FORMS["check"].name()
    return {KEY: form, "check": told, "columns": columns, "roles": checked.roles, "reasons": reasons, "ids": ids}


def _show(checked: Check, warnings: tuple[str, ...], least: int) -> None:
    from unmask.report import show_check, show_columns  # noqa: PLC0415 - imports rich

    screen = console()
    show_check(check_of(checked), screen)
    for note in warnings:
        if not note.startswith("the release is taken as synthetic"):  # said above
            screen.print(f"note: {note}", style="yellow", markup=False, highlight=False)
    show_columns(checked.columns, screen)
    for each in checked.suggestions:
        if each.role in {"direct", "confidential", "safe"} and each.reason != "as you said":
            say(f"Suggested role of {each.column!r}: {each.role}. Why: {each.reason}.")
    say(f'The policy can say "safe" from {least} people on.')
    for finding in checked.findings:
        say(f"{finding.claim} {finding.reason[:1].upper()}{finding.reason[1:]}.")
    if checked.passed:
        say("Nothing stands against an assessment: unmask assess takes the same options.")


def roles_toml(checked: Check) -> str:
    """The suggested roles as a file for `unmask assess --config`; what names people is to be taken out, not ignored.

    Columns that only the release has need no role: left out of the file they are looked at, ignored they would not be.
    """
    there = {entry.name for entry in checked.columns if entry.original}
    by: dict[str, list[str]] = {}
    for each in checked.suggestions:
        by.setdefault(each.role, []).append(each.column)
    out = [entry.column for entry in checked.identifiers if entry.against]
    lines = ["# Roles that the columns suggest. Look at each before you rely on it."]
    lines.append(f"{KEY} = {_quoted(FORMS['settings'].name())}")
    lines += [f"# {_quoted(each.column)}: {each.role}, {each.reason}" for each in checked.suggestions]
    if out:
        lines.append(f"# Take these out of the release: they name people: {', '.join(map(_quoted, out))}")
    for role in ("quasi", "confidential", "ignored"):
        kept = [name for name in by.get(role, []) if name not in out and (name in there or role != "quasi")]
        if kept:
            lines.append(f"{role} = [{', '.join(map(_quoted, kept))}]")
    lines += [f"{role} = {_quoted(by[role][0])}" for role in ("id", "weight", "household") if by.get(role)]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json_text(text)
