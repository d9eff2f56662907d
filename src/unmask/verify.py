"""Run a manifest again and say whether the result is the same, to the last bit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.assessment import VERSIONS_OF, assess, discover
from unmask.errors import TableError
from unmask.evidence.policy import Policy, Threshold
from unmask.report.document import SCHEMA
from unmask.tables.release import Release

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether the result is the same, and what differs, in words."""

    same: bool
    differences: tuple[str, ...]
    verdict: str


def verify(
    report: str | Path,
    *,
    original: str | Path | None = None,
    released: str | Path | None = None,
    progress: Callable[[str, float, str], None] | None = None,
) -> Verification:
    """Re-run the assessment that a JSON report describes. The tables are where they were, or where you say."""
    data = _load(Path(report))
    manifest = data["manifest"]
    given = {"original": original, "released": released}
    paths = {
        name: _locate(name, source, given.get(name), Path(report).parent) for name, source in manifest["inputs"].items()
    }
    others = {name: path for name, path in paths.items() if name not in given}  # control, population, matrices
    release = Release(paths["original"], paths["released"], **{**manifest["settings"], **others})
    differences = [
        f"the {name} table is not the same file"
        for name, source in release.sources.items()
        if source.sha256 != manifest["inputs"][name]["sha256"]
    ]
    absent = [name for name in manifest["measures"] if name not in discover()]
    differences += [f"this version has no measure {name!r}" for name in absent]
    again = assess(
        release,
        policy=_policy(manifest["policy"], data),
        only=[name for name in manifest["measures"] if name not in absent],
        seed=manifest["seed"],
        progress=progress,
        show_values=bool(manifest.get("show_values")),
    )
    new = again.to_dict()
    differences += _compare(data, new)
    if not differences and new["digest"] != data["digest"]:
        differences.append("the per-record risks differ")
    if differences:
        differences += _versions(manifest["versions"], new["manifest"]["versions"])
    return Verification(not differences, tuple(differences), again.verdict)


def _load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TableError(f"no report at {path}", hint="write one with: unmask assess ... --json report.json") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        raise TableError(
            f"{path} is not a JSON report", hint="write one with: unmask assess ... --json report.json"
        ) from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise TableError(
            f"{path} is not a report of this version",
            got=str(data.get("schema") if isinstance(data, dict) else None),
            allowed=SCHEMA,
        )
    absent = [key for key in ("manifest", "findings", "exposed", "digest", "verdict") if key not in data]
    if absent:
        raise TableError(f"{path} is not a whole report", got=f"no {', no '.join(absent)}")
    return data


def _locate(name: str, source: dict[str, Any], given: str | Path | None, beside: Path) -> str:
    if given is not None:
        return str(given)
    if source["path"] is None:
        raise TableError(f"the {name} table was a frame in memory, not a file", hint=f"give its file with --{name}")
    for path in (Path(source["path"]), beside / source["path"], beside / Path(source["path"]).name):
        if path.exists():
            return str(path)
    raise TableError(f"the {name} table is not at {source['path']}", hint=f"say where it is with --{name}")


def _policy(entry: dict[str, Any], data: dict[str, Any]) -> Policy:
    return Policy(
        entry["name"],
        data["policy_description"],
        {key: Threshold(**limit) for key, limit in entry["thresholds"].items()},
    )


def _compare(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = [] if old["verdict"] == new["verdict"] else [f"the verdict was {old['verdict']}, is {new['verdict']}"]
    before, after = ({f["key"]: f for f in side["findings"]} for side in (old, new))
    for key in sorted({*before, *after}):
        if key not in before or key not in after:
            found.append(f"finding {key} is only in the {'report' if key in before else 'new run'}")
        elif before[key]["estimate"] != after[key]["estimate"]:
            values = [(side[key]["estimate"] or {}).get("value") for side in (before, after)]
            found.append(f"finding {key} was {values[0]}, is {values[1]}")
    return found


def _versions(old: dict[str, str], new: dict[str, str]) -> list[str]:
    return [
        f"{name} was {old.get(name)}, is {new.get(name)}"
        for name in ("python", *VERSIONS_OF)
        if old.get(name) != new.get(name)
    ]
