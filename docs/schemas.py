"""Write the JSON Schemas of src/unmask/schemas: those that follow from the code, and those that are stated here.

``--check`` (the default) fails where a file is something else, ``--write`` puts it right.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import types
import typing
from pathlib import Path
from typing import Any

from unmask.certificate import Certificate
from unmask.cli.app import COMMANDS
from unmask.protect import Point
from unmask.report import comparison, document
from unmask.schemas import FORMS, KEY

HOME = Path(__file__).resolve().parent.parent / "src" / "unmask" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: dict[str, Any] = {"type": "string"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
WHOLE: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": ["number", "null"]}
PLAIN = {str: TEXT, int: WHOLE, bool: {"type": "boolean"}, float: NUMBER}


def of(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401, PLR0911 - any type that a field has
    """The schema of a type; dataclasses go to ``parts``. A number that is not finite is null."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return part(typing.cast("type", hint), parts)
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin in {typing.Union, types.UnionType}:
        return {"anyOf": [{"type": "null"} if one is type(None) else of(one, parts) for one in inner]}
    if origin is tuple and inner[1:] == (...,):
        return {"type": "array", "items": of(inner[0], parts)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [of(one, parts) for one in inner], "items": False,
                "minItems": len(inner)}  # fmt: skip
    if origin is dict:
        return {"type": "object", "additionalProperties": of(inner[1], parts)}
    return {}


def part(kind: type, parts: dict[str, Any]) -> dict[str, Any]:
    """A dataclass, written down once: everything is there, and more may be in a later version."""
    if kind.__name__ not in parts:
        parts[kind.__name__] = {}
        hints = typing.get_type_hints(kind, {**vars(document), **vars(sys.modules[kind.__module__])})
        found = {entry.name: of(hints[entry.name], parts) for entry in dataclasses.fields(kind)}
        parts[kind.__name__] = {"type": "object", "properties": found, "required": list(found)}
    return {"$ref": f"#/$defs/{kind.__name__}"}


