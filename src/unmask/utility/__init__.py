"""KEEP: what is left of the data after masking."""

from unmask.utility.marginals import Marginals, compare_marginals
from unmask.utility.moments import Moments, compare_moments
from unmask.utility.propensity import Propensity, propensity_score

__all__ = ["Marginals", "Moments", "Propensity", "compare_marginals", "compare_moments", "propensity_score"]
