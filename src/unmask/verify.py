"""Run a manifest again and say whether the result is the same, to the last bit."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.assessment import assess, discover
from unmask.errors import ParameterError, TableError
from unmask.evidence import Policy, Progress, meant
from unmask.fingerprints import is_same
from unmask.made_with import KERNELS
from unmask.masking import parse_masking
from unmask.people import PersonRisk
from unmask.planning import plan_of
from unmask.report import document, load_report
from unmask.schemas import FORMS, KEY
from unmask.shown import Shown
from unmask.tables import Release, as_given

SETTINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # former name: name now, and what the value is there
    "paired": ("synthetic", operator.not_),
}
SINCE_0_1: tuple[tuple[tuple[str, ...], str], ...] = (  # figures that are not what they were, and how
    (
        ("nearest.", "transparent.", "learned.", "membership."),
        "the best attack that the intruder could use counts, both directions of linkage among them",
    ),
    (
        ("nearest.known", "one_to_one.", "knowledge_curve.half"),
        "the interval is wider: it covered the truth too seldom (docs/intervals.md)",
    ),
    (
        ("cells.",),
        "the external attack has one definition, and limits are for what goes beyond a blind guess",
    ),
    (("anonymity.",), "people with fewer look-alikes than the policy asks for are counted (anonymity.small)"),
    (("dictionary.minimum", "permuted.minimum"), "the smallest rank is shown and no longer judged"),
)
VERDICT_SINCE_0_1 = "verdict: all figures are looked at together, so that one above its limit by luck is inconclusive"


@dataclass(frozen=True, slots=True)
class Verification(Shown):
    """What differs, in words, and what is called otherwise than in the report.

    ``since``: what has changed in unmask itself since the version that wrote the report, as far as it touches it.
    """

    differences: tuple[str, ...]
    verdict: str
    moved: tuple[str, ...] = ()
    since: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the result is the same to the last bit. A report with former names cannot be held to that."""
        return not self.differences and not self.moved


