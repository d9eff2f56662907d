"""Sample uniques: counts over every set of attributes, and each record's minimal unique sets (SUDA2).

They take the distinct key combinations as codes and the number of records of each; bit k of a mask is column k.
`find_holders` looks up who carries the values of some records that are all different.
"""

from unmask.kernels.uniques.holders import find_holders
from unmask.kernels.uniques.special import WorkBoundError, minimal_uniques, uniques_by_set
from unmask.kernels.uniques.subsets import subset_counts

__all__ = ["WorkBoundError", "find_holders", "minimal_uniques", "subset_counts", "uniques_by_set"]