def written(kind: type, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - fields beside the dataclass
    """A file that is a dataclass."""
    parts: dict[str, Any] = {}
    part(kind, parts)
    whole = parts.pop(kind.__name__)
    whole["properties"] |= more
    whole["required"] = list(whole["properties"])
    return {**whole, "$defs": dict(sorted(parts.items()))}


def stated(needed: tuple[str, ...], **found: Any) -> dict[str, Any]:  # noqa: ANN401
    """A file that people may write: nothing but these fields."""
    return {"type": "object", "properties": found, "required": list(needed), "additionalProperties": False}


def opened(**found: Any) -> dict[str, Any]:  # noqa: ANN401
    """A file that we write: everything is there, and more may be in a later version."""
    return {"type": "object", "properties": found, "required": list(found)}


def check() -> dict[str, Any]:
    """What is seen before any attack."""
    parts: dict[str, Any] = {}
    told, column = part(document.CheckEntry, parts), part(document.ColumnEntry, parts)
    texts = {"type": "object", "additionalProperties": TEXT}
    found = opened(check=told, columns={"type": "array", "items": column}, roles=texts, reasons=texts, ids=TEXTS)
    return {**found, "$defs": dict(sorted(parts.items()))}


def frontier() -> dict[str, Any]:
    """Releases that were tried; figures that were asked for are beside those of every point."""
    point = of(Point, parts := {}) and parts["Point"]
    fields = {name: kind for name, kind in point["properties"].items() if name not in {"measured", "used"}}
    entry = opened(**fields, front=PLAIN[bool], recommended=PLAIN[bool])
    return opened(
        policy=TEXT, limit=NUMBER, people=WHOLE, left_out=WHOLE, points={"type": "array", "items": entry},
        recommended={"type": ["string", "null"]},
    )  # fmt: skip


def settings() -> dict[str, Any]:
    """The options of all commands by name; which of them a command takes is in its --help."""
    found: dict[str, list[dict[str, Any]]] = {}
    for kind, _ in COMMANDS.values():
        hints = typing.get_type_hints(kind)
        for entry in dataclasses.fields(kind):
            kinds = found.setdefault(entry.name, [])
            for one in of(hints[entry.name], {}).get("anyOf", [of(hints[entry.name], {})]):
                if one not in kinds and one != {"type": "null"}:
                    kinds.append({"type": "number"} if one == PLAIN[float] else one)
    found.pop("config")
    single = {name: kinds[0] if len(kinds) == 1 else {"anyOf": kinds} for name, kinds in sorted(found.items())}
    names = {name.replace("_", "-"): kind for name, kind in single.items()}  # as they are typed
    return stated((), **{**single, **names, "reading": {"type": "object"}})


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of each kind of file."""
    limit = stated(
        ("value", "reason", "source"), value={"type": "number", "minimum": 0, "maximum": 1}, reason=TEXT, source=TEXT,
        people={**WHOLE, "minimum": 0}, groups={**WHOLE, "minimum": 1},
    )  # fmt: skip
    step = stated(("masking",), masking=TEXT, why=TEXT)
    grid = stated(("masking", "strengths"), masking=TEXT, strengths={"type": "array"})
    number = opened(label=TEXT, original=NUMBER, released=NUMBER, overlap=NUMBER)
    analysis = opened(analysis=TEXT, overlap=NUMBER, reason={"type": ["string", "null"]},
                      numbers={"type": "array", "items": number})  # fmt: skip
    hexes = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    return {
        "report": written(document.Document),
        "comparison": written(comparison.Comparison, words=TEXT, schema=TEXT),
        "check": check(),
        "utility": opened(columns={"type": "object", "additionalProperties": NUMBER}, told_apart=NUMBER,
                          correlations_moved=NUMBER, analyses={"type": "array", "items": analysis}),
        "frontier": frontier(),
        "audit": opened(method=TEXT, seed=WHOLE, claimed=NUMBER, delta=NUMBER, shown=NUMBER, value=NUMBER,
                        confidence=NUMBER, refuted={"type": ["boolean", "null"]}, most=NUMBER, runs=WHOLE,
                        counted=of(dict[str, int], {}), attack=TEXT, neighbours=TEXT, words=TEXT),
        "certificate": written(Certificate, **{"@context": {"type": "object"}, "@type": TEXT}),
        "signature": stated(
            ("name", "at", "public_key", "signature"), algorithm={"const": "Ed25519"}, name=TEXT, at=TEXT,
            sha256=hexes, public_key=TEXT, signature=TEXT,
        ),
        "policy": stated((), name=TEXT, description=TEXT, extends=TEXT,
                         thresholds={"type": "object", "additionalProperties": limit}),
        "plan": stated(("seed",), policy=TEXT, seed=WHOLE, left_out=TEXTS, untouched=TEXTS,
                       steps={"type": "array", "items": step}),
        "settings": settings(),
        "grid": stated((), maskings=TEXTS, grid={"type": "array", "items": grid}),
        "run": opened(table=TEXT, policy=TEXT, intruder=TEXT, keep=TEXTS, seed=WHOLE, roles={"type": "object"}),
        "state": stated(("found",), found={"type": "object", "required": ["$type"]}),
    }  # fmt: skip


def texts() -> dict[str, str]:
    """The files by name."""
    found = {}
    for kind, schema in schemas().items():
        form = FORMS[kind]
        schema["properties"] = {**schema["properties"], KEY: {"const": form.name()}}
        if form.silent is None and KEY not in schema["required"]:
            schema["required"] = [KEY, *schema["required"]]
        head = {"$schema": DIALECT, "$id": f"urn:unmask:{kind}:{form.written}", "title": f"{form.what} ({form.name()})"}
        found[f"{kind}-{form.written}.json"] = json.dumps({**head, **schema}, indent=1) + "\n"
    return found


def main() -> int:
    """Write the files, or compare."""
    stale = [name for name, text in texts().items() if not (HOME / name).exists() or (HOME / name).read_text() != text]
    for name in stale if "--write" in sys.argv else ():
        (HOME / name).write_text(texts()[name], encoding="utf-8")
    return int(bool(stale) and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
