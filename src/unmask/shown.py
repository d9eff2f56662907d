"""What every result shows in a notebook: its figures in a small table, its own words, and its picture if it has one."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

LONGEST = 80  # letters of a field that is printed


class Shown:
    """A result that a notebook shows. It has no fields, so that a result stays what its own fields say."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Print short, whatever a dataclass would: one that prints itself in its own way keeps it."""
        if "__repr__" not in vars(cls):
            cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]  # before the dataclass sets its own

    def __repr__(self) -> str:
        """The fields, as a dataclass prints them, but none that is long."""
        shown = [(one.name, getattr(self, one.name)) for one in fields(self) if one.repr]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in shown)})"

    def to_frame(self) -> pl.DataFrame:
        """The figures of the result as a table: a row each, with its name and its value in words."""
        import polars as pl  # noqa: PLC0415 - slow to import

        from unmask.report import figures_of  # noqa: PLC0415 - pulls altair

        rows = figures_of(self)
        return pl.DataFrame(rows, schema={"figure": pl.String, "value": pl.String}, orient="row")

    def _repr_html_(self) -> str:
        """The result as a small piece of HTML."""
        from unmask.report import as_html  # noqa: PLC0415 - pulls altair, which only a notebook needs

        return as_html(self)

    def plot(self) -> Any:  # noqa: ANN401 - altair's own chart type
        """The picture of the result, as an Altair chart."""
        from unmask.report import as_chart  # noqa: PLC0415 - pulls altair

        return as_chart(self)


def _short(value: object) -> str:
    """A value as it is printed; an array by its size, and what is long not at all."""
    size = getattr(value, "shape", None)
    if size is not None and size != ():
        return f"<{' x '.join(map(str, size))}>"
    if isinstance(value, (tuple, list, dict, str)) and len(value) > LONGEST:
        return "..."
    text = repr(value)
    return text if len(text) <= LONGEST or isinstance(value, Shown) else "..."
