"""STUDY: what every attack needs of a release, made once and kept.

A `Study` (`as_study` takes a release or a study) hands out encodings, the `Matcher` and an `Index` for each metric,
made when first asked for and shared by all measures; nobody changes what they are handed. A `Scene` says who asks
for whom, `check_memory` what fits, and a `Displacement` moves points and distances as an owner would.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
