"""KEEP: what is left of the data after masking.

Each function takes an original and a release, as files or frames, and says how far a statistic has moved: single
columns, means and correlations, how well a model tells the two tables apart or learns from the release, or the user's
own analyses. `summarise_utility` is all of them, as a report shows it beside the risk.
"""

from unmask.utility.analyses import Kept, compare_analyses
from unmask.utility.information_loss import information_loss
from unmask.utility.left import Left, what_is_left
from unmask.utility.marginals import compare_marginals
from unmask.utility.moments import compare_moments
from unmask.utility.prediction import compare_predictions
from unmask.utility.propensity import propensity_score
from unmask.utility.summary import UtilityEntry, summarise_utility

__all__ = [
    "Kept", "Left", "UtilityEntry", "compare_analyses", "compare_marginals", "compare_moments",
    "compare_predictions", "information_loss", "propensity_score", "summarise_utility", "what_is_left",
]  # fmt: skip
