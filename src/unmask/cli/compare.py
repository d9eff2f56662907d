"""`unmask compare`: two reports side by side."""

from __future__ import annotations

import sys

from unmask.cli.report_options import Compare
from unmask.cli.screen import console, say
from unmask.cli.targets import check_files, write_atomically
from unmask.inert import json_text
from unmask.report import compare_reports, render_comparison, show_comparison


def run(options: Compare) -> int:
    """Compare, show and write; 0 whatever is found."""
    check_files(options)
    compared = compare_reports(options.before, options.after)
    text = json_text(compared.to_dict()) + "\n"
    if options.json == "-":
        sys.stdout.write(text)
        return 0
    show_comparison(compared, console())
    if options.json is not None:
        write_atomically(options.json, text)
        say(f"Comparison as JSON: {options.json}")
    if options.output is not None:
        write_atomically(options.output, render_comparison(compared))
        say(f"Comparison as HTML: {options.output}")
    return 0
