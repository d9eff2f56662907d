"""Mask a file: read, mask, write; what `unmask mask` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import ParameterError
from unmask.masking import Chain, ReverseMapped, parse_masking
from unmask.report.document import write_records
from unmask.report.write import check_writable
from unmask.tables.read import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def mask_file(
    table: str,
    methods: Sequence[str],
    output: str,
    *,
    reverse_map: bool = False,
    seed: int = 0,
    reading: Mapping[str, str | None] | None = None,
) -> str:
    """Mask a table and write the release; return a line that says what was done."""
    maskings = [parse_masking(text) for text in methods]
    masking = maskings[0] if len(maskings) == 1 else Chain(tuple(maskings))
    masking = ReverseMapped(masking) if reverse_map else masking
    target = Path(output)
    _check_target(table, target)
    options = dict(reading or {})
    separator = {"tab": "\t", "\\t": "\t"}.get(str(options.get("separator")), options.get("separator"))
    original = read_table(table, name="table", separator=separator, encoding=options.get("encoding"))
    release = masking.apply(original, seed)
    write_records(release, target)
    return f"{masking}, seed {seed}: {release.height:,} rows, {release.width} columns in {target}"


def _check_target(table: str, target: Path) -> None:
    """Refuse a target that cannot or must not be written, before any work."""
    if target.suffix.lower() not in {".csv", ".parquet"}:
        raise ParameterError(
            f"cannot write a release to {target.name}", got=f"suffix {target.suffix!r}", allowed=".csv or .parquet"
        )
    if target.resolve() == Path(table).resolve():
        raise ParameterError("the release would replace the original", hint="write it to another file")
    check_writable(target)
