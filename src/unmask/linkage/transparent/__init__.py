"""The intruder who knows how the release was made.

`link_transparent` reads the description of the masking and asks which people could have become a record by it; makings
without chance are run again, chains are followed step by step.
"""

from unmask.linkage.transparent.measure import link_transparent

__all__ = ["link_transparent"]
