"""The names of all measures: by family, with what each needs and the other names that it answers to.

Light on purpose: the command line lists them and a policy reads them before anything heavy is imported. What a measure
does is told where it is written; a test holds this table against the register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple


class Entry(NamedTuple):
    """What a measure needs besides two tables, and acronyms and former names that mean it."""

    needs: str
    aliases: tuple[str, ...] = ()


PAIRS = "rows that belong together"
UNPAIRED = (  # why a measure that needs them does not apply
    "the release is synthetic, or its rows do not seem to belong to those of the original: no row is known to be made "
    "from one person, so there is no true record to compare with"
)
NO_ORIGINAL = "it compares the release with its original, and none was given"
SECRET = f"{PAIRS}; a confidential column in both tables (--confidential)"
OUTSIDERS = "people who are not in the release (--control, or an original with more people)"

FAMILIES: dict[str, dict[str, Entry]] = {  # family: measures, the plainest first
    "linkage": {
        "nearest": Entry(PAIRS, ("distance", "dbrl", "nearest_neighbour")),
        "one_to_one": Entry(PAIRS, ("global", "gdbrl", "assignment")),
        "probabilistic": Entry(PAIRS, ("fellegi_sunter",)),
        "learned": Entry(PAIRS, ("worst_case",)),
        "transparent": Entry(f"{PAIRS}; how the release was made (--masking)", ("transparency",)),
        "channel": Entry(PAIRS),
        "likelihood": Entry(PAIRS),
        "clusters": Entry(f"{PAIRS}; who lives together, in both tables (--household)", ("group_linkage",)),
        "knowledge_curve": Entry(PAIRS, ("scenario",)),
        "earlier": Entry(f"{PAIRS}; releases that are published already (--with)", ("publications", "successive")),
    },
    "graph": {
        "graph": Entry(f"{PAIRS}; places or published distances (--coordinates, --distances)", ("kroll",)),
    },
    "maximum knowledge": {
        "dictionary": Entry(PAIRS),
        "permuted": Entry(PAIRS),
        "attribute_test": Entry(SECRET, ("attribute",)),
    },
    "groups": {
        "uniqueness": Entry(PAIRS),
        "special_uniques": Entry(PAIRS, ("special", "suda2", "suda")),
        "knowledge_sweep": Entry(PAIRS, ("knowledge",)),
        "anonymity": Entry(SECRET, ("k_anonymity", "l_diversity", "t_closeness")),
        "population": Entry(f"{PAIRS}; a register, a number of people (--population) or a weight (--weight)"),
        "household": Entry(f"{PAIRS}; a column that says who lives together (--household)", ("households",)),
        "magnitude": Entry(f"{PAIRS}; a confidential amount in both tables", ("dominance", "p_percent")),
    },
    "disclosure": {
        "cells": Entry(SECRET, ("cell_attacks",)),
        "intervals": Entry(f"{PAIRS}; a column of numbers", ("interval", "rid", "sdid")),
        "values": Entry(f"{PAIRS}; a column of categories", ("value", "sadr")),
        "model": Entry(SECRET, ("adr",)),
        "absent": Entry(f"{PAIRS}; a confidential column of the original", ("ddmbar",)),
        "inference": Entry(f"a confidential column in both tables; {OUTSIDERS}", ("attribute_inference",)),
        "membership": Entry(f"{OUTSIDERS}, or how the release was made (--masking)", ("mia",)),
        "singling": Entry(OUTSIDERS, ("singling_out",)),
        "linkability": Entry(f"two columns or more; {OUTSIDERS}", ("bridge",)),
        "keys": Entry("a synthetic release (--synthetic)", ("disco", "repu", "synthpop", "dcap", "tcap")),
        "copies": Entry(f"a synthetic release (--synthetic); {OUTSIDERS}", ("synthetic", "dcr")),
    },
}
HEADINGS: dict[str, tuple[str, ...]] = {  # the three questions of WP216 [WP29]_, and the measures that answer each
    "singling out": (
        "uniqueness", "special_uniques", "knowledge_sweep", "anonymity", "population", "household", "singling",
        "copies",
    ),
    "linkability": (
        "nearest", "one_to_one", "probabilistic", "learned", "transparent", "channel", "likelihood", "clusters",
        "knowledge_curve", "earlier", "graph", "dictionary", "permuted", "linkability",
    ),
    "inference": (
        "cells", "magnitude", "intervals", "values", "model", "absent", "inference", "membership", "keys",
        "attribute_test",
    ),
}  # fmt: skip
OF_NETWORKS = {  # attacks on networks, which are no release of records
    "degree": "singling out", "neighbours": "singling out", "colours": "singling out",
    "propagation": "linkability", "profiles": "linkability",
}  # fmt: skip
OF_PERSONS = {  # attacks on people with many rows, who are no records
    "alike": "singling out", "points": "singling out", "sequences": "singling out",
    "bags": "linkability", "taught": "linkability", "shared": "inference", "presence": "inference",
}  # fmt: skip
RELEASE_ALONE = frozenset(  # measures that need no original: values are then taken as people's own
    {"anonymity", "cells", "graph", "household", "knowledge_sweep", "population", "special_uniques", "uniqueness"}
)
LABELS: dict[str, str] = {  # each measure in at most three words, for tables: with its figure it fits 26 letters
    "nearest": "Nearest record",
    "one_to_one": "One-to-one matching",
    "probabilistic": "Probabilistic",
    "learned": "Learned distance",
    "transparent": "Known masking",
    "channel": "Learnt masking",
    "likelihood": "Blind likelihood",
    "clusters": "Whole households",
    "knowledge_curve": "Half of the columns",
    "earlier": "All releases",
    "graph": "Distances alone",
    "dictionary": "Dictionary test",
    "permuted": "Permuted test",
    "attribute_test": "Attribute test",
    "uniqueness": "Exact match",
    "special_uniques": "Special uniques",
    "knowledge_sweep": "Worst three columns",
    "anonymity": "Small groups",
    "population": "Population",
    "household": "Household members",
    "magnitude": "Amounts",
    "cells": "Alike groups",
    "intervals": "Numbers",
    "values": "Categories",
    "model": "Model of a secret",
    "absent": "Unpublished secret",
    "inference": "Attribute inference",
    "membership": "Membership",
    "singling": "Singling out",
    "linkability": "Two files linked",
    "copies": "Copies",
    "keys": "Shared keys",
    "tables": "Published tables",
    "degree": "Ties",
    "neighbours": "Friends",
    "colours": "Surroundings",
    "propagation": "From known people",
    "profiles": "Network profiles",
    "alike": "Same rows",
    "bags": "All rows",
    "taught": "Rows, taught",
    "points": "A few points",
    "sequences": "Sequences",
    "shared": "Shared by candidates",
    "presence": "Presence",
    "check": "The two tables",
    "columns": "Columns compared",
}
FIGURES: dict[str, str] = {  # what a figure counts, by the end of its key; nothing where a measure has one alone
    "rate": "found",
    "average": "found",
    "people": "people",
    "found": "found",
    "known": "known",
    "linked": "linked",
    "unique": "alone",
    "learnt": "learnt",
    "ks": "in all",
    "minimum": "at worst",
    "external": "outsider",
    "internal": "insider",
    "rare": "rare",
    "closer": "closer",
    "exact": "exact",
    "whole": "whole file",
    "denoised": "denoised",
    "rank": "by rank",
    "sd": "by sd",
    "dominated": "dominated",
    "estimable": "estimable",
    "auc": "told apart",
    "tpr": "recognised",
    "replicated": "replicated",
    "disclosed": "disclosed",
    "excess": "all",
    "across": "second",
    "claimed": "sure",
    "small": "small groups",
    "tables.small": "small cells",
    "within": "recomputed",
}
ALONE = frozenset(  # keys of measures with one figure: the label says it all
    {"anonymity.small", "graph.rate", "household.rate", "knowledge_curve.half", "knowledge_sweep.rate", "learned.rate",
     "singling.excess", "special_uniques.rate", "values.rate"}
)  # fmt: skip
LACKING: dict[str, str] = {  # what an option of the needs would have given
    "--masking": "the masking method",
    "--control": "outsiders",
    "--with": "earlier releases",
    "--population": "the population",
    "--weight": "",
    "--household": "households",
    "--coordinates": "places",
    "--distances": "",
    "--confidential": "confidential columns",
    "--synthetic": "",
}
ENTRIES: dict[str, Entry] = {name: entry for measures in FAMILIES.values() for name, entry in measures.items()}
FORMER = {  # new name: name up to version 0.1; draws of randomness still follow the old one
    "one_to_one": "global",
    "knowledge_curve": "scenario",
    "special_uniques": "special",
    "knowledge_sweep": "knowledge",
    "cells": "cell_attacks",
}
CLOSE = 0.6  # likeness from which a name is offered


def page_of(name: str) -> str:
    """Page of the documentation about a measure."""
    return f"docs/measures/{name}.md"


def name_of(key: str) -> str:
    """A measure, or one of its figures (``nearest.known``), in words: "Nearest record: known"."""
    measure, _, figure = key.partition(".")
    label = LABELS.get(measure, measure.replace("_", " ").capitalize())
    if not figure or key in ALONE:
        return label
    return f"{label}: {FIGURES.get(key) or FIGURES.get(figure, figure.replace('_', ' '))}"


def needs_of(measure: str, reason: str = "") -> tuple[str, ...]:
    """What would let a measure run besides two paired tables, in words; pairs where the reason is that there are none.

    Without pairs nothing else that could be given would let it run.
    """
    if reason in {UNPAIRED, NO_ORIGINAL}:
        return (PAIRS if reason == UNPAIRED else "an original",)
    if reason.startswith("no confidential"):
        return (LACKING["--confidential"],)
    needs = ENTRIES[measure].needs if measure in ENTRIES else ""
    return tuple(LACKING[flag] for flag in re.findall(r"--[a-z]+", needs) if LACKING.get(flag))


def heading_of(key: str) -> str | None:
    """The question of WP216 that a measure or a figure answers; None for a finding about the tables themselves."""
    measure = key.partition(".")[0]
    if measure == "tables" and key != measure:
        return "singling out" if key == "tables.small" else "inference"
    return (OF_NETWORKS | OF_PERSONS).get(measure) or next(
        (heading for heading, names in HEADINGS.items() if measure in names), None
    )


def family_of(measure: str) -> str | None:
    """The family of a measure; None for a finding about the tables themselves."""
    return next((family for family, measures in FAMILIES.items() if measure in measures), None)


def meant(name: str) -> str:
    """Present name of a measure, or of one of its figures (``dbrl.rate``), for an alias or a former name of it."""
    word, dot, figure = name.partition(".")
    return next((known for known, entry in ENTRIES.items() if word in entry.aliases), word) + dot + figure


def guess(name: str, titles: Mapping[str, str]) -> str | None:
    """Hint at the measure that was probably meant: by its name, another name of it, or a word of its title.

    ``titles``: title by name of every measure there is.
    """
    scored = [
        (weight * _likeness(name, words), measure, spelling)
        for measure, title in titles.items()
        for weight, spelling, words in _spellings(measure, title)
    ]
    best, measure, spelling = max(scored, key=lambda entry: entry[0], default=(0.0, "", ""))
    if best < CLOSE:
        return None
    return f"did you mean {measure!r}?" + (f" (it is also called {spelling!r})" if spelling != measure else "")


def _spellings(measure: str, title: str) -> Iterable[tuple[float, str, list[str]]]:
    """Ways to write a measure: a whole name weighs more than a word of one, and that more than a word of the title."""
    for spelling in (measure, *ENTRIES.get(measure, Entry("")).aliases):
        weight = 1.0 if spelling == measure else 0.99
        yield weight, spelling, [spelling.replace("_", "")]
        yield 0.95 * weight, spelling, spelling.split("_")
    yield 0.9, measure, [word for word in re.findall(r"[a-z]+", title.lower()) if len(word) > 4]


def _likeness(name: str, words: list[str]) -> float:
    """How much what was typed is like the nearest of some words; what begins a longer word is very much like it."""
    typed = re.sub(r"[^a-z0-9]", "", name.lower())
    if len(typed) < 2:
        return 0.0
    begun = any(word.startswith(typed) for word in words if len(typed) > 2)
    return max([0.95 if begun else 0.0, *(SequenceMatcher(None, typed, word).ratio() for word in words)])
