"""TELL: one document, shown in the terminal, as JSON and as HTML. It never recomputes."""
