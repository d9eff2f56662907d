"""KEEP: what is left of the data after masking.

Each function takes an original and a release, as files or frames, and says how far a statistic has moved: single
columns, means and correlations, or how well a model tells the two tables apart.
"""

from unmask.utility.marginals import compare_marginals
from unmask.utility.moments import compare_moments
from unmask.utility.propensity import propensity_score

__all__ = ["compare_marginals", "compare_moments", "propensity_score"]
