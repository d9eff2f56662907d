"""unmask: attack your data release before someone else does.

The flow in five lines::

    release = unmask.Release("original.csv", "release.csv", id="patient", confidential=["diagnosis"])   # READ
    linkage = unmask.link_nearest(release)                                                              # LINK
    risk = unmask.group_risk(release.released, quasi=["sex", "town"])                                   # COUNT
    assessment = unmask.assess(release)                                                                 # JUDGE
    assessment.write_html("report.html")                                                                # TELL
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask import datasets
    from unmask.assess import Assessment, assess
    from unmask.attacks.assignment import link_globally
    from unmask.attacks.distance import anonymity_sets, link_nearest, true_ranks
    from unmask.attacks.graph import GraphLinkage, link_graph
    from unmask.attacks.graph_distances import Coordinates
    from unmask.attacks.graph_tolerance import NoiseTolerance, Relative
    from unmask.attacks.learned import link_learned
    from unmask.attacks.linkage import Linkage
    from unmask.attacks.probabilistic import link_probabilistic
    from unmask.attacks.scenario import knowledge_curve
    from unmask.attacks.transparent import link_transparent
    from unmask.attribute.absent import absent_disclosure
    from unmask.attribute.cells import cell_disclosure
    from unmask.attribute.inference import attribute_inference
    from unmask.attribute.interval import interval_disclosure
    from unmask.attribute.membership import membership_inference, membership_of_model
    from unmask.attribute.model import model_disclosure
    from unmask.attribute.singling import singling_out
    from unmask.attribute.synthetic import copy_risk
    from unmask.attribute.value import value_disclosure
    from unmask.deniability.attribute import AttributeTest, attribute_test, attribute_tests
    from unmask.deniability.dictionary import dictionary_test
    from unmask.deniability.permuted import permuted_test
    from unmask.deniability.result import DeniabilityTest
    from unmask.errors import EngineError, ParameterError, RoleError, TableError, UnmaskError
    from unmask.evidence.estimate import Estimate
    from unmask.evidence.finding import Finding
    from unmask.evidence.policy import Policy
    from unmask.groups.anonymity import Anonymity, anonymity
    from unmask.groups.cells import Dominance, SharedValues, dominance, shared_values
    from unmask.groups.fix import Fix, fix_list
    from unmask.groups.knowledge import Knowledge, knowledge_sweep
    from unmask.groups.population import PopulationRisk, population_risk
    from unmask.groups.special import SpecialUniques, special_uniques
    from unmask.groups.uniqueness import GroupRisk, group_risk
    from unmask.masking import parse_masking
    from unmask.selfcheck import selfcheck
    from unmask.tables.release import Release
    from unmask.tables.scenario import Scenario
    from unmask.utility.marginals import compare_marginals
    from unmask.utility.moments import compare_moments
    from unmask.utility.propensity import propensity_score
    from unmask.verify import verify

__version__ = "0.1.0"

_HOMES = {  # public name: where it lives. Imported on first use, so that `import unmask` stays light.
    "Anonymity": "groups.anonymity",
    "Assessment": "assess",
    "AttributeTest": "deniability.attribute",
    "Coordinates": "attacks.graph_distances",
    "DeniabilityTest": "deniability.result",
    "Dominance": "groups.cells",
    "EngineError": "errors",
    "Estimate": "evidence.estimate",
    "Finding": "evidence.finding",
    "Fix": "groups.fix",
    "GraphLinkage": "attacks.graph",
    "GroupRisk": "groups.uniqueness",
    "Knowledge": "groups.knowledge",
    "Linkage": "attacks.linkage",
    "NoiseTolerance": "attacks.graph_tolerance",
    "ParameterError": "errors",
    "Policy": "evidence.policy",
    "PopulationRisk": "groups.population",
    "Relative": "attacks.graph_tolerance",
    "Release": "tables.release",
    "RoleError": "errors",
    "Scenario": "tables.scenario",
    "SharedValues": "groups.cells",
    "SpecialUniques": "groups.special",
    "TableError": "errors",
    "UnmaskError": "errors",
    "absent_disclosure": "attribute.absent",
    "anonymity": "groups.anonymity",
    "anonymity_sets": "attacks.distance",
    "assess": "assess",
    "attribute_inference": "attribute.inference",
    "attribute_test": "deniability.attribute",
    "attribute_tests": "deniability.attribute",
    "cell_disclosure": "attribute.cells",
    "compare_marginals": "utility.marginals",
    "compare_moments": "utility.moments",
    "copy_risk": "attribute.synthetic",
    "dictionary_test": "deniability.dictionary",
    "dominance": "groups.cells",
    "fix_list": "groups.fix",
    "group_risk": "groups.uniqueness",
    "link_graph": "attacks.graph",
    "interval_disclosure": "attribute.interval",
    "knowledge_curve": "attacks.scenario",
    "knowledge_sweep": "groups.knowledge",
    "link_globally": "attacks.assignment",
    "link_learned": "attacks.learned",
    "link_nearest": "attacks.distance",
    "link_probabilistic": "attacks.probabilistic",
    "link_transparent": "attacks.transparent",
    "membership_inference": "attribute.membership",
    "membership_of_model": "attribute.membership",
    "model_disclosure": "attribute.model",
    "parse_masking": "masking",
    "permuted_test": "deniability.permuted",
    "population_risk": "groups.population",
    "propensity_score": "utility.propensity",
    "selfcheck": "selfcheck",
    "shared_values": "groups.cells",
    "singling_out": "attribute.singling",
    "special_uniques": "groups.special",
    "true_ranks": "attacks.distance",
    "value_disclosure": "attribute.value",
    "verify": "verify",
    "worst_case": "attacks.learned",
}

__all__ = [
    "Anonymity",
    "Assessment",
    "AttributeTest",
    "Coordinates",
    "DeniabilityTest",
    "Dominance",
    "EngineError",
    "Estimate",
    "Finding",
    "Fix",
    "GraphLinkage",
    "GroupRisk",
    "Knowledge",
    "Linkage",
    "NoiseTolerance",
    "ParameterError",
    "Policy",
    "PopulationRisk",
    "Relative",
    "Release",
    "RoleError",
    "Scenario",
    "SharedValues",
    "SpecialUniques",
    "TableError",
    "UnmaskError",
    "absent_disclosure",
    "anonymity",
    "anonymity_sets",
    "assess",
    "attribute_inference",
    "attribute_test",
    "attribute_tests",
    "cell_disclosure",
    "compare_marginals",
    "compare_moments",
    "copy_risk",
    "datasets",
    "dictionary_test",
    "dominance",
    "fix_list",
    "group_risk",
    "interval_disclosure",
    "knowledge_curve",
    "knowledge_sweep",
    "link_globally",
    "link_graph",
    "link_learned",
    "link_nearest",
    "link_probabilistic",
    "link_transparent",
    "membership_inference",
    "membership_of_model",
    "model_disclosure",
    "parse_masking",
    "permuted_test",
    "population_risk",
    "propensity_score",
    "selfcheck",
    "shared_values",
    "singling_out",
    "special_uniques",
    "true_ranks",
    "value_disclosure",
    "verify",
    "worst_case",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name == "datasets":
        return import_module("unmask.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'unmask' has no attribute {name!r}")
    value = getattr(import_module(f"unmask.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """Keeps ``unmask.assess`` the function: importing the file assess.py would put the module under that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
