"""What a report may tell about few people: one policy, in one place, for every form of every report.

1. No value of the original is shown unless asked for (``--show-values``, or the column in ``--by`` or ``--keep``).
2. A group, category or mean that is shown stands for at least ``LEAST`` people; smaller ones are merged or left out,
   and what is left over is never so small that it can be worked out. Asking for values does not change that.
3. Extreme values are nobody's: ends of bands and cuts are rounded (``round_cuts``) before they are named.
4. A map is redrawn from the release alone, in ``STEPS`` coarse steps of its width.
5. Rows are numbers of the original, which only its holder has. They are in the report, so that its holder can act, and
   not in the certificate for the public: there are no rows, no small counts (``in_public``), no reasons with numbers.
"""

from __future__ import annotations

import numpy as np

from unmask.arrays import Floats

LEAST = 11  # people: the groups of public files
STEPS = 100  # of a map that shows no value of the original
DIGITS = 2  # of a share that is told in public
TOO_FEW = f"fewer than {LEAST} people"


def too_few(people: float) -> bool:
    """Whether this is a small count: somebody, and fewer than a group that may be told."""
    return 0 < people < LEAST


def in_public(share: float | None, digits: int = DIGITS) -> float | None:
    """A share as it is told in public: so coarse that no count follows from it."""
    return None if share is None else round(share, digits)


def without_numbers(text: str) -> str:
    """A reason for the public; nothing where it tells a number, which may be a count, a row or a value."""
    return "" if any(letter.isdigit() for letter in text) else text


def outline(text: str) -> str:
    """What was done, without shares and counts."""
    return text.split(":", maxsplit=1)[0].split("(", maxsplit=1)[0].strip()


def round_cuts(values: Floats, cuts: Floats) -> Floats:
    """Cuts through sorted values, rounded to a tenth of where the middle of them lies: they are nobody's value."""
    low, high = np.quantile(values, [0.1, 0.9])
    unit = 10.0 ** np.floor(np.log10((high - low) / 10)) if high > low else 1.0
    return np.asarray(np.unique(np.round(np.round(cuts / unit) * unit, 12)))


def on_a_coarse_map(places: Floats) -> Floats:
    """Places between 0 and 1 in so few steps that no distance can be read from them."""
    return np.asarray(np.round(places * STEPS) / STEPS)
