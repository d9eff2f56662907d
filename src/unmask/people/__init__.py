"""PEOPLE: one probability of being found for each person, how far it can be relied on, and which groups bear it.

`risk_of_people` turns what the attacks found in one draw of the masking into how often the best of them finds each
person (`PersonRisk`, with its reliability on held-out people).
"""

from unmask.people.risk import PersonRisk, risk_of_people

__all__ = ["PersonRisk", "risk_of_people"]
