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
    from unmask.attacks.distance import link_nearest
    from unmask.attacks.learned import link_learned
    from unmask.attacks.linkage import Linkage
    from unmask.attacks.probabilistic import link_probabilistic
    from unmask.attacks.scenario import knowledge_curve
    from unmask.attacks.transparent import link_transparent
    from unmask.deniability.attribute import AttributeTest, attribute_test, attribute_tests
    from unmask.deniability.dictionary import dictionary_test
    from unmask.deniability.permuted import permuted_test
    from unmask.deniability.result import DeniabilityTest
    from unmask.errors import EngineError, ParameterError, RoleError, TableError, UnmaskError
    from unmask.evidence.estimate import Estimate
    from unmask.evidence.finding import Finding
    from unmask.evidence.policy import Policy
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
    "Assessment": "assess",
    "AttributeTest": "deniability.attribute",
    "DeniabilityTest": "deniability.result",
    "EngineError": "errors",
    "Estimate": "evidence.estimate",
    "Finding": "evidence.finding",
    "GroupRisk": "groups.uniqueness",
    "Linkage": "attacks.linkage",
    "ParameterError": "errors",
    "Policy": "evidence.policy",
    "Release": "tables.release",
    "RoleError": "errors",
    "Scenario": "tables.scenario",
    "TableError": "errors",
    "UnmaskError": "errors",
    "assess": "assess",
    "attribute_test": "deniability.attribute",
    "attribute_tests": "deniability.attribute",
    "compare_marginals": "utility.marginals",
    "compare_moments": "utility.moments",
    "dictionary_test": "deniability.dictionary",
    "group_risk": "groups.uniqueness",
    "knowledge_curve": "attacks.scenario",
    "link_learned": "attacks.learned",
    "link_nearest": "attacks.distance",
    "link_probabilistic": "attacks.probabilistic",
    "link_transparent": "attacks.transparent",
    "parse_masking": "masking",
    "permuted_test": "deniability.permuted",
    "propensity_score": "utility.propensity",
    "selfcheck": "selfcheck",
    "verify": "verify",
}

__all__ = [
    "Assessment",
    "AttributeTest",
    "DeniabilityTest",
    "EngineError",
    "Estimate",
    "Finding",
    "GroupRisk",
    "Linkage",
    "ParameterError",
    "Policy",
    "Release",
    "RoleError",
    "Scenario",
    "TableError",
    "UnmaskError",
    "assess",
    "attribute_test",
    "attribute_tests",
    "compare_marginals",
    "compare_moments",
    "datasets",
    "dictionary_test",
    "group_risk",
    "knowledge_curve",
    "link_learned",
    "link_nearest",
    "link_probabilistic",
    "link_transparent",
    "parse_masking",
    "permuted_test",
    "propensity_score",
    "selfcheck",
    "verify",
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
