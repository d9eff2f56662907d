"""`unmask network`: attack a network that is to be published, show and write what was found."""

from __future__ import annotations

import shlex
import sys

from unmask.assessment import Assessment
from unmask.cli.network_options import AssessNetwork
from unmask.cli.options import Assess
from unmask.cli.other_kinds import refuse_others
from unmask.cli.outputs import EXIT, by_suffix, tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.cli.targets import check_files
from unmask.evidence import Policy
from unmask.network_assessment import assess_network
from unmask.networks import Network
from unmask.tables import format_of

NETWORKS = ".graphml"
MORE = "unmask network has options for people, directions and who is who"


def run(options: AssessNetwork) -> int:
    """Attack a network; the verdict is the exit code."""
    options = by_suffix(options)
    check_files(options)
    policy = Policy.load(options.policy)
    network = Network(
        options.original, options.released, truth=options.truth, people=options.people,
        released_people=options.released_people, ends=options.ends, directed=options.directed,
        ignored=options.ignored, reading=options.reading,
    )  # fmt: skip
    return EXIT[_attack(network, options, policy, seeds=options.seeds).verdict]


def is_network(options: Assess) -> bool:
    """Whether `unmask assess` was given a network: it was said, or the files can hold nothing else."""
    files = [one for one in (options.original, options.released) if one is not None]
    return options.network or (bool(files) and all(format_of(one) == NETWORKS for one in files))


def attack_network(options: Assess, policy: Policy) -> Assessment:
    """Attack a network that `unmask assess` was given: equal ids are the same person, and no attack uses them."""
    refuse_others(options, {"network"}, "these options are for tables, and this is a network", hint=MORE)
    network = Network(options.original, options.released, ignored=options.ignored, reading=options.reading)
    return _attack(network, options, policy)


def _attack(network: Network, options: AssessNetwork | Assess, policy: Policy, **asked: int) -> Assessment:
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_network(
            network, policy=policy, seed=options.seed, progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]), show_values=options.show_values, **asked,
        )  # fmt: skip
    tell(assessment, write_reports(assessment, options), options)
    return assessment
