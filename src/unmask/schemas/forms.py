"""Kinds of files with their versions: what is written, what is read, and what is said of the others."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import Any

from unmask.errors import TableError, UnmaskError, check_name

KEY = "schema"  # the field that says the form
NAME = re.compile(r"unmask-([a-z]+)/(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of file. ``written``: the version of today; ``read``: those that are understood, the newest first.

    ``silent``: what a file is that does not say its form, as files of earlier versions and those that people write;
    None: it has to say it. ``again``: how to make such a file.
    """

    kind: str
    what: str
    written: int
    read: tuple[int, ...]
    again: str
    silent: int | None = None

    def name(self, version: int | None = None) -> str:
        """The form as a file says it."""
        return f"unmask-{self.kind}/{self.written if version is None else version}"


FORMS = {
    form.kind: form
    for form in (
        Form("report", "a report", 2, (2, 1), "unmask assess ... --json report.json"),
        Form("comparison", "a comparison of two reports", 1, (1,), "unmask compare ... --json compared.json"),
        Form("check", "a check", 1, (1,), "unmask check ... --json check.json"),
        Form("utility", "what is left of the data", 1, (1,), "unmask utility ... --json utility.json"),
        Form("frontier", "releases that were tried", 1, (1,), "unmask explore ... --json tried.json"),
        Form("audit", "an audit of a claim", 1, (1,), "unmask audit ... --json audit.json"),
        Form("certificate", "a certificate", 1, (1,), "unmask assess ... --certificate certificate.jsonld"),
        Form("signature", "a signature", 1, (1,), "unmask sign certificate.jsonld --key key.pem"),
        Form("policy", "a policy", 1, (1,), "docs/policy.md shows one", 1),
        Form("plan", "a plan", 1, (1,), "unmask protect ... --plan plan.toml", 1),
        Form("settings", "a file of options", 1, (1,), "unmask check ... --accept-roles release.toml", 1),
        Form("grid", "a list of maskings", 1, (1,), "docs/explore.md shows one", 1),
        Form("run", "a folder of `explore` or `protect`", 1, (1,), "the same command with another --folder", 1),
        Form("state", "what a run that was stopped had found", 1, (1,), "the same command with another --state"),
    )
}


def check_form(kind: str, found: object, where: object, error: type[UnmaskError] = TableError) -> int:
    """The version of a file of this kind, by what it says; refused where that is another kind, or is not read."""
    form = FORMS[kind]
    if found is None and form.silent is not None:
        return form.silent
    said = NAME.fullmatch(found) if isinstance(found, str) else None
    read = " or ".join(map(form.name, form.read))
    again = form.again if form.again.startswith("docs/") else f"make one with: {form.again}"
    if said is None:
        what = f"{where} is not {form.what} of unmask: {'it does not say' if found is None else 'it says'} its form"
        raise error(what, got=None if found is None else str(found)[:40], allowed=read, hint=again)
    if said[1] != kind:
        other = FORMS[said[1]].what if said[1] in FORMS else "something else"
        raise error(f"{where} is {other}, not {form.what}", got=str(found), allowed=read, hint=again)
    version = int(said[2])
    if version in form.read:
        return version
    if version > form.written:
        hint = "it was written by a later version of unmask: install that one, or a newer one"
    else:
        hint = f"it was written by an earlier version of unmask, and is not read any more; {again}"
    raise error(
        f"{where} is {form.what} in a form that this version does not read", got=said[0], allowed=read, hint=hint
    )


def load_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what is written today."""
    check_name(kind, FORMS, f"there is no schema {kind!r}")
    name = f"{kind}-{FORMS[kind].written}.json"
    found: dict[str, Any] = json.loads(resources.files("unmask.schemas").joinpath(name).read_text(encoding="utf-8"))
    return found
