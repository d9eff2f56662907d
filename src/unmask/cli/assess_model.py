"""`unmask assess-model`: attack a released model, show and write what was found."""

from __future__ import annotations

import shlex
import sys

from unmask.assessment import Assessment
from unmask.cli.assess import EXIT
from unmask.cli.making_options import AssessModel
from unmask.cli.screen import progress_bar, say, show_assessment
from unmask.cli.targets import check_files
from unmask.errors import ParameterError
from unmask.evidence import Policy
from unmask.model_assessment import assess_model
from unmask.report import document


def run(options: AssessModel) -> int:
    """Attack a model; the verdict is the exit code."""
    if options.control is None or options.target is None:
        missing = "--control" if options.control is None else "--target"
        raise ParameterError(f"{missing} is not given", hint="people it never saw, and the column that it predicts")
    check_files(options)
    policy = Policy.load(options.policy)
    with progress_bar(quiet=options.quiet) as tell:
        assessment = assess_model(
            options.model, options.original, control=options.control, target=options.target,
            confidential=options.confidential, ignored=options.ignored, trust=options.trust, shadows=options.shadows,
            policy=policy, seed=options.seed, progress=tell, command=shlex.join(["unmask", *sys.argv[1:]]),
            reading=options.reading,
        )  # fmt: skip
    told = _write(assessment, options)
    if not options.quiet:
        show_assessment(assessment, to_stderr=options.json == "-")
        for line in told:
            say(line, to_stderr=options.json == "-")
    return EXIT[assessment.verdict]


def _write(assessment: Assessment, options: AssessModel) -> list[str]:
    """Write what was asked for, and nothing else; a line for each file."""
    told = []
    if options.json == "-":
        sys.stdout.write(document.to_json(assessment.document))
    elif options.json is not None:
        assessment.write_json(options.json)
        told.append(f"Report as JSON: {options.json}")
    if options.html is not None:
        assessment.write_html(options.html)
        told.append(f"Report as HTML: {options.html}")
    if options.records is not None:
        assessment.write_records(options.records)
        told.append(f"Who is recognised: {options.records}")
    return told
