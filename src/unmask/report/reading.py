"""A JSON report read back into the document, also one of an earlier version: what it does not tell is empty."""

from __future__ import annotations

import dataclasses
import json
import types
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from unmask.errors import TableError, UnmaskError
from unmask.evidence import meant
from unmask.report import document
from unmask.report.document import Document
from unmask.schemas import KEY, check_form

HINT = "write one with: unmask assess ... --json report.json"
NEEDED = ("manifest", "findings", "exposed", "digest", "verdict")


def load_report(path: str | Path) -> dict[str, Any]:
    """Read the JSON of a report, as it is; refuse what is none."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TableError(f"no report at {path}", hint=HINT) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        raise TableError(f"{path} is not a JSON report", hint=HINT) from None
    if not isinstance(data, dict):
        raise TableError(f"{path} is not a report of unmask", got=type(data).__name__, hint=HINT)
    check_form("report", data.get(KEY), path)
    absent = [key for key in NEEDED if key not in data]
    if absent:
        raise TableError(f"{path} is not a whole report", got=f"no {', no '.join(absent)}")
    return data


def read_report(path: str | Path) -> Document:
    """Read a JSON report back into the document; measures have the names that they have now."""
    try:
        found = cast("Document", _read(load_report(path), Document))
    except UnmaskError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TableError(f"{path} is not a whole report", hint=HINT) from error
    findings = tuple(
        dataclasses.replace(entry, measure=meant(entry.measure), key=meant(entry.key)) for entry in found.findings
    )
    return dataclasses.replace(found, findings=findings)


def _read(value: Any, kind: Any) -> Any:  # noqa: ANN401, PLR0911 - any JSON value, of any kind that a field has
    """Turn plain data into what a field holds."""
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _entry(value or {}, cast("type", kind))
    if origin in {Union, types.UnionType}:
        if value is None and type(None) in inner:
            return None
        classes = [one for one in inner if one is not type(None)]
        return _read(value, classes[0]) if len(classes) == 1 else value
    if origin is tuple:
        many = inner[1:] == (...,)
        return tuple(_read(one, inner[0] if many else inner[place]) for place, one in enumerate(value or ()))
    if origin is dict:
        return {key: _read(one, inner[1]) for key, one in (value or {}).items()}
    if kind is float:
        return float("nan") if value is None else float(value)
    if origin is Literal or kind is Any or value is not None:
        return value
    return kind()


def _entry(data: dict[str, Any], kind: type) -> Any:  # noqa: ANN401 - of this kind
    space = {**vars(document), "tuple": tuple, "dict": dict}
    hints = get_type_hints(kind, localns=space)
    given = {}
    for field in dataclasses.fields(kind):
        if field.name in data:
            given[field.name] = _read(data[field.name], hints[field.name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            given[field.name] = _read(None, hints[field.name])
    return kind(**given)