def verify(
    report: str | Path,
    *,
    original: str | Path | None = None,
    released: str | Path | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Re-run the assessment that a JSON report describes. The tables are where they were, or where you say."""
    data, moved = brought_up_to_date(load_report(report))
    manifest = data["manifest"]
    release = _release(Path(report), manifest, original, released)
    differences = [
        f"the {name} table is not the same file"
        for name, source in release.sources.items()
        if is_same(manifest["inputs"][name], source.sha256) is False
    ]
    absent = [name for name in manifest["measures"] if name not in discover()]
    differences += [f"this version has no measure {name!r}" for name in absent]
    policy, known = manifest["policy"], discover()
    keys = [
        *PersonRisk.keys,
        *(key for measure in manifest["measures"] if measure in known for key in known[measure].keys),
    ]
    limits, new_limits = Policy.recorded(policy["name"], data["policy_description"], policy["thresholds"], keys)
    moved += new_limits
    again = assess(
        release,
        policy=limits,
        only=[name for name in manifest["measures"] if name not in absent],
        seed=manifest["seed"],
        progress=progress,
        show_values=bool(manifest.get("show_values")),
        intruder=manifest.get("intruder", "maximum"),
        recipients=_recipients(manifest),
        by=manifest.get("by", ()),
        keep=manifest.get("keep", ()),
        utility=manifest.get("utility", "none"),
        plan=plan_of(manifest, [name for name in manifest["measures"] if name not in absent]),
    )
    new = again.to_dict()
    differences += _compare(data, new)
    if not differences and not moved:
        differences += _digests(data, new)
    if differences:
        differences += _versions(manifest["versions"], new["manifest"]["versions"])
    return Verification(tuple(differences), again.verdict, tuple(moved), changes_since(data))


def _digests(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What the digests say that nothing else does; the risks of all people are compared by whoever has the key."""
    told, of_people = document.same_digest(before["digest"], now["digest"])
    ours = before["manifest"]["versions"].get("unmask") == now["manifest"]["versions"]["unmask"]
    if not told:
        return [f"something that the report tells differs{'' if ours else ', perhaps only its words'}"]
    return ["the per-record risks differ"] if of_people is False else []


def release_of(
    report: str | Path, *, original: str | Path | None = None, released: str | Path | None = None
) -> tuple[Release, dict[str, Any]]:
    """The release that a JSON report is about, from the tables where they were or where you say, and the report."""
    data, _ = brought_up_to_date(load_report(report))
    return _release(Path(report), data["manifest"], original, released), data


def _release(
    report: Path, manifest: dict[str, Any], original: str | Path | None, released: str | Path | None
) -> Release:
    given = {"original": original, "released": released}
    paths = {name: _locate(name, source, given.get(name), report.parent) for name, source in manifest["inputs"].items()}
    others = {name: path for name, path in paths.items() if name not in given}  # control, population, matrices
    return Release(paths.get("original"), paths["released"], **{**manifest["settings"], **as_given(others)})


# --- reports of earlier versions ------------------------------------------------------------------------------------


def brought_up_to_date(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Give measures, settings and limits of a report the names that they have now; tell each that has moved."""
    manifest = data["manifest"]
    _refuse(manifest)
    moved = [f"measure {name!r} is called {meant(name)!r} now" for name in manifest["measures"] if meant(name) != name]
    settings = dict(manifest["settings"])
    for old, (new, change) in SETTINGS.items():
        if old in settings:
            before = settings.pop(old)
            settings[new] = change(before)
            moved.append(f"setting {old} = {before} is called {new} = {settings[new]} now")
    written = settings.get("masking")
    if written is not None and str(parse_masking(written)) != written:
        moved.append(f"masking {written} is written {parse_masking(written)} now")
    limits = manifest["policy"]["thresholds"]
    moved += [f"limit {key!r} of the policy is called {meant(key)!r} now" for key in limits if meant(key) != key]
    if moved:
        moved.append(
            "the digest covers names, which have moved: risks of single people beyond the list are not compared"
        )
    renamed = {
        **manifest,
        "measures": [meant(name) for name in manifest["measures"]],
        "settings": settings,
        "policy": {**manifest["policy"], "thresholds": {meant(key): limit for key, limit in limits.items()}},
    }
    findings = [{**finding, "key": meant(finding["key"])} for finding in data["findings"]]
    exposed = [
        {**entry, "risks": {meant(name): risk for name, risk in entry["risks"].items()}} for entry in data["exposed"]
    ]
    return {**data, "manifest": renamed, "findings": findings, "exposed": exposed}, moved


def changes_since(data: dict[str, Any]) -> tuple[str, ...]:
    """What is otherwise in this version than in the one that wrote a report, for the figures that the report has."""
    form, now = data[KEY], FORMS["report"].name()
    if form == now:
        return ()
    keys = [finding["key"] for finding in data["findings"]]
    told = [f"the report is in the form {form} of unmask 0.1, which is read; {now} is written now (docs/schemas.md)"]
    for begins, words in SINCE_0_1:
        touched = sorted(key for key in keys if key.startswith(begins))
        told += [f"{', '.join(touched)}: {words}"] if touched else []
    return (*told, VERDICT_SINCE_0_1)


def _refuse(manifest: dict[str, Any]) -> None:
    """Reports that are not run again: no model is opened and no command run because a file says so."""
    inputs = manifest.get("inputs", {})
    if "model" in inputs:
        raise ParameterError(
            "a report on a model is not verified: models are opened only where you say so",
            hint="run unmask assess-model again with the same --seed",
        )
    if "table 1" in inputs:
        raise ParameterError(
            "a report on published tables is not verified: nothing in it is drawn by chance",
            hint="run unmask assess-tables again, which gives the same numbers",
        )
    if "original network" in inputs:
        raise ParameterError(
            "a report on a network is not verified from its file alone",
            hint="run unmask network again with the same --seed, and compare the digests of both reports",
        )
    if manifest.get("settings", {}).get("engine"):
        raise ParameterError(
            "a report on a release larger than memory is not verified from its file alone",
            hint="run unmask assess again with the same --engine and --seed, and compare the digests of both reports",
        )
    if manifest.get("settings", {}).get("many_rows"):
        raise ParameterError(
            "a report on people with many rows is not verified from its file alone",
            hint="run unmask assess again with the same --seed, and compare the digests of both reports",
        )
    if str(manifest["settings"].get("masking") or "").startswith("synthesiser("):
        raise ParameterError(
            "a report that used a synthesiser is not verified: nobody runs a command because a file says so",
            hint="run unmask assess again with the same --synthesiser and --seed",
        )


def _locate(name: str, source: dict[str, Any], given: str | Path | None, beside: Path) -> str:
    if given is not None:
        return str(given)
    if source["path"] is None:
        raise TableError(f"the {name} table was a frame in memory, not a file", hint=f"give its file with --{name}")
    for path in (Path(source["path"]), beside / source["path"], beside / Path(source["path"]).name):
        if path.exists():
            return str(path)
    raise TableError(f"the {name} table is not at {source['path']}", hint=f"say where it is with --{name}")


def _recipients(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The report's recipients, each with the limits that it had."""
    found = []
    for entry in manifest.get("recipients", ()):
        limits = entry["audience"]
        policy, _ = Policy.recorded(limits["name"], limits["description"], limits["thresholds"], PersonRisk.keys)
        found.append({**entry, "audience": policy})
    return found


def _compare(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = [] if old["verdict"] == new["verdict"] else [f"the verdict was {old['verdict']}, is {new['verdict']}"]
    verdicts = [{entry["name"]: entry["verdict"] for entry in side.get("recipients", ())} for side in (old, new)]
    found += [
        f"the verdict for {name!r} was {word}, is {verdicts[1].get(name)}"
        for name, word in verdicts[0].items()
        if verdicts[1].get(name) != word
    ]
    before, after = ({f["key"]: f for f in side["findings"]} for side in (old, new))
    for key in sorted({*before, *after}):
        if key not in before or key not in after:
            found.append(f"finding {key} is only in the {'report' if key in before else 'new run'}")
        elif before[key]["estimate"] != after[key]["estimate"]:
            values = [(side[key]["estimate"] or {}).get("value") for side in (before, after)]
            told = f"is {values[1]}" if values[0] != values[1] else "still is, with another interval or outcome"
            found.append(f"finding {key} was {values[0]}, {told}")
    risks = [{entry["row"]: entry["risks"] for entry in side["exposed"]} for side in (old, new)]
    if risks[0] != risks[1]:
        found.append("the most exposed people, or their risks, are not the same")
    return found


def _versions(old: dict[str, str], new: dict[str, str]) -> list[str]:
    return [
        f"{name} was {old.get(name)}, is {new[name]}"
        for name in new
        if old.get(name) != new[name] and (name in old or name != KERNELS)  # older reports do not say
    ]
