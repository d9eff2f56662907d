# The public names of unmask, declared once: `__init__` loads each from here on first use.

from unmask import datasets as datasets
from unmask.assessment import Assessment as Assessment
from unmask.assessment import assess as assess
from unmask.assessment import plan_assessment as plan_assessment
from unmask.certificate import Certificate as Certificate
from unmask.certificate import Statement as Statement
from unmask.certifying import certify as certify
from unmask.disclosure import Audit as Audit
from unmask.disclosure import KeyDisclosure as KeyDisclosure
from unmask.disclosure import KeySweep as KeySweep
from unmask.disclosure import absent_disclosure as absent_disclosure
from unmask.disclosure import attribute_inference as attribute_inference
from unmask.disclosure import audit_privacy as audit_privacy
from unmask.disclosure import cell_disclosure as cell_disclosure
from unmask.disclosure import copy_risk as copy_risk
from unmask.disclosure import expected_findings as expected_findings
from unmask.disclosure import interval_disclosure as interval_disclosure
from unmask.disclosure import key_disclosure as key_disclosure
from unmask.disclosure import key_sweep as key_sweep
from unmask.disclosure import linkability as linkability
from unmask.disclosure import (
    membership_inference as membership_inference,
)
from unmask.disclosure import (
    membership_of_model as membership_of_model,
)
from unmask.disclosure import model_disclosure as model_disclosure
from unmask.disclosure import singling_out as singling_out
from unmask.disclosure import value_disclosure as value_disclosure
from unmask.errors import (
    EngineError as EngineError,
)
from unmask.errors import (
    ParameterError as ParameterError,
)
from unmask.errors import (
    RoleError as RoleError,
)
from unmask.errors import (
    TableError as TableError,
)
from unmask.errors import (
    UnmaskError as UnmaskError,
)
from unmask.evidence import Estimate as Estimate
from unmask.evidence import Finding as Finding
from unmask.evidence import Policy as Policy
from unmask.explore import explore as explore
from unmask.graph import Coordinates as Coordinates
from unmask.graph import GraphLinkage as GraphLinkage
from unmask.graph import NoiseTolerance as NoiseTolerance
from unmask.graph import Relative as Relative
from unmask.graph import link_graph as link_graph
from unmask.groups import Anonymity as Anonymity
from unmask.groups import (
    Dominance as Dominance,
)
from unmask.groups import GroupRisk as GroupRisk
from unmask.groups import Knowledge as Knowledge
from unmask.groups import PopulationRisk as PopulationRisk
from unmask.groups import SpecialUniques as SpecialUniques
from unmask.groups import anonymity as anonymity
from unmask.groups import (
    dominance as dominance,
)
from unmask.groups import group_risk as group_risk
from unmask.groups import knowledge_sweep as knowledge_sweep
from unmask.groups import population_risk as population_risk
from unmask.groups import special_uniques as special_uniques
from unmask.intake import Check as Check
from unmask.intake import check as check
from unmask.large_assessment import assess_large as assess_large
from unmask.linkage import Believed as Believed
from unmask.linkage import ChannelLinkage as ChannelLinkage
from unmask.linkage import ClusterLinkage as ClusterLinkage
from unmask.linkage import LikelihoodLinkage as LikelihoodLinkage
from unmask.linkage import Linkage as Linkage
from unmask.linkage import (
    anonymity_sets as anonymity_sets,
)
from unmask.linkage import knowledge_curve as knowledge_curve
from unmask.linkage import link_believed as link_believed
from unmask.linkage import link_channel as link_channel
from unmask.linkage import link_clusters as link_clusters
from unmask.linkage import link_globally as link_globally
from unmask.linkage import link_learned as link_learned
from unmask.linkage import link_likelihood as link_likelihood
from unmask.linkage import (
    link_nearest as link_nearest,
)
from unmask.linkage import link_one_to_one as link_one_to_one
from unmask.linkage import link_probabilistic as link_probabilistic
from unmask.linkage import link_transparent as link_transparent
from unmask.linkage import (
    true_ranks as true_ranks,
)
from unmask.linkage import worst_case as worst_case
from unmask.masking import Synthesiser as Synthesiser
from unmask.masking import parse_masking as parse_masking
from unmask.max_knowledge import (
    AttributeTest as AttributeTest,
)
from unmask.max_knowledge import DeniabilityTest as DeniabilityTest
from unmask.max_knowledge import (
    attribute_test as attribute_test,
)
from unmask.max_knowledge import (
    attribute_tests as attribute_tests,
)
from unmask.max_knowledge import dictionary_test as dictionary_test
from unmask.max_knowledge import permuted_test as permuted_test
from unmask.model_assessment import assess_model as assess_model
from unmask.network_assessment import assess_network as assess_network
from unmask.networks import MaskedNetwork as MaskedNetwork
from unmask.networks import Network as Network
from unmask.networks import NetworkRisk as NetworkRisk
from unmask.networks import NetworkUtility as NetworkUtility
from unmask.networks import mask_network as mask_network
from unmask.networks import network_risk as network_risk
from unmask.networks import network_utility as network_utility
from unmask.people import PersonStory as PersonStory
from unmask.people import explain_person as explain_person
from unmask.people import hiding_list as hiding_list
from unmask.persons import Persons as Persons
from unmask.persons import PersonsRisk as PersonsRisk
from unmask.persons import Unicity as Unicity
from unmask.persons import persons_risk as persons_risk
from unmask.persons import unicity as unicity
from unmask.persons_assessment import assess_persons as assess_persons
from unmask.protect import Fix as Fix
from unmask.protect import Frontier as Frontier
from unmask.protect import Protection as Protection
from unmask.protect import fix_list as fix_list
from unmask.protect import follow_plan as follow_plan
from unmask.protecting import protect_table as protect_table
from unmask.publications import PublishedLinkage as PublishedLinkage
from unmask.publications import link_published as link_published
from unmask.recipients import Recipient as Recipient
from unmask.report import Comparison as Comparison
from unmask.report import compare_reports as compare_reports
from unmask.selfcheck import selfcheck as selfcheck
from unmask.table_assessment import assess_tables as assess_tables
from unmask.tables import Release as Release
from unmask.tables import Scenario as Scenario
from unmask.tables import ValueHierarchy as ValueHierarchy
from unmask.tables import read_hierarchy as read_hierarchy
from unmask.tables import suggest_hierarchy as suggest_hierarchy
from unmask.tabular import TableRisk as TableRisk
from unmask.tabular import table_risk as table_risk
from unmask.utility import compare_analyses as compare_analyses
from unmask.utility import compare_marginals as compare_marginals
from unmask.utility import compare_moments as compare_moments
from unmask.utility import compare_predictions as compare_predictions
from unmask.utility import information_loss as information_loss
from unmask.utility import propensity_score as propensity_score
from unmask.utility import summarise_utility as summarise_utility
from unmask.utility import what_is_left as what_is_left
from unmask.verify import verify as verify
from unmask.warmup import warmup as warmup

__version__: str
