"""Sample uniques: counts over every set of attributes, and each record's minimal unique sets (SUDA2).

They take the distinct key combinations as codes and the number of records of each; bit k of a mask is column k.
`find_claims` finds small ones among the different rows of a table (`group_rows`), and who carries their values.
"""

from unmask.kernels.uniques.claims import find_claims
from unmask.kernels.uniques.kinds import group_rows
from unmask.kernels.uniques.special import WorkBoundError, minimal_uniques
from unmask.kernels.uniques.subsets import subset_counts

__all__ = ["WorkBoundError", "find_claims", "group_rows", "minimal_uniques", "subset_counts"]
