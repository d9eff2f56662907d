"""PROTECT: what to change so that a release becomes safe.

`fix_list` searches for the cheapest changes after which nobody stands in a smaller crowd than wanted: columns made
coarser, cells suppressed. A `Fix` is one of them, with what it costs.
"""

from unmask.protect.plan import Fix, fix_list

__all__ = ["Fix", "fix_list"]
