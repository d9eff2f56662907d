"""What engines write differently: names, types and a few functions. All else of a query is the same text for all."""

from __future__ import annotations

import re
from dataclasses import dataclass

MICROSECONDS = 86_400_000_000  # of a day
BRACED = re.compile(r"[{](\d)[}]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The SQL of one engine."""

    quote: str  # around names
    text: str  # the type of texts
    wide: str  # of whole numbers of any size
    small: tuple[str, str, str]  # of codes below 2^8, 2^16 and 2^31
    sha256: str  # of a text, as 64 digits
    clock: str  # the type of times without a zone
    wide_text: str  # of whole numbers of many digits that are read from text

    def name(self, column: str) -> str:
        """A column or table by its name, whatever is in it."""
        return self.quote + column.replace(self.quote, 2 * self.quote) + self.quote

    def code(self, width: int) -> str:
        """The type that holds so many codes."""
        return self.small[0 if width <= 2**8 else 1 if width <= 2**16 else 2]

    def hashed(self, text: str) -> str:
        """SHA-256 of a text."""
        return f"{self.sha256.format(text)}"

    def fits(self, text: str, form: str) -> str:
        """Whether all of a text has a form: a regular expression without backslashes."""
        return f"regexp_full_match({text}, '{form}')"

    def rewritten(self, text: str, form: str, template: str) -> str:
        """A text of some form, written in another way: "{1}" is its first group. Any other text stays."""
        return f"regexp_replace({text}, '^{form}$', '{re.sub(BRACED, self._group, template)}')"

    def _group(self, found: re.Match[str]) -> str:
        return f"\\{found[1]}"

    def moment(self, written: str, kind: str) -> str:  # noqa: ARG002 - of others
        """A date or time as it is compared; ``kind`` is its type."""
        return f"CAST({written} AS TIMESTAMP)"

    def days(self, moment: str) -> str:
        """The same in days."""
        return f"epoch_us({moment}) / {MICROSECONDS}.0"

    def days_of_date(self, date: str) -> str:
        """A date in days."""
        return f"datediff('day', DATE '1970-01-01', {date})"

    def numbers(self, n: int, parts: int) -> str:  # noqa: ARG002 - of others
        """The whole numbers from 0 to n - 1, in so many parts where that can be said."""
        return f"SELECT range AS id FROM range({n})"


class SparkDialect(Dialect):
    """The SQL of Spark. Times are microseconds, whatever the time zone of the session."""

    __slots__ = ()

    def fits(self, text: str, form: str) -> str:
        """Whether all of a text has a form: a regular expression without backslashes."""
        return f"{text} RLIKE '^(?:{form})$'"

    def _group(self, found: re.Match[str]) -> str:
        return f"${found[1]}"

    def moment(self, written: str, kind: str) -> str:
        """Microseconds since 1970: of a clock without zone as it shows, of an instant in UTC."""
        if kind == "DATE":
            return f"unix_date({written}) * CAST({MICROSECONDS} AS BIGINT)"
        if kind == "TIMESTAMP":
            return f"unix_micros({written})"
        clock = f"hour({written}) * 3600 + minute({written}) * 60"
        seconds = f"CAST(unix_date(CAST({written} AS DATE)) AS BIGINT) * 86400 + {clock}"
        return f"({seconds}) * 1000000 + CAST(extract(SECOND FROM {written}) * 1000000 AS BIGINT)"

    def days(self, moment: str) -> str:
        """The same in days."""
        return f"CAST({moment} AS DOUBLE) / CAST({MICROSECONDS} AS DOUBLE)"

    def days_of_date(self, date: str) -> str:
        """A date in days."""
        return f"unix_date({date})"

    def numbers(self, n: int, parts: int) -> str:
        """The whole numbers from 0 to n - 1, in so many parts."""
        return f"SELECT id FROM range(0, {n}, 1, {parts})"


DUCKDB = Dialect('"', "VARCHAR", "HUGEINT", ("UTINYINT", "USMALLINT", "INTEGER"), "sha256({})", "TIMESTAMP", "HUGEINT")
SPARK = SparkDialect(
    "`", "STRING", "DECIMAL(38, 0)", ("SMALLINT", "INT", "INT"), "sha2({}, 256)", "TIMESTAMP_NTZ", "STRING"
)
