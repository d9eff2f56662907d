"""What was chosen on the pages as commands: the words that a job runs, that a person can type, and the TOML file."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unmask.evidence import Policy
from unmask.inert import json_text
from unmask.schemas import FORMS, KEY
from unmask.web.store import Case

Column = Mapping[str, Any]  # an entry of the check: name, kind, role, how both files write it
Value = str | bool | list[str] | dict[str, str]
AUDIENCES = ("public", "partner", "internal", "strict")
SINGLE = ("id", "weight", "household")  # roles of one column
ROLES = {
    "known": "the intruder knows it",
    "unknown": "the intruder does not know it",
    "confidential": "they want to learn it",
    "id": "says which rows belong together",
    "weight": "sampling weight",
    "household": "says who lives together",
}
KINDS = ("numeric", "ordinal", "categorical", "boolean", "date")
REPEATED = frozenset({"keep"})  # given by saying the option again
UNTYPED = frozenset({"statement"})  # a table of the TOML file only
REPORT, DATA, CHECK, SETTINGS = "report.html", "report.json", "check.json", "unmask.toml"
CERTIFICATE, PUBLIC = "certificate.html", "public-certificate.html"
POINTS, MAP, PLAN, TRIED = "points.jsonl", "map.svg", "plan.toml", "tried"


@dataclass(frozen=True)
class Command:
    """A command with what is typed after it."""

    name: str
    tables: tuple[str, ...]
    options: dict[str, Value] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """What is typed after `unmask`; what cannot be typed is in the TOML file."""
        if UNTYPED & set(self.options):
            return self.name, "--config", SETTINGS
        found = [self.name, *self.tables]
        for name, value in {**self.options, **self.outputs}.items():
            found += _typed(name, value)
        return tuple(found)

    @property
    def toml(self) -> str:
        """The same as a file for `--config`."""
        tables = dict(zip(("original", "released"), self.tables, strict=False))
        flat = {**tables, **self.options, **self.outputs}
        lines = [f"# unmask {self.name} --config FILE", f"{KEY} = {_toml(FORMS['settings'].name())}"]
        lines += [f"{name} = {_toml(value)}" for name, value in flat.items() if not isinstance(value, dict)]
        for name, value in flat.items():
            if isinstance(value, dict):
                lines += ["", f"[{name}]", *(f"{_toml(key)} = {_toml(kind)}" for key, kind in value.items())]
        return "\n".join(lines) + "\n"


def shown(words: tuple[str, ...]) -> str:
    """A command as it is typed into a terminal."""
    return shlex.join(["unmask", *words])


def check(case: Case, columns: list[Column]) -> Command:
    """Look at the tables before they are attacked."""
    return Command("check", (case.original, case.released), _described(case, columns), {"json": CHECK})


def assess(case: Case, columns: list[Column]) -> Command:
    """Attack the release."""
    options: dict[str, Value] = {**_described(case, columns), "policy": case.audience, "intruder": case.intruder}
    if case.quick:
        options["only"] = list(Policy.load(case.audience).core["synthetic" if case.synthetic else "paired"])
    outputs = {"html": REPORT, "json": DATA}
    if case.certificate:
        options |= {"statement": dict(case.statement)} if case.statement else {}
        outputs |= {"certificate": CERTIFICATE, "public_certificate": PUBLIC}
    return Command("assess", (case.original, case.released), options, outputs)


def search(kind: str, case: Case, columns: list[Column], named: set[str], release: str) -> Command:
    """Look for a safer release of the original; ``named``: columns that name people, which are not published."""
    roles = _described(case, columns)
    options: dict[str, Value] = {name: roles[name] for name in ("id", "quasi", "confidential") if name in roles}
    aside = left_out(case, columns, named)
    options |= {case.roles[name]: name for name in untouched(case, aside)}
    options |= {"ignored": aside} if aside else {}
    options |= {"policy": case.audience, "intruder": case.intruder}
    options |= {"keep": list(case.keep)} if case.keep else {}
    options |= {"budget": f"{case.minutes}m"} if case.minutes else {}
    if kind == "explore":
        return Command("explore", (case.original,), options, {"output": POINTS, "chart": MAP, "folder": TRIED})
    outputs = {"output": release, "plan": PLAN, "points": POINTS, "chart": MAP, "folder": TRIED}
    return Command("protect", (case.original,), options, outputs)


def left_out(case: Case, columns: list[Column], named: set[str]) -> list[str]:
    """Columns of the original that no release has: those that name people, and those that this one left out."""
    kept = {name for name, role in case.roles.items() if role in {"id", "confidential"}}
    return [
        entry["name"]
        for entry in columns
        if entry["original"] and entry["name"] not in kept and (entry["name"] in named or not entry["released"])
    ]


def untouched(case: Case, aside: list[str]) -> list[str]:
    """Columns that are published as they are and that no masking sees: who lives together, the weight."""
    return [name for name, role in case.roles.items() if role in {"household", "weight"} and name not in aside]


def follow(case: Case, release: str) -> Command:
    """Make a release by a plan."""
    return Command("mask", (case.original,), {}, {"plan": PLAN, "output": release})


def plan(point: Mapping[str, Any], policy: str, aside: list[str], around: list[str]) -> str:
    """The plan of one masking that was tried, as `unmask mask --plan` reads it."""
    lines = [
        "# Made by `unmask serve`. `unmask mask TABLE --plan FILE -o RELEASE` makes the same release again.",
        f"{KEY} = {_toml(FORMS['plan'].name())}",
        f"policy = {_toml(policy)}", f"seed = {int(point['seed'])}", f"left_out = {_toml(aside)}",
        f"untouched = {_toml(around)}",
    ]  # fmt: skip
    if point["masking"]:
        lines += ["", "[[steps]]", f"masking = {_toml(str(point['masking']))}"]
    return "\n".join(lines) + "\n"


def _described(case: Case, columns: list[Column]) -> dict[str, Value]:
    """What was said of the columns; what was not said is left to the command."""
    by: dict[str, list[str]] = {}
    for name, role in case.roles.items():
        by.setdefault(role, []).append(name)
    found: dict[str, Value] = {role: by[role][0] for role in SINGLE if by.get(role)}
    if by.get("confidential"):
        found["confidential"] = by["confidential"]
    if by.get("unknown"):
        there = {entry["name"] for entry in columns if entry["original"]}
        found["quasi"] = [name for name in by.get("known", []) if name in there]
    if case.kinds:
        found["kinds"] = dict(case.kinds)
    if case.synthetic:
        found["synthetic"] = True
    return found


def _typed(name: str, value: Value) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if value is True:
        return [flag]
    if isinstance(value, dict):
        value = [f"{key}={kind}" for key, kind in value.items()]
    if isinstance(value, list) and name not in REPEATED:
        value = _line(value)
    parts = value if isinstance(value, list) else [str(value)]
    return [word for part in parts for word in ([f"{flag}={part}"] if part.startswith("-") else [flag, part])]


def _line(names: list[str]) -> str:
    """Names as the command line splits them: those with commas, quotes or blanks at the ends in quotes."""
    plain = all(name == name.strip() for name in names)
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL, lineterminator="").writerow(names)
    return out.getvalue()


def _toml(value: object) -> str:
    return json_text(value, indent=None)
