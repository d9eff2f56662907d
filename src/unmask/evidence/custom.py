"""A policy that is not a built-in one says so wherever it is named, with a digest and with what it changes.

Otherwise a file that calls itself "strict" and allows everything would be read as the strict profile.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.evidence.policy import Threshold

MARK = " (custom)"
SHOWN = 12  # digits of a digest in a sentence; the JSON has all
MOST = 3  # changes that are told in a sentence


def called(name: str) -> str:
    """The name under which a policy file is shown: never that of a built-in profile."""
    return name if name.endswith(MARK) else f"{name}{MARK}"


def claimed(name: str) -> str:
    """The name that a policy gave itself."""
    return name.removesuffix(MARK)


def digest_of(limits: Mapping[str, Threshold]) -> str:
    """SHA-256 of every limit that judges, and of nothing else: the same limits have the same digest."""
    told = {key: [limit.value, limit.people, limit.groups] for key, limit in limits.items()}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def changes(limits: Mapping[str, Threshold], base: Mapping[str, Threshold]) -> tuple[str, ...]:
    """Each limit that is not that of a profile: what it is, and what the profile has."""
    found = []
    for key in sorted({*limits, *base}):
        now, before = limits.get(key), base.get(key)
        here, there = ("not set" if one is None else one.words for one in (now, before))
        if here != there:
            found.append(f"{key} is {here} instead of {there}")
    return tuple(found)


def described(words: str, limits: Mapping[str, Threshold], base: Mapping[str, Threshold], profile: str) -> str:
    """What a policy file says of itself, and then what it is: its digest, the profile beside it, what it changes."""
    found = changes(limits, base)
    more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
    told = f"It changes {len(found)} limit{'' if len(found) == 1 else 's'}: {'; '.join(found[:MOST])}{more}."
    same = "It changes no limit."
    own = f"{words.rstrip().removesuffix('.')}. " if words.strip() else ""
    digest = f"digest {digest_of(limits)[:SHOWN]}"
    return f'{own}A policy file ({digest}), held against the profile "{profile}". {told if found else same}'
