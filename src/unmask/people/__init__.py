"""PEOPLE: one probability of being found for each person, how far it can be relied on, and which groups bear it.

`risk_of_people` turns what the attacks found in one draw of the masking into how often the best of them finds each
person (`PersonRisk`, with its reliability on held-out people, in bins: `Bin`). `risk_by_group` splits people by a
column (`check_by` refuses one that is not there), and `uneven` says in a line when one of all groups bears far more.
It also says how many are above a risk, for the policy to judge.
`explain_person` tells what gives one person away and what would hide them (`PersonStory`); `hiding_list` sums that up,
and `stories_of` tells those of several people for a report.
"""

from unmask.people.calibration import Bin
from unmask.people.groups import Found, RiskByGroup, check_by, risk_by_group, uneven
from unmask.people.risk import PersonRisk, risk_of_people
from unmask.people.story import PersonStory, explain_person, hiding_list, stories_of

__all__ = [
    "Bin", "Found", "PersonRisk", "PersonStory", "RiskByGroup", "check_by", "explain_person", "hiding_list",
    "risk_by_group", "risk_of_people", "stories_of", "uneven",
]  # fmt: skip
