"""What comes in by forms: refused without the form's token, checked, uploads put into a private folder."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from unmask.certificate import as_statement
from unmask.errors import ParameterError, TableError, check_name
from unmask.evidence import INTRUDERS
from unmask.tables import check_file
from unmask.web.commands import AUDIENCES, KINDS, ROLES, SINGLE, Column

FIELD = "form_token"
MOST_KEPT = 50  # analyses that must come out
MINUTES = (0, 5, 15, 60, 240)
SIDES = ("original", "released")
STATED = {  # of the certificate, what only people can say
    "title": "Title of the release",
    "controller": "Who is responsible for the data (controller)",
    "steward": "Who prepared the release",
    "purpose": "What the release is for",
    "people": "Whom the data are about",
    "valid_until": "Valid until (a day, such as 2027-06-30)",
    "reviewer": "Who reviews it",
}
SUFFIX = 12  # characters of the end of a file's name, at most


async def form_of(request: Request) -> FormData:
    """Read a form; without the token that our own pages put into it, somebody else wrote it."""
    form = await request.form(max_files=2, max_fields=20_000)
    given, wanted = form.get(FIELD), request.app.state.site.keys.form
    if not isinstance(given, str) or not secrets.compare_digest(given.encode(), wanted.encode()):
        await form.close()
        raise HTTPException(403, "This form is not from this page, or from before a restart. Load the page again.")
    return form


def table_of(form: FormData, side: str, folder: Path) -> tuple[str, str]:
    """Where a table is and its name: by its path, or uploaded into the folder."""
    given, path = form.get(f"{side}_file"), text(form, f"{side}_path")
    if isinstance(given, UploadFile) and given.filename:
        if path:
            raise ParameterError(f"the {side} table is given twice", hint="give its path, or upload it")
        return str(_kept(given, folder / side)), Path(given.filename.replace("\\", "/")).name
    if not path:
        raise ParameterError(f"no {side} table is given", hint="give its path, or upload it")
    place = Path(os.path.abspath(Path(path.strip("\"'")).expanduser()))  # noqa: PTH100 - links stay as they are named
    check_file(place)
    if not place.is_file():
        raise TableError(f"{place} is not a plain file", hint="give the path of a table")
    return str(place), place.name


def _kept(given: UploadFile, place: Path) -> Path:
    """Put an upload into the private folder. Of its name only the end is taken, which says the format."""
    name = Path((given.filename or "").replace("\\", "/")).name.lower()
    ends = "".join(part for part in Path(name).suffixes[-2:] if part[1:].isalnum() and len(part) < SUFFIX)
    target = place.with_name(f"{place.name}{ends}")
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as out:
        shutil.copyfileobj(given.file, out)
    check_file(target)
    return target


def roles_in(form: FormData, columns: list[Column]) -> dict[str, Any]:
    """The fields of a case that say what the columns are."""
    roles, kinds = {}, {}
    for number, entry in enumerate(columns):
        role, kind = text(form, f"role{number}") or "known", text(form, f"kind{number}")
        check_name(role, ROLES, f"column {entry['name']!r} has no such role")
        roles[entry["name"]] = role
        if kind:
            check_name(kind, KINDS, f"column {entry['name']!r} has no such kind")
            kinds[entry["name"]] = kind
    for role in SINGLE:
        names = [name for name, given in roles.items() if given == role]
        if len(names) > 1:
            raise ParameterError(
                f"only one column {ROLES[role]}" if role != "weight" else "only one column is the sampling weight",
                got=", ".join(map(repr, names)), hint="give the others another role",
            )  # fmt: skip
    return {"roles": roles, "kinds": kinds, "synthetic": bool(text(form, "synthetic"))}


def audience_in(form: FormData) -> dict[str, Any]:
    """The fields of a case that say who gets the release, who attacks, and how long that may take."""
    audience, intruder = text(form, "audience") or "public", text(form, "intruder") or "maximum"
    check_name(audience, AUDIENCES, "no such audience")
    check_name(intruder, INTRUDERS, "no such intruder")
    stated = {name: text(form, f"stated_{name}") for name in STATED if text(form, f"stated_{name}")}
    as_statement(stated)
    return {
        "audience": audience, "intruder": intruder, "quick": text(form, "attacks") == "quick",
        "certificate": bool(text(form, "certificate")), "statement": stated, **minutes_in(form),
    }  # fmt: skip


def minutes_in(form: FormData) -> dict[str, Any]:
    """How long a job may take."""
    given = text(form, "minutes") or "0"
    check_name(given, map(str, MINUTES), "no such time limit")
    return {"minutes": int(given)}


def kept_in(form: FormData) -> dict[str, Any]:
    """Analyses that must come out, one in a line."""
    lines = tuple(line.strip() for line in text(form, "keep").splitlines() if line.strip())
    if len(lines) > MOST_KEPT:
        raise ParameterError("too many analyses", got=str(len(lines)), allowed=f"at most {MOST_KEPT}")
    return {"keep": lines, **minutes_in(form)}


def text(form: FormData | Mapping[str, object], name: str) -> str:
    """A field of text; nothing where it is not there."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""
