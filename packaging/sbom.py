"""The bill of materials of an installed package: CycloneDX 1.6 (JSON) and the licences of what it needs.

Nothing but Python is needed, so that the interpreter of a fresh environment can run it:
``python packaging/sbom.py --out dist``. The same environment gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any

OURS = "unmask"
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?")
EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
TEXTS = re.compile(r"(licen[cs]e|copying|notice)", re.IGNORECASE)
CLASSIFIER = "License :: OSI Approved :: "
LONGEST = 60  # a field of this length or more is a text, not the name of a licence


@dataclass(frozen=True)
class Part:
    """An installed package: what it is, its licence, which others it needs."""

    name: str
    version: str
    licence: str
    spdx: bool  # whether the licence is an SPDX expression that the package itself states
    needs: tuple[str, ...]
    size: int  # bytes on disk
    texts: tuple[tuple[str, str], ...]  # licences in full, by file name

    @property
    def purl(self) -> str:
        """The package's name in bills of materials."""
        return f"pkg:pypi/{self.name}@{self.version}"


def normal(name: str) -> str:
    """A name as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needs_of(of: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """What a package needs, with the extras it asks for; its own extras only where they are asked for."""
    for line in of.requires or ():
        text, _, marker = line.partition(";")
        wanted = {normal(extra) for extra in EXTRA.findall(marker)}
        found = REQUIREMENT.match(text)
        if found is not None and (not wanted or wanted & extras):
            more = (found[2] or "").split(",")
            yield normal(found[1]), frozenset(normal(extra.strip()) for extra in more if extra.strip())


def licence_of(of: Distribution) -> tuple[str, bool]:
    """The licence as the package states it, and whether that is an SPDX expression."""
    stated = of.metadata.get("License-Expression")
    if stated:
        return stated.strip(), True
    classified = [c.removeprefix(CLASSIFIER) for c in of.metadata.get_all("Classifier") or () if CLASSIFIER in c]
    short = (of.metadata.get("License") or "").strip()
    if short and len(short) < LONGEST and "\n" not in short:
        return short, False
    return " / ".join(classified) or "not stated in its metadata", False


def part_of(of: Distribution, needs: tuple[str, ...]) -> Part:
    """Read an installed package."""
    files = [(file, Path(str(of.locate_file(file)))) for file in of.files or ()]
    there = [(file, path) for file, path in files if path.is_file() and path.suffix != ".pyc"]
    texts = tuple(
        (file.name, path.read_text(encoding="utf-8", errors="replace"))
        for file, path in sorted(there, key=lambda pair: str(pair[0]))
        if ".dist-info" in str(file) and TEXTS.search(file.name) and "py" not in path.suffix
    )
    licence, spdx = licence_of(of)
    size = sum(path.stat().st_size for _, path in there)
    return Part(normal(of.metadata["Name"]), of.version, licence, spdx, needs, size, texts)


def parts_of(name: str) -> dict[str, Part]:
    """A package and all that it needs, directly or not, as far as it is installed; sorted by name."""
    there = {normal(one.metadata["Name"]): one for one in distributions() if one.metadata["Name"]}
    wanted: dict[str, frozenset[str]] = {}
    left: list[tuple[str, frozenset[str]]] = [(normal(name), frozenset())]
    edges: dict[str, set[str]] = {}
    while left:
        one, extras = left.pop()
        before = wanted.get(one)
        if one not in there or (before is not None and extras <= before):
            continue
        wanted[one] = extras | (before or frozenset())
        for other, more in needs_of(there[one], wanted[one]):
            if other in there:
                edges.setdefault(one, set()).add(other)
                left.append((other, more))
    return {one: part_of(there[one], tuple(sorted(edges.get(one, ())))) for one in sorted(wanted)}


def cyclonedx(parts: dict[str, Part], ours: str = OURS) -> dict[str, Any]:
    """The bill of materials; its serial number follows from what it lists."""

    def component(part: Part) -> dict[str, Any]:
        stated = {"expression": part.licence} if part.spdx else {"license": {"name": part.licence}}
        kind = "application" if part.name == ours else "library"
        return {
            "type": kind, "bom-ref": part.purl, "name": part.name, "version": part.version, "purl": part.purl,
            "licenses": [stated],
        }  # fmt: skip

    listed = hashlib.sha256("\n".join(part.purl for part in parts.values()).encode()).hexdigest()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, listed)}",
        "version": 1,
        "metadata": {"component": component(parts[ours])},
        "components": [component(part) for name, part in parts.items() if name != ours],
        "dependencies": [
            {"ref": part.purl, "dependsOn": [parts[other].purl for other in part.needs]} for part in parts.values()
        ],
    }


def licences(parts: dict[str, Part], ours: str = OURS) -> str:
    """The licences of everything but ourselves, in full where the package brings the text."""
    lines = [f"What {ours} {parts[ours].version} needs, with the licences as the packages state them.", ""]
    others = [part for name, part in parts.items() if name != ours]
    lines += [f"{part.name} {part.version}: {part.licence}" for part in others]
    for part in others:
        lines += ["", "=" * 100, f"{part.name} {part.version}: {part.licence}", "=" * 100]
        lines += [f"\n--- {name}\n\n{text.rstrip()}" for name, text in part.texts]
        lines += [] if part.texts else ["", "The package brings no text of its licence."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write sbom.cdx.json and THIRD_PARTY_LICENCES.txt."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=Path("dist"))
    parser.add_argument("--sizes", action="store_true", help="print name, version, licence and size of each as JSON")
    given = parser.parse_args()
    distribution(OURS)  # an error that names it, where it is not installed
    parts = parts_of(OURS)
    if given.sizes:
        told = {name: [part.version, part.licence, part.size] for name, part in parts.items()}
        print(json.dumps(told))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    bill = json.dumps(cyclonedx(parts), indent=1, ensure_ascii=False) + "\n"
    (given.out / "sbom.cdx.json").write_text(bill, encoding="utf-8")
    (given.out / "THIRD_PARTY_LICENCES.txt").write_text(licences(parts), encoding="utf-8")
    print(f"{len(parts) - 1} packages in {given.out / 'sbom.cdx.json'} and {given.out / 'THIRD_PARTY_LICENCES.txt'}")


if __name__ == "__main__":
    main()
