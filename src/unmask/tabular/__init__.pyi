from unmask.tabular.cells import Reading as Reading
from unmask.tabular.evidence import report_tables as report_tables
from unmask.tabular.risk import TableRisk as TableRisk
from unmask.tabular.risk import table_risk as table_risk
