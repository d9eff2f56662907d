"""JUDGE: what was measured, how sure that is, what the policy allows, and what follows.

A method registers itself with `measure` and hands over `Evidence`: observations with an `Estimate` each, facts, figures
as data. A `Policy` knows every limit, with its reason; the verdict is a pure function of evidence and policy. Nothing
here knows a table, an attack or a screen.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
