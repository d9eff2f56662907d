"""The facts of an attack in the report: names in words with the field's code in small type, shares as percent."""

from __future__ import annotations

from unmask.evidence import Fact
from unmask.report.words import number, percent

WORDS = {  # the field's codes, and what each counts
    "ALC": "anonymity lost",
    "DCAP": "mean share of right rows",
    "DDMBAR": "told by a model without the person",
    "DIS": "a unique match is right",
    "DR_min": "records that are alone",
    "DR_pr": "found by guessing in groups",
    "DR_thr": "the same, for uneven groups",
    "DiS": "told one value",
    "DiSCO": "told their own value",
    "DiSCO_fresh": "told their own value, by other people",
    "DiSCO_half": "told their own value, half of the rows",
    "DiSCO_outside": "told their own value, people outside",
    "DiSDiO": "told what all like them have",
    "P(PU|SU)": "alone here, and in the population",
    "Reid_k": "found by guessing in the anonymity set",
    "SADR": "published as they are",
    "TCAP": "right among those who are told one value",
    "UiO": "alone in the original",
    "WEAP": "agreement within the release",
    "adr": "guessed right without the person's row",
    "alpha": "commonest value of a group",
    "distinct": "different values in a group",
    "entropy": "effective values in a group",
    "groups G": "different combinations",
    "iS": "keys that stand in the release",
    "k": "smallest group",
    "largest_risk": "largest risk of one person",
    "people N": "people of the population",
    "repU": "replicated uniques",
    "repU_fresh": "replicated uniques, by other people",
    "repU_half": "replicated uniques, half of the rows",
    "repU_outside": "replicated uniques, people outside",
    "t": "distance of a group from the file",
    "tau1": "people alone here, and in the population",
    "tau2": "right links of people who are alone here",
}


def named(name: str) -> tuple[str, str]:
    """The name of a fact in words, and the code that the field has for it; no code where there is none."""
    of, colon, last = name.rpartition(": ")
    code = next((c for c in WORDS if last == c or last.startswith((f"{c} ", f"{c},"))), "")
    return (f"{of}{colon}{WORDS[code]}{last.removeprefix(code)}", code) if code else (name, "")


def shown(fact: Fact) -> str:
    """The value of a fact: shares as percent, other numbers without powers of ten."""
    if isinstance(fact.value, str):
        return fact.value
    return percent(fact.value) if fact.share else number(fact.value)
