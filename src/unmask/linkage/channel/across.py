"""Another schema: what people who are known in both files teach of two files, for everybody in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import EngineError
from unmask.linkage.channel.attack import FEWEST
from unmask.linkage.channel.gather import gather
from unmask.linkage.channel.linking import score_rows
from unmask.linkage.channel.select import learn
from unmask.linkage.channel.words import tell_columns
from unmask.threads import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unmask.tables import Release

    Floats = NDArray[np.float64]


def scores_across(release: Release, seed: int) -> tuple[Floats, tuple[str, ...]]:
    """Log likelihood ratios of all people with all records, in the order of the tables, and what was learnt in words.

    The people who are paired teach; columns may have any names.
    """
    with one_thread():
        scene = gather(release, seed)
        known = np.flatnonzero(scene.material.truth >= 0)
        if known.size < FEWEST:
            raise EngineError(
                f"{known.size} people are known in both files: too few to learn from", allowed=f"from {FEWEST}"
            )
        channel = learn(scene.material, known, seed, lambda _: None)
        n, m = scene.material.n_people, scene.material.n_records
        found = score_rows(scene, [channel], np.zeros(n, dtype=np.int64), np.arange(n))
        told = [one for one in tell_columns(scene.material, [channel]) if one.nats > 0]
    scores = np.empty((n, m))
    scores[np.ix_(scene.people, scene.records)] = found
    return scores, tuple(f"{t.column} {t.words}" if t.several else f"`{t.column}` {t.words}" for t in told)
