"""Sample uniques: counts over every set of attributes, and each record's minimal unique sets (SUDA2).

Both take the distinct key combinations as codes and the number of records of each; bit k of a mask stands for column k.
"""

from unmask.kernels.uniques.special import WorkBoundError, minimal_uniques
from unmask.kernels.uniques.subsets import subset_counts

__all__ = ["WorkBoundError", "minimal_uniques", "subset_counts"]
