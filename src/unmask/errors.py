"""What unmask says when it cannot go on: one base, and a message that lets the reader repair it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UnmaskError(ValueError):
    """Base of every error of ours. The message says what, what was got, what is allowed, and a hint."""

    def __init__(
        self, what: str, *, got: str | None = None, allowed: str | None = None, hint: str | None = None
    ) -> None:
        self.what, self.got, self.allowed, self.hint = what, got, allowed, hint
        parts = [what]
        parts += [f"got: {got}"] if got else []
        parts += [f"allowed: {allowed}"] if allowed else []
        parts += [f"hint: {hint}"] if hint else []
        super().__init__("\n  ".join(parts))


class TableError(UnmaskError):
    """A table cannot be read, written or compared."""


class RoleError(UnmaskError):
    """A column was given a role that it cannot have."""


class ParameterError(UnmaskError):
    """An option has a value that is not allowed."""


class EngineError(UnmaskError):
    """The work cannot be done where it was asked to be done: memory, a missing component, no convergence."""


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint that names the nearest known word, or nothing."""
    by_lower = {word.lower(): word for word in known}
    close = get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.5)
    return f"did you mean {by_lower[close[0]]!r}?" if close else None
