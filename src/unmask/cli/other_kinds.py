"""Options of `unmask assess` that do not go with every kind of release: refused, so that none is without effect."""

from __future__ import annotations

from dataclasses import MISSING, fields

from unmask.cli.options import Reading, Tables
from unmask.cli.output_options import Reporting
from unmask.errors import ParameterError

ALWAYS = {entry.name for kind in (Reading, Reporting) for entry in fields(kind)} | {
    "original", "released", "ignored", "policy", "config", "seed", "show_values",
}  # fmt: skip


def refuse_others(options: Tables, allowed: set[str], words: str, hint: str = "leave them out") -> None:
    """Refuse options that were given and say nothing about this kind of release."""
    given = [entry.name for entry in fields(options) if entry.name not in ALWAYS | allowed and _given(options, entry)]
    if given:
        raise ParameterError(words, got=", ".join(f"--{name.replace('_', '-')}" for name in given), hint=hint)


def _given(options: Tables, entry: object) -> bool:
    usual = entry.default if entry.default_factory is MISSING else entry.default_factory()  # type: ignore[attr-defined]
    return bool(getattr(options, entry.name) != usual)  # type: ignore[attr-defined]
