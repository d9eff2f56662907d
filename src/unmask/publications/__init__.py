"""PUBLICATIONS: several releases of the same people, and what they give away together.

`link_published` lays the releases that are published already beside the new one, row by row as far as an intruder can
find out which rows belong together (`beside`), attacks what they say together, and subtracts one from the other
(`difference`).
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
