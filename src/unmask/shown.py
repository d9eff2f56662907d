"""What every result shows in a notebook: its figures in a small table, its own words, and its picture if it has one."""

from __future__ import annotations

from typing import Any


class Shown:
    """A result that a notebook shows. It has no fields, so that a result stays what its own fields say."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The result as a small piece of HTML."""
        from unmask.report import as_html  # noqa: PLC0415 - pulls altair, which only a notebook needs

        return as_html(self)

    def plot(self) -> Any:  # noqa: ANN401 - altair's own chart type
        """The picture of the result, as an Altair chart."""
        from unmask.report import as_chart  # noqa: PLC0415 - pulls altair

        return as_chart(self)
