r"""Text that comes from tables and files, made harmless where it is shown: it is read, and never does anything.

A column may be called anything: a terminal escape that clears the screen, letters that turn the line around, HTML, a
formula. Pages escape HTML themselves (autoescaping); what no escaping covers is here, in one place: characters that
steer a terminal or the direction of text are written out (``\x1b``), JSON can stand in a script, and cells of tables
that tell about data are no formulas. Tables that *are* data are written as they are.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # of a terminal, but tab and line end
TURNING = r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # marks of direction, unseen
STEERING = rf"{CONTROLS}{TURNING}\ud800-\udfff"
STEERS = re.compile(f"[{STEERING}]")
IN_JSON = re.compile(f"[<{STEERING}]")
FORMULA = r"^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]"  # what a spreadsheet computes, in full width too
NUMBER = r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$"
TEXT_MARK = "'"  # a cell that begins with it is text


def visible(text: str) -> str:
    """The text with every character that steers a terminal or the direction of writing written out."""
    return STEERS.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def inert(value: object) -> object:
    """What a template is given, as every page shows it: text made visible; escaping it stays with the template."""
    return type(value)(visible(value)) if isinstance(value, str) else value


def json_text(value: Any, *, indent: int | None = 1, **options: Any) -> str:  # noqa: ANN401 - any JSON value
    """JSON that people can read, that steers no terminal, and that can stand in a script: the same value is read."""
    written = json.dumps(value, indent=indent, ensure_ascii=False, **options)
    return IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """The table with names and texts that a spreadsheet would compute marked as text; numbers stay as they are."""
    import polars as pl  # noqa: PLC0415 - what is not needed is not imported

    texts = [
        pl.when(pl.col(name).str.contains(FORMULA) & ~pl.col(name).str.contains(NUMBER))
        .then(TEXT_MARK + pl.col(name))
        .otherwise(pl.col(name))
        .alias(name)
        for name in table.columns
        if table[name].dtype == pl.String
    ]
    made = table.with_columns(texts)
    made.columns = [TEXT_MARK + name if re.match(FORMULA, name) else name for name in table.columns]
    return made
