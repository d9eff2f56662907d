"""Every file that a command reads or writes: checked before the work begins, written whole at the end."""

from __future__ import annotations

from pathlib import Path

from unmask.cli.fields import flag_of, options_of, spec_of
from unmask.cli.options import Common
from unmask.errors import ParameterError
from unmask.tables import check_file, check_target, format_of, write_atomically, write_findings, write_table

MATRICES = (".npy", ".csv", ".tsv", ".parquet")


def check_files(options: Common) -> None:
    """Refuse, before any work, inputs that cannot be read and outputs that cannot or must not be written."""
    inputs = _inputs(options)
    for path in inputs:
        check_file(path)
    taken: list[Path] = []
    for entry in options_of(type(options)):
        spec, target = spec_of(entry), getattr(options, entry.name)
        if not spec.writes or target is None or (spec.screen and target == "-"):
            continue
        flag, path = flag_of(entry), Path(target)
        if target == "-":
            raise ParameterError(f"{flag} cannot go to standard output", hint="give a file; --json - prints the JSON")
        if any(_same(path, other) for other in inputs):
            raise ParameterError(f"{flag} {target} is also an input", hint="write the result to another file")
        if any(_same(path, other) for other in taken):
            raise ParameterError(f"two outputs go to {target}", hint="give each its own file")
        check_target(path, tuple(suffix for suffix in spec.writes if suffix))
        taken.append(path)


def _inputs(options: Common) -> list[Path]:
    """Files that the options name to be read; a number of people, a profile or a column is none."""
    found = []
    for entry in options_of(type(options)):
        reads, value = spec_of(entry).reads, getattr(options, entry.name)
        if not reads or value is None or isinstance(value, (int, float)):
            continue
        if reads == "policy" and not value.endswith(".toml"):
            continue
        if reads == "matrix or columns" and not is_matrix(value):
            continue
        found += [Path(one) for one in ((value,) if isinstance(value, str) else value)]
    return found


def is_matrix(given: str) -> bool:
    """Whether distances are given as a file: by its suffix, or because it is there; columns of the table otherwise."""
    return format_of(given) in MATRICES or Path(given).is_file()


def _same(one: Path, two: Path) -> bool:
    """Whether two paths are one file, by whatever name."""
    if one.exists() and two.exists():
        return one.samefile(two)
    return one.resolve() == two.resolve()


__all__ = ["check_files", "is_matrix", "write_atomically", "write_findings", "write_table"]
