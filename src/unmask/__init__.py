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
    from unmask.assessment import Assessment, assess
    from unmask.disclosure.absent import absent_disclosure
    from unmask.disclosure.cells import cell_disclosure
    from unmask.disclosure.copies import copy_risk
    from unmask.disclosure.inference import attribute_inference
    from unmask.disclosure.intervals import interval_disclosure
    from unmask.disclosure.membership import membership_inference, membership_of_model
    from unmask.disclosure.model import model_disclosure
    from unmask.disclosure.singling import singling_out
    from unmask.disclosure.values import value_disclosure
    from unmask.errors import EngineError, ParameterError, RoleError, TableError, UnmaskError
    from unmask.evidence.estimate import Estimate
    from unmask.evidence.finding import Finding
    from unmask.evidence.policy import Policy
    from unmask.graph.attack import GraphLinkage, link_graph
    from unmask.graph.distances import Coordinates
    from unmask.graph.tolerance import NoiseTolerance, Relative
    from unmask.groups.anonymity import Anonymity, anonymity
    from unmask.groups.cells import Dominance, SharedValues, dominance, shared_values
    from unmask.groups.knowledge_sweep import Knowledge, knowledge_sweep
    from unmask.groups.population.measure import PopulationRisk, population_risk
    from unmask.groups.special_uniques import SpecialUniques, special_uniques
    from unmask.groups.uniqueness import GroupRisk, group_risk
    from unmask.linkage.knowledge_curve import knowledge_curve
    from unmask.linkage.learned.measure import link_learned
    from unmask.linkage.nearest import anonymity_sets, link_nearest, true_ranks
    from unmask.linkage.one_to_one import link_globally
    from unmask.linkage.probabilistic.measure import link_probabilistic
    from unmask.linkage.result import Linkage
    from unmask.linkage.transparent.measure import link_transparent
    from unmask.masking import parse_masking
    from unmask.max_knowledge.attribute_test import AttributeTest, attribute_test, attribute_tests
    from unmask.max_knowledge.dictionary import dictionary_test
    from unmask.max_knowledge.permuted import permuted_test
    from unmask.max_knowledge.result import DeniabilityTest
    from unmask.protect.plan import Fix, fix_list
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
    "Assessment": "assessment",
    "AttributeTest": "max_knowledge.attribute_test",
    "Coordinates": "graph.distances",
    "DeniabilityTest": "max_knowledge.result",
    "Dominance": "groups.cells",
    "EngineError": "errors",
    "Estimate": "evidence.estimate",
    "Finding": "evidence.finding",
    "Fix": "protect.plan",
    "GraphLinkage": "graph.attack",
    "GroupRisk": "groups.uniqueness",
    "Knowledge": "groups.knowledge_sweep",
    "Linkage": "linkage.result",
    "NoiseTolerance": "graph.tolerance",
    "ParameterError": "errors",
    "Policy": "evidence.policy",
    "PopulationRisk": "groups.population.measure",
    "Relative": "graph.tolerance",
    "Release": "tables.release",
    "RoleError": "errors",
    "Scenario": "tables.scenario",
    "SharedValues": "groups.cells",
    "SpecialUniques": "groups.special_uniques",
    "TableError": "errors",
    "UnmaskError": "errors",
    "absent_disclosure": "disclosure.absent",
    "anonymity": "groups.anonymity",
    "anonymity_sets": "linkage.nearest",
    "assess": "assessment",
    "attribute_inference": "disclosure.inference",
    "attribute_test": "max_knowledge.attribute_test",
    "attribute_tests": "max_knowledge.attribute_test",
    "cell_disclosure": "disclosure.cells",
    "compare_marginals": "utility.marginals",
    "compare_moments": "utility.moments",
    "copy_risk": "disclosure.copies",
    "dictionary_test": "max_knowledge.dictionary",
    "dominance": "groups.cells",
    "fix_list": "protect.plan",
    "group_risk": "groups.uniqueness",
    "link_graph": "graph.attack",
    "interval_disclosure": "disclosure.intervals",
    "knowledge_curve": "linkage.knowledge_curve",
    "knowledge_sweep": "groups.knowledge_sweep",
    "link_globally": "linkage.one_to_one",
    "link_learned": "linkage.learned.measure",
    "link_nearest": "linkage.nearest",
    "link_probabilistic": "linkage.probabilistic.measure",
    "link_transparent": "linkage.transparent.measure",
    "membership_inference": "disclosure.membership",
    "membership_of_model": "disclosure.membership",
    "model_disclosure": "disclosure.model",
    "parse_masking": "masking",
    "permuted_test": "max_knowledge.permuted",
    "population_risk": "groups.population.measure",
    "propensity_score": "utility.propensity",
    "selfcheck": "selfcheck",
    "shared_values": "groups.cells",
    "singling_out": "disclosure.singling",
    "special_uniques": "groups.special_uniques",
    "true_ranks": "linkage.nearest",
    "value_disclosure": "disclosure.values",
    "verify": "verify",
    "worst_case": "linkage.learned.measure",
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
    """Keeps ``unmask.assessment`` the function: importing the file assess.py would put the module under that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
