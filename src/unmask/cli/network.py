"""`unmask network`: attack a network that is to be published, show and write what was found."""

from __future__ import annotations

import shlex
import sys

from unmask.cli.network_options import AssessNetwork
from unmask.cli.outputs import EXIT, by_suffix, tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.cli.targets import check_files
from unmask.evidence import Policy
from unmask.network_assessment import assess_network
from unmask.networks import Network


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
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_network(
            network, seeds=options.seeds, policy=policy, seed=options.seed, progress=told,
            command=shlex.join(["unmask", *sys.argv[1:]]), show_values=options.show_values,
        )  # fmt: skip
    tell(assessment, write_reports(assessment, options), options)
    return EXIT[assessment.verdict]
