"""INTAKE: are these the right two tables, read in the right way?

Before any attack: do paired rows belong together (``pairing``), how is each column written in both files and whose own
value does the release contain (``columns``), which columns name people (``identifiers``). ``check`` answers all three;
`Check` has the findings that no "safe" may ignore, and the roles that the columns suggest.
"""

from unmask.intake.check import Check, check, readable

__all__ = ["Check", "check", "readable"]
