"""Write the tables of the documentation that the code knows best: measures, policy keys, fields of the report.

Text between ``<!-- generated: name -->`` and ``<!-- end -->`` is replaced. ``--check`` (the default) fails where a page
shows something else, ``--write`` puts it right.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import tomllib
import typing
from importlib import resources
from pathlib import Path

from unmask.assessment import discover
from unmask.evidence import Policy
from unmask.report import document

DOCS = Path(__file__).resolve().parent
PLACE = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
PROFILES = ("public", "partner", "internal", "strict")
KINDS = tomllib.loads((resources.files("unmask") / "evidence" / "policies.toml").read_text())["limits"]
FAMILIES = {  # in the order of the flow: link, compare, count, learn
    "linkage": "Who is found",
    "graph": "Who is found",
    "publications": "Who is found",
    "max_knowledge": "Who can deny it",
    "groups": "Who stands out",
    "disclosure": "What is learnt about people",
}


def family(run: object) -> str:
    """Name the family of a measure after the room that it lives in."""
    room = str(getattr(run, "__module__", "")).split(".")[1]
    return FAMILIES.get(room, room.replace("_", " ").capitalize())


def measures() -> str:
    """List every measure with its page, by family."""
    lines: list[str] = []
    found = discover()
    for title in dict.fromkeys([*FAMILIES.values(), *(family(entry.run) for entry in found.values())]):
        rows = [entry for entry in found.values() if family(entry.run) == title]
        if rows:
            lines += [f"## {title}", "", "| `--only` | measure | also called |", "|---|---|---|"]
            lines += [
                f"| [`{entry.name}`]({entry.name}.md) | {entry.title} | {', '.join(f'`{a}`' for a in entry.aliases)} |"
                for entry in rows
            ]
            lines.append("")
    return "\n".join(lines)


def bound(limit: typing.Any) -> str:  # noqa: ANN401 - a limit of a policy
    """Write a limit: a share of people, a number of them, or both."""
    share = "" if limit.value >= 1 else f"{100 * limit.value:.3g} %"
    number = "" if limit.people is None else "nobody" if limit.people == 0 else f"{limit.people} people"
    groups = f", groups of {limit.groups}" if limit.people is not None else ""
    return " and ".join(filter(None, (share, number))) + groups or "none"


def policy() -> str:
    """One row per key: the kind of limit, and the limit of each profile."""
    policies = [Policy.load(name) for name in PROFILES]
    lines = [f"| key | what it counts | {' | '.join(PROFILES)} |", "|---|---|" + "---|" * len(PROFILES)]
    for key in sorted(policies[0].thresholds):
        limits = " | ".join(bound(entry.thresholds[key]) for entry in policies)
        lines.append(f"| `{key}` | [{KINDS[key]}](#{KINDS[key].replace('_', '-')}) | {limits} |")
    return "\n".join(lines) + "\n"


def reasons() -> str:
    """One table per kind of limit: the limit of each profile, why it is that, and where it comes from."""
    policies = {name: Policy.load(name).thresholds for name in PROFILES}
    kinds: dict[str, list[str]] = {}
    for key in sorted(policies[PROFILES[0]]):
        kinds.setdefault(KINDS[key], []).append(key)
    lines: list[str] = []
    for kind, keys in sorted(kinds.items()):
        lines += [f"### {kind.replace('_', ' ')}", "", ", ".join(f"`{key}`" for key in keys), ""]
        lines += ["| profile | limit | why | source |", "|---|---|---|---|"]
        told: dict[tuple[str, str, str], list[str]] = {}
        for name, limits in policies.items():
            limit = limits[keys[0]]
            told.setdefault((bound(limit), limit.reason, limit.source), []).append(f"`{name}`")
        lines += [
            f"| {', '.join(names)} | {words} | {_cell(why)} | {_cell(source)} |"
            for (words, why, source), names in told.items()
        ]
        lines.append("")
    return "\n".join(lines)


def profiles() -> str:
    """One line per profile."""
    return "\n".join(f"- **`{name}`**: {Policy.load(name).description}" for name in PROFILES) + "\n"


def fields() -> str:
    """List the fields of the report, one table per part, from the document down."""
    parts: dict[type, None] = {}
    _walk(document.Document, parts)
    return "\n".join(_part(part) for part in parts)


def _walk(part: type, parts: dict[type, None]) -> None:
    """Gather the dataclasses that a part holds, each once, in the order of their fields."""
    parts[part] = None
    for hint in _hints(part).values():
        for inner in _classes(hint):
            if inner not in parts:
                _walk(inner, parts)


def _hints(part: type) -> dict[str, object]:
    module = sys.modules[part.__module__]
    space = {**vars(document), **vars(module)}
    return typing.get_type_hints(part, globalns=space)


def _classes(hint: object) -> list[type]:
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return [hint]
    return [found for inner in typing.get_args(hint) for found in _classes(inner)]


def _part(part: type) -> str:
    story = " ".join((part.__doc__ or "").split()).replace("``", "`")
    lines = [f"### {part.__name__}", "", story, "", "| field | holds |", "|---|---|"]
    lines += [f"| `{name}` | {_cell(_words(hint))} |" for name, hint in _hints(part).items()]
    return "\n".join([*lines, ""])


def _words(hint: object) -> str:  # noqa: PLR0911 - one line per kind of type
    """Say a type as JSON has it."""
    if hint in (int, float, str, bool):
        return {int: "whole number", float: "number", str: "text", bool: "true or false"}[hint]  # type: ignore[index]
    if hint is type(None):
        return "null"
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        every = len(inner) == 2 and inner[1] is Ellipsis
        return f"list of {_words(inner[0])}" if every else "list of " + ", ".join(map(_words, inner))
    if origin is dict:
        return f"object: {_words(inner[1])} by {_words(inner[0])}"
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if inner:
        return " or ".join(map(_words, inner))
    return "any value"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


WRITERS = {"reasons": reasons, "measures": measures, "policy": policy, "profiles": profiles, "fields": fields}


def main() -> int:
    """Replace or compare every generated part."""
    write, stale = "--write" in sys.argv[1:], []
    for path in sorted(DOCS.rglob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = PLACE.sub(lambda place: f"{place[1]}\n{WRITERS[place[2]]()}\n{place[3]}", old)
        if new != old:
            stale.append(str(path.relative_to(DOCS)))
            if write:
                path.write_text(new, encoding="utf-8")
    if stale and not write:
        sys.stdout.write(f"stale: {', '.join(stale)}; run python docs/reference.py --write\n")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    raise SystemExit(main())
