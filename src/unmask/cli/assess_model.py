"""`unmask assess-model`: attack a released model, show and write what was found."""

from __future__ import annotations

import shlex
import sys

from unmask.cli.making_options import AssessModel
from unmask.cli.outputs import EXIT, by_suffix, tell, write_reports
from unmask.cli.screen import progress_bar
from unmask.cli.targets import check_files
from unmask.errors import ParameterError
from unmask.evidence import Policy
from unmask.model_assessment import assess_model


def run(options: AssessModel) -> int:
    """Attack a model; the verdict is the exit code."""
    options = by_suffix(options)
    if options.control is None or options.target is None:
        missing = "--control" if options.control is None else "--target"
        raise ParameterError(f"{missing} is not given", hint="people it never saw, and the column that it predicts")
    check_files(options)
    policy = Policy.load(options.policy)
    with progress_bar(quiet=options.quiet) as told:
        assessment = assess_model(
            options.model, options.original, control=options.control, target=options.target,
            confidential=options.confidential, ignored=options.ignored, trust=options.trust, shadows=options.shadows,
            policy=policy, seed=options.seed, progress=told, command=shlex.join(["unmask", *sys.argv[1:]]),
            reading=options.reading,
        )  # fmt: skip
    tell(assessment, write_reports(assessment, options), options)
    return EXIT[assessment.verdict]
