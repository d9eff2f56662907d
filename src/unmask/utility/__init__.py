"""KEEP: what is left of the data after masking.

Each function takes an original and a release, as files or frames, and says how far a statistic has moved: single
columns, means and correlations, how well a model tells the two tables apart, or the user's own analyses.
"""

from unmask.utility.analyses import Kept, compare_analyses
from unmask.utility.left import what_is_left
from unmask.utility.marginals import compare_marginals
from unmask.utility.moments import compare_moments
from unmask.utility.propensity import propensity_score

__all__ = ["Kept", "compare_analyses", "compare_marginals", "compare_moments", "propensity_score", "what_is_left"]
