"""COUNT: who stands alone, and in how small a crowd.

Each function takes a table or a release, and columns that an intruder may know, and returns counts of people who share
them; rates are derived from the counts. A table may be a frame of any library, counted where its data lives;
`counting` is the room that does it, with a door of its own.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
