"""PROTECT: what to change so that a release becomes safe.

`fix_list` searches for the cheapest changes after which nobody stands in a smaller crowd than wanted: columns made
coarser, cells suppressed. A `Fix` is one of them, with what it costs. A `Frontier` holds maskings that were tried, each
a `Point` of risk and utility; `suggest_maskings` names some to try, and `opened` keeps the finished ones in a folder.
A `Treatment` is what can be done to one column: `treatments` names them, `weigh` and `weigh_together` say what each
gives and costs (`bits_left`), and `path` combines them; `coarser_only` leaves those that say nothing false, after which
`then_blank` blanks cells of who is still exposed; `then_sample` publishes only some of the people. `steps_of` says what
is done in turn. A `Protection` is what came out, and `follow_plan` does it again; `mask_around` carries a masking out,
`chained` writes several as one, `in_words` says what it does. `first_change` names the change to try first.
"""

from unmask.protect.changes import first_change
from unmask.protect.frontier import Frontier, Point, Stage
from unmask.protect.making import mask_around
from unmask.protect.plan import Fix, fix_list
from unmask.protect.protection import Protection, chained, follow_plan
from unmask.protect.store import Store, opened
from unmask.protect.suggestions import suggest_maskings
from unmask.protect.treatments import (
    Treatment,
    bits_left,
    coarser_only,
    path,
    steps_of,
    then_blank,
    then_sample,
    treatments,
    weigh,
    weigh_together,
)
from unmask.protect.wording import in_words

__all__ = [
    "Fix", "Frontier", "Point", "Protection", "Stage", "Store", "Treatment", "bits_left", "chained",
    "coarser_only", "first_change", "fix_list", "follow_plan", "in_words", "mask_around", "opened", "path", "steps_of",
    "suggest_maskings", "then_blank", "then_sample", "treatments", "weigh", "weigh_together",
]  # fmt: skip
