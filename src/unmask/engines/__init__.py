"""Where data lives that is larger than memory: the same counts, made there, and only their counts brought here.

`open_store` reads two tables (files, folders, patterns, relations of DuckDB, DataFrames of Spark) where they are
counted, as codes, and removes these afterwards; without an id no row of the release belongs to anybody, and people
outside may stand beside those of the original. The functions that count and search take the `Store` it gives and
return arrays of counts, equal to those of the same tables in memory. The queries are plain SQL, in one file; one other
file knows DuckDB, and one Spark.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
