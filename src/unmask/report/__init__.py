"""TELL: one document, shown in the terminal, as JSON and as HTML. It never recomputes.

`document` is what is told, gathered once and versioned; `show` prints it, `render` makes the page, `draw` a chart. What
is said in all three is worded once.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
