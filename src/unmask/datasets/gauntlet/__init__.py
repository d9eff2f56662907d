"""The gauntlet: releases with a known answer, and for each the intruder of a few lines who was written for it.

``CASES`` holds, by name, the few releases that ``unmask selfcheck --gauntlet`` runs (``benchmarks/gauntlet`` has all of
them); ``CASES[name].make(seed)`` makes one, with the share of people that its own intruder finds (None: harmless).
``answer`` says whether an assessment keeps up with that intruder; ``quick_part`` gives the cases, families in turn.
This room imports nothing else of ours: an assessment is handed in, never run here.
"""

from unmask.datasets.gauntlet import quick  # noqa: F401 - enters its cases
from unmask.datasets.gauntlet.case import FAMILIES, Case, Known
from unmask.datasets.gauntlet.judge import CASES, Answer, answer, quick_part

__all__ = ["CASES", "FAMILIES", "Answer", "Case", "Known", "answer", "quick_part"]
