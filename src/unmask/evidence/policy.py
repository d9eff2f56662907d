"""Every threshold, where it comes from and why: a policy is a TOML file, and the built-in ones are profiles.

A policy file may begin with ``extends = "public"`` and change single thresholds::

    extends = "public"
    name = "our hospital"

    [thresholds."nearest.rate"]
    value = 0.05
    reason = "small rare-disease register"
    source = "board decision 2026-03"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import resources
from math import ceil
from pathlib import Path
from typing import Any

from unmask.errors import ParameterError, did_you_mean
from unmask.evidence.catalogue import meant
from unmask.evidence.crowds import GROUPS
from unmask.evidence.custom import called, changes, claimed, described, digest_of
from unmask.evidence.estimate import Z95
from unmask.schemas import KEY, check_form
from unmask.shares import percent

PROFILES = ("public", "partner", "internal")  # by who will hold the file; without a choice, the first
VARIANTS = ("strict",)  # profiles of earlier versions that have limits of their own
ALIASES = {"default": "public", "clinical": "public", "0.09": "public"}  # names of earlier versions
NAMES = (*PROFILES, *VARIANTS, *ALIASES)
NEAR_NOTHING = 0.01  # of the people, by a blind guess


@dataclass(frozen=True, slots=True)
class Threshold:
    """The largest rate that the policy accepts for one kind of finding, with its reason and source.

    ``people``: the most people of whom it may be true, whatever their share; None: no number. ``groups``: the group
    that everybody may count on, so that the largest risk of one person is 1/groups.
    """

    value: float
    reason: str
    source: str
    people: int | None = None
    groups: int = GROUPS

    @property
    def words(self) -> str:
        """The limit in a few words: a share, a number of people, or both."""
        share = "" if self.value >= 1 else percent(self.value)
        number = "" if self.people is None else f"{self.people or 'no'} people (groups of {self.groups})"
        return " and ".join(filter(None, (share, number))) or "none"

    def allows(self, key: str, chance: float) -> float:
        """The largest rate that is within the limit: beyond what a blind guess finds, for keys that count from it.

        A blind guess that finds less than one in a hundred is as good as nothing, and the limit stays a round figure.
        """
        return self.value + (chance if chance >= NEAR_NOTHING and beyond_chance(key) else 0.0)


@dataclass(frozen=True, slots=True)
class Policy:
    """A named set of thresholds."""

    name: str
    description: str
    thresholds: dict[str, Threshold]
    core: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # attacks without which nothing is safe, by kind
    profile: str = ""  # of a policy file: the built-in profile that it extends, or else is held against

    @classmethod
    def load(cls, source: str | Path | None = None) -> Policy:
        """Load a built-in profile by name, or a TOML file by path; None is for a file that anybody may have."""
        name = ALIASES.get(str(source), str(source)) if source is not None else PROFILES[0]
        if name in NAMES:
            return _profile(name)
        path = Path(name)
        if path.suffix != ".toml":
            raise ParameterError(
                f"no policy {name!r}",
                allowed=f"{', '.join(PROFILES)}, {', '.join(VARIANTS)}, or the path of a .toml file",
                hint=did_you_mean(name, NAMES),
            )
        return _from_toml(_load_toml(path), str(path), path.parent, (str(path.resolve()),))

    @classmethod
    def recorded(
        cls, name: str, description: str, limits: Mapping[str, Any], keys: Iterable[str]
    ) -> tuple[Policy, list[str]]:
        """The policy of a report, with limits of its profile for ``keys`` that were not there yet.

        Told are these, another name of the profile, and limits that the profile has otherwise now.
        """
        profile = cls.load(name if name in NAMES else None)
        known, keys = {key: Threshold(**limit) for key, limit in limits.items()}, tuple(keys)
        new = {key: profile.threshold(key) for key in keys if key not in known}
        told = [f"policy {name!r} is called {ALIASES[name]!r} now"] if name in ALIASES else []
        told += [f"figure {key!r} is new: its limit is that of the profile {profile.name!r}" for key in new]
        if name in NAMES:
            told += [
                f"limit {key!r} was {limit.words}, is {profile.threshold(key).words} now; the report's own is used"
                for key, limit in known.items()
                if key in keys and limit.words != profile.threshold(key).words
            ]
        return cls(name, description, known | new, profile.core), told

    def threshold(self, key: str) -> Threshold:
        """Return the threshold for a key; a missing one is an error, since silence must not read as safety."""
        if key not in self.thresholds:
            raise ParameterError(
                f"policy {self.name!r} has no threshold for {key!r}",
                allowed=", ".join(sorted(self.thresholds)),
                hint='add it, or begin the file with extends = "public"',
            )
        return self.thresholds[key]

    @property
    def calls_itself(self) -> str:
        """The name that a policy gives itself, which may be that of a profile."""
        return claimed(self.name)

    @property
    def changed(self) -> tuple[str, ...]:
        """Limits of a policy file that are not those of its profile; none of a built-in one."""
        return changes(self.thresholds, _profile(self.profile).thresholds) if self.profile else ()

    def told(self) -> dict[str, Any]:
        """The policy as a report keeps it: by its name, which a built-in one alone has, its digest and its limits."""
        limits = {key: asdict(limit) for key, limit in self.thresholds.items()}
        own = {"profile": self.profile, "changed": list(self.changed)} if self.profile else {}
        return {"name": self.name, "digest": digest_of(self.thresholds), **own, "thresholds": limits}

    def for_averages(self) -> Policy:
        """The same without limits on single people: these are shown, and only averages are judged."""
        open_ = {
            key: Threshold(1.0, "shown for information: this intruder wants many people, not one", limit.source)
            for key, limit in self.thresholds.items()
            if of_single_people(key)
        }
        return replace(self, thresholds={**self.thresholds, **open_})

    def least_people(self, kind: str) -> int:
        """From how many people on "safe" can be said: where nobody is found and all core limits are met even so.

        ``kind`` of release: "paired" or "synthetic". The upper end of 0 out of n is z²/(n + z²) [WILSON]_.
        """
        core = self.core.get(kind, ())
        limits = [t.value for key, t in self.thresholds.items() if key.partition(".")[0] in core and 0 < t.value < 1]
        return ceil(Z95**2 * (1 / min(limits) - 1)) if limits else 1

    def too_few(self, kind: str, n: int, besides: int = 0) -> tuple[str, ...]:
        """Say so where n people are too few for "safe"; ``besides``: people more that are needed."""
        least = self.least_people(kind) + besides
        told = f'the policy "{self.name}" can say "safe" only from {least:,} people on, and these are {n:,}'
        return (told,) if n < least else ()


def _load_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise ParameterError(f"no policy file at {path}", hint=f"built-in profiles: {', '.join(PROFILES)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ParameterError(f"{path} is not a readable TOML file", got=str(error).split("\n")[0]) from None


@cache
def _table() -> dict[str, Any]:
    text = resources.files("unmask.evidence").joinpath("policies.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _profile(name: str) -> Policy:
    """One column of the table of built-in profiles."""
    table = _table()
    told = table["variants"].get(name, {"of": name, "told": table["profiles"].get(name)})

    def column(entry: Any) -> Any:  # noqa: ANN401 - one value for all profiles, or one for each
        by = entry if isinstance(entry, dict) else {"all": entry}
        return next((by[column] for column in (name, told["of"], "all") if column in by), None)

    def limit(kind: dict[str, Any]) -> Threshold:
        value, source = column(kind.get("limit", {})), column(kind["source"])
        reason = column(kind["reason"])
        people, groups = column(kind.get("people", {})), column(kind.get("groups", GROUPS))
        share = 1.0 if value is None else float(value)
        return Threshold(share, reason, table["sources"].get(source, source), people, groups)

    thresholds = {key: limit(table["kinds"][kind]) for key, kind in table["limits"].items()}
    return Policy(name, told["told"], thresholds, _core())


def kind_of(key: str) -> str:
    """What a figure counts, in every policy alike: "found", "known" ..; empty for one that no profile knows."""
    return str(_table()["limits"].get(key, ""))


def of_single_people(key: str) -> bool:
    """Whether a limit looks at single people, not at an average."""
    return kind_of(key) in _table()["worst"]["kinds"]


@cache
def beyond_chance(key: str) -> bool:
    """Whether a limit is for what an attack finds beyond a blind guess, in every policy alike."""
    kind = _table()["limits"].get(key)
    return bool(kind is not None and _table()["kinds"][kind].get("beyond_chance", False))


def _core() -> dict[str, tuple[str, ...]]:
    """The attacks that "safe" needs, for every policy alike: a policy file sets limits, not what was tried."""
    return {kind: tuple(names) for kind, names in _table()["core"].items()}


def _base(name: str, folder: Path, chain: tuple[str, ...]) -> Policy:
    """Return the policy that another extends; a path is relative to the folder of that other."""
    if not name.endswith(".toml"):
        return Policy.load(name)
    path = (folder / name).resolve()
    if str(path) in chain:
        raise ParameterError(f"policy {path.name} extends itself", hint='begin with extends = "public"')
    return _from_toml(_load_toml(path), str(path), path.parent, (*chain, str(path)))


def _from_toml(data: dict[str, Any], where: str, folder: Path = Path(), chain: tuple[str, ...] = ()) -> Policy:
    check_form("policy", data.get(KEY), where, ParameterError)
    unknown = set(data) - {KEY, "name", "description", "extends", "thresholds"}
    if unknown:
        word = min(unknown)
        raise ParameterError(
            f"unknown key {word!r} in {where}",
            allowed="name, description, extends, thresholds",
            hint=did_you_mean(word, ["name", "description", "extends", "thresholds"]),
        )
    below = _base(str(data["extends"]), folder, chain) if "extends" in data else None
    base = below.thresholds if below is not None else {}
    own = data.get("thresholds", {})
    if not isinstance(own, dict):
        raise ParameterError(f"'thresholds' in {where} is not a table", hint='[thresholds."nearest.rate"]')
    if len(twice := {meant(key) for key in own}) < len(own):
        key = next(key for key in sorted(twice) if [meant(other) for other in own].count(key) > 1)
        raise ParameterError(f"{where} sets the threshold {key!r} twice, under two names", hint="leave one of them")
    own = {meant(key): entry for key, entry in own.items()}
    thresholds = {**base, **{key: _threshold(key, entry, where) for key, entry in own.items()}}
    if not thresholds:
        raise ParameterError(f"{where} holds no thresholds", hint='begin the file with extends = "public"')
    known = {**base, **_table()["limits"]}
    for key in own:
        if key not in known:
            raise ParameterError(
                f"{where} sets a threshold that no measure uses: {key!r}",
                allowed=", ".join(sorted(known)),
                hint=did_you_mean(key, known),
            )
    name, profile = str(data.get("name", Path(where).name)), _beside(below, str(data.get("name", "")))
    words = described(str(data.get("description", "")), thresholds, _profile(profile).thresholds, profile)
    return Policy(called(name), words, thresholds, _core(), profile)


def _beside(below: Policy | None, name: str) -> str:
    """The built-in profile that a policy file is held against: what it extends, else what it is called like."""
    if below is not None:
        return below.profile or below.name
    return ALIASES.get(name, name) if name in NAMES else PROFILES[0]


def _threshold(key: str, entry: object, where: str) -> Threshold:
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("value"), (int, float))
        or isinstance(entry.get("value"), bool)
    ):
        raise ParameterError(
            f"threshold {key!r} in {where} has no number", allowed="value = 0.09, with reason and source"
        )
    value = float(entry["value"])
    if not 0 <= value <= 1:
        raise ParameterError(
            f"threshold {key!r} in {where} is not a rate", got=str(value), allowed="a number from 0 to 1"
        )
    missing = [word for word in ("reason", "source") if not str(entry.get(word, "")).strip()]
    if missing:
        raise ParameterError(
            f"threshold {key!r} in {where} has no {' and no '.join(missing)}", hint="say why: the report prints it"
        )
    counts = {word: entry[word] for word in ("people", "groups") if word in entry}
    for word, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < (word == "groups"):
            raise ParameterError(
                f"{word} of threshold {key!r} in {where} is not a number of people",
                got=repr(count),
                allowed=f"a whole number from {int(word == 'groups')} on",
            )
    return Threshold(value, str(entry["reason"]), str(entry["source"]), **counts)
