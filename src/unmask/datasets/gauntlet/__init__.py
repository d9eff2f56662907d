"""The gauntlet: releases with a known answer, and for each the intruder of a few lines who was written for it.

``CASES`` holds every release by name; ``CASES[name].make(seed)`` makes it, with the share of people that its own
intruder finds (None: harmless). ``answer`` says whether an assessment keeps up with that intruder. The families are in
``FAMILIES``; ``chosen`` picks cases by name or family, ``quick_part`` those that ``unmask selfcheck --gauntlet`` runs.
This room imports nothing else of ours: an assessment is handed in, never run here.
"""

from unmask.datasets.gauntlet import (  # noqa: F401 - each enters its cases
    aggregation,
    harmless,
    households,
    noise,
    structure,
    swapping,
    synthetic,
    written_codes,
    written_dates,
    written_numbers,
)
from unmask.datasets.gauntlet.case import FAMILIES, Case, Known
from unmask.datasets.gauntlet.judge import CASES, Answer, answer, chosen, options, quick_part

__all__ = ["CASES", "FAMILIES", "Answer", "Case", "Known", "answer", "chosen", "options", "quick_part"]
