"""Files that an assessment writes: checked before any work, written at the end, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import ParameterError
from unmask.report.document import to_json
from unmask.report.write import check_writable

if TYPE_CHECKING:
    from unmask.assessment import Assessment


def check_outputs(options: dict[str, Any]) -> None:
    """Refuse, before any work, outputs that cannot be written or that would overwrite an input."""
    inputs = {
        Path(str(options[name])).resolve()
        for name in (
            "original",
            "released",
            "control",
            "population",
            "distances",
            "known_distances",
            "policy",
            "config",
        )
        if options.get(name)
    }
    taken: set[Path] = set()
    for name in ("json", "html", "records", "fix"):
        target = options.get(name)
        if not target or (target == "-" and name == "json"):
            continue
        if target == "-":
            raise ParameterError(f"--{name} cannot go to standard output", hint="give a file; --json - prints the JSON")
        path = Path(target)
        if path.resolve() in inputs:
            raise ParameterError(f"--{name} {target} is also an input", hint="write the result to another file")
        if path.resolve() in taken:
            raise ParameterError(f"two outputs go to {target}", hint="give each its own file")
        if name in {"records", "fix"} and path.suffix.lower() not in {".csv", ".parquet"}:
            raise ParameterError(
                f"cannot write {name} to {path.name}", got=f"suffix {path.suffix!r}", allowed=".csv or .parquet"
            )
        taken.add(path.resolve())
        check_writable(path)


def write_outputs(assessment: Assessment, options: dict[str, Any]) -> None:
    """Write what was asked for, and nothing else."""
    if options.get("json") == "-":
        sys.stdout.write(to_json(assessment.document))
    elif options.get("json"):
        assessment.write_json(options["json"])
    if options.get("html"):
        assessment.write_html(options["html"])
    if options.get("records"):
        assessment.write_records(options["records"])
