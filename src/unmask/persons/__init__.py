"""PERSONS: who is found in a release in which people have many rows each: visits, prescriptions, trajectories.

`Persons` holds an original and a release whose id repeats. `persons_risk` attacks it: people with equal rows, all rows
laid on all rows, a few points (`unicity`), their order, what candidates share, and who is in; `report_persons` says it
as evidence that a policy judges.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
