"""Commands that a report tells to type next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from unmask.report.document import Document

SPECIAL = frozenset('"$`\\!')  # what a shell reads within double quotes
FORGET = "Make the table again with a model that remembers single people less, and assess it."


def typed(words: Iterable[str]) -> str:
    """Words as they are typed; one with single quotes stands in double ones, where the shell leaves it as it is."""
    return " ".join(f'"{word}"' if "'" in word and not SPECIAL & set(word) else shlex.quote(word) for word in words)


def command(document: Document) -> str:
    """The command that looks for a release of the same original that is safe, for the same intruder and uses."""
    manifest = document.manifest
    settings, path = manifest.settings, manifest.inputs.get("original", {}).get("path")
    dropped = [column.name for column in document.columns if not column.released and column.role != "id"]
    words = ["unmask", "protect", path or "ORIGINAL.csv"]
    for role in ("id", "household", "weight"):
        words += [f"--{role}", settings[role]] if settings.get(role) and settings[role] not in dropped else []
    for role in ("quasi", "confidential"):
        words += [f"--{role}", ",".join(settings[role])] if settings.get(role) else []
    words += ["--ignored", ",".join(dropped)] if dropped else []
    policy = "POLICY.toml" if manifest.policy.get("profile") else document.policy
    words += ["--policy", policy] if policy != "public" else []
    words += ["--intruder", manifest.intruder] if manifest.intruder != "maximum" else []
    for analysis in manifest.keep:
        words += ["--keep", analysis]
    return typed([*words, "-o", "safer.csv"])


def making(document: Document) -> str:
    """The command that makes the recommended change; nothing where there is none."""
    if document.advice is None:
        return ""
    path = document.manifest.inputs.get("original", {}).get("path") or "ORIGINAL.csv"
    there = [column for column in document.columns if not column.released and column.role != "id"]
    aside = [column.name for column in there if column.name not in document.advice.masking]
    out = [f"drop([{', '.join(map(repr, aside))}])"] if aside else []
    steps = [*out, document.advice.masking]
    masking = steps[0] if len(steps) == 1 else f"chain([{', '.join(steps)}])"
    return typed(["unmask", "mask", path, "--masking", masking, "-o", "safer.csv"])


def of_few(document: Document, few: str) -> tuple[str, str]:
    """What to change where no release of so few people can be called safe: less is given away all the same."""
    needed, there = re.findall(r"[\d,]*\d", few)[-2:]
    best = f'At best that is inconclusive: "safe" needs {needed} people, these are {there}.'
    if document.manifest.settings.get("synthetic"):
        return f"{FORGET} {best}", ""
    if document.advice is None:
        return f"Publish fewer columns, or coarser ones. {best}", ""
    change = document.advice.words[:1].upper() + document.advice.words[1:]
    return f"{change}: then everybody looks like {document.advice.k - 1} others. {best}", making(document)
