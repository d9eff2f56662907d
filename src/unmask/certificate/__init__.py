"""CERTIFY: what a reviewer signs. The evidence of a report with what the steward states, under fixed headings.

`Statement` is what only people can say (who, why, for how long); `Certificate` puts it beside what was measured;
`write` makes HTML, PDF and JSON-LD (`to_pdf` prints a page, where it `can_print`); `sign_file` and `check_signature`
are the reviewer's. It never computes a risk.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
