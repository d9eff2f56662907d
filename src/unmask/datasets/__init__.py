"""Generated tables that look real, at any n: for demos, tests and benchmarks. No person stands behind any row.

`patients`, `census`, `friends` (a network), `visits` and `trajectories` (many rows a person) take a number of people
and a seed, and return the same table for the same two. `gauntlet` is a room of its own: releases with a known answer.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
