"""Judges what came of an input: what must never happen, whatever was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.columns import DIGITS, WORD

if TYPE_CHECKING:
    from fuzz.inputs import Input
    from fuzz.running import Said

ITSELF = "an error of unmask itself"
CODES = (0, 1, 2, 3)


def faults(given: Input, said: Said, again: Said | None = None) -> list[str]:
    """What is wrong, in words; nothing for most."""
    found = []
    text = "\n".join(said.messages)
    if said.outcome in {"traceback", "hang"} or "Traceback (most" in text:
        found.append(f"{said.outcome}: {said.where.strip().splitlines()[-1] if said.where else 'in what was printed'}")
    if said.code is not None and said.code not in CODES:
        found.append(f"exit code {said.code}")
    if said.warned or "Warning:" in text:
        found.append(f"warning: {'; '.join(said.warned) or 'in what was printed'}")
    if any(said.under):
        found.append(f"written past Python: {said.under[0].strip().splitlines()[0][:80]}")
    if ITSELF in text:
        found.append(f"{ITSELF}: {text.split(ITSELF)[1][:40].split(')')[0]})")
    if given.canary and (WORD in text or DIGITS in text.replace(",", "").replace("_", "")):
        found.append("a value in a message")
    if again is not None and (said.outcome, said.messages) != (again.outcome, again.messages):
        found.append("another result the second time")
    return found
