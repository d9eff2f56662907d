"""What the nearest row would tell about people who are not in the release: the level of general knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unmask.arrays import Floats
from unmask.disclosure.inference import nearest_values
from unmask.disclosure.learn import Task, set_task

if TYPE_CHECKING:
    from unmask.study import Study


class Holdout(NamedTuple):
    """Control people who have a value: the truth, and what stands in the row nearest to them."""

    task: Task
    truth: Floats
    guess: Floats


def hold_out(study: Study, name: str) -> Holdout | None:
    """Read a confidential attribute off the rows nearest to control people; None where that cannot be compared."""
    release = study.release
    known = [column for column in release.quasi if column != name]
    if release.control is None or name not in release.confidential or not known:
        return None
    if not {*known, name} <= set(release.control.columns):
        return None
    task = set_task(study, name, within=0.10)
    people = np.flatnonzero(~np.isnan(task.wanted[task.n :])) + task.n
    if not people.size or np.isnan(task.published).all():
        return None
    return Holdout(task, task.wanted[people], nearest_values(study, task, people))
