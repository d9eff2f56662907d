"""LINK: find people's records in the release.

One function for each intruder, by what they hold and how they go about it. Each takes a release or a study and returns
a `Linkage`, or a class of its own with the same figures: who was linked to whom, and how surely. Ties are shared, and
no result depends on the order of rows.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
