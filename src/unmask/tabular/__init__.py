"""TABLES: what published counts and amounts tell about the people behind them, without any record.

`table_risk` takes tables with one row a cell and works out, by integer programming over all of them together, how
closely each cell follows; `report_tables` says it as evidence that a policy judges.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
