"""A dataclass is a command: its fields are what is typed, the keys of the TOML file, and the names in the manifest.

Each field is made by `option`, which says what it means, how it is typed, and which file it names, if any. From that
come the command (`as_command`), the reading of a TOML file (`load_toml`), and the checks of files (`targets`).
"""

from __future__ import annotations

import csv
import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from unmask.errors import ParameterError, did_you_mean
from unmask.schemas import KEY, check_form

T = TypeVar("T")
TABLE = ("table",)  # written in any format that tables have
Reads = Literal["", "table", "table or number", "matrix", "matrix or columns", "policy", "settings", "report", "plan"]


@dataclass(frozen=True, slots=True)
class Spec:
    """What is known of an option besides its name, type and default."""

    words: str
    flags: tuple[str, ...] = ()  # how it is typed; --name by default
    place: bool = False  # typed by its place, without a flag
    reads: Reads = ""  # the file that it names
    writes: tuple[str, ...] = ()  # suffixes of the file that it names; TABLE: those of tables
    screen: bool = False  # "-" stands for standard output
    role: bool = False  # a parameter of Release, of the same name
    minimum: int | None = None
    whole: bool = False  # entries of a list hold commas: it is given by saying the option again
    blank: bool = False  # an empty entry means something
    typed: bool = True  # False: a table of the TOML file only
    example: str = ""  # of name=value, for messages


def option(words: str, *flags: str, default: Any = MISSING, **more: Any) -> Any:  # noqa: ANN401 - a field of any type
    """Declare a field of options; without a default it must be given."""
    metadata = {"spec": Spec(words, flags, **more)}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


def written(words: str, *flags: str) -> Any:  # noqa: ANN401 - a field
    """Declare a table that is written where it is asked for; by itself it is --output or -o."""
    return option(f"{words} (.csv, .jsonl, .parquet ..).", *(flags or ("--output", "-o")), default=None, writes=TABLE)


def spec_of(entry: Field[Any]) -> Spec:
    """What `option` was told about a field."""
    found: Spec = entry.metadata["spec"]
    return found


def flag_of(entry: Field[Any]) -> str:
    """How an option is typed, for messages."""
    spec = spec_of(entry)
    return entry.name if spec.place else _flags(entry)[0].split("/")[0]


def options_of(kind: type) -> list[Field[Any]]:
    """All options of a command: its own first, then those that it shares with others."""
    line = [vars(part).get("__annotations__", {}) for part in kind.__mro__]
    return sorted(fields(kind), key=lambda entry: next(k for k, names in enumerate(line) if entry.name in names))


def roles_of(options: object) -> dict[str, Any]:
    """What options say of a release: a role has the name of `Release`'s parameter."""
    return {entry.name: getattr(options, entry.name) for entry in options_of(type(options)) if spec_of(entry).role}


def as_command(kind: type[T], run: Callable[[T], int]) -> Callable[..., None]:
    """Make the function that typer calls: one parameter per field, help from the docstring, exit code from ``run``."""

    def command(**given: object) -> None:
        raise typer.Exit(run(read_options(kind, given)))

    hints = get_type_hints(kind)
    parameters = [_parameter(entry, hints[entry.name]) for entry in options_of(kind) if spec_of(entry).typed]
    command.__doc__ = kind.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return command


def read_options(kind: type[T], given: Mapping[str, Any]) -> T:
    """Build options of what was typed, and of the TOML file where one is named; what is typed wins."""
    hints = get_type_hints(kind)
    known = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    values = {} if given.get("config") is None else load_toml(kind, Path(given["config"]))
    for name, raw in given.items():
        if raw is not None and raw != []:
            values[name] = _typed(known[name], hints[name], raw)
    for name, value in values.items():
        least = spec_of(known[name]).minimum
        if least is not None and value is not None and value < least:
            raise ParameterError(f"{flag_of(known[name])} is a number from {least}", got=str(value))
    return kind(**values)


# --- the command line -----------------------------------------------------------------------------------------------


def _flags(entry: Field[Any]) -> tuple[str, ...]:
    return spec_of(entry).flags or ("--" + entry.name.replace("_", "-"),)


def _parameter(entry: Field[Any], hint: Any) -> inspect.Parameter:  # noqa: ANN401 - a type
    """One parameter of the command; what is not given is None, so that the TOML file can say it."""
    spec, needed = spec_of(entry), entry.default is MISSING and entry.default_factory is MISSING
    words, base = spec.words, _base(hint)
    if not needed and base is not bool and entry.default not in (None, (), MISSING) and "default" not in words:
        words = f"{words.removesuffix('.')} (default {entry.default})."
    typed: Any = list[str] if get_origin(base) in {tuple, dict} else base if base in {str, int, float, bool} else str
    shown = None if base is bool else entry.name.upper() if spec.place else _metavar(spec, base)
    return inspect.Parameter(
        entry.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if needed else None,
        annotation=Annotated[
            typed if needed else typed | None,
            typer.Argument(help=words, metavar=shown, show_default=False)
            if spec.place
            else typer.Option(*_flags(entry), help=words, metavar=shown, show_default=False),
        ],
    )


def _metavar(spec: Spec, base: Any) -> str:  # noqa: ANN401 - a type
    """What stands for the value in the help."""
    if spec.reads or spec.writes:
        return "FILE"
    if get_origin(base) is dict:
        return "NAME=VALUE"
    if get_origin(base) is tuple and not spec.whole:
        return "A,B,.."
    return "NUMBER" if base in {int, float} else "TEXT"


def _base(hint: Any) -> Any:  # noqa: ANN401 - a type
    """The type of an option that is given."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return hint if get_origin(hint) in {tuple, dict} or not kinds else kinds[0] if len(kinds) == 1 else tuple(kinds)


def _typed(entry: Field[Any], hint: Any, raw: Any) -> Any:  # noqa: ANN401 - the type follows the field
    """Turn what was typed into the field's type."""
    base = _base(hint)
    if get_origin(base) is tuple:
        return tuple(raw) if spec_of(entry).whole else listed(raw)
    if get_origin(base) is dict:
        return _named(raw, flag_of(entry), spec_of(entry).example, number=get_args(base)[1] is float)
    if base == (str, float):
        return _number_or_text(raw)
    return raw


def listed(values: list[str] | str) -> tuple[str, ...]:
    """Split "a,b" and '"a,b",c' as a CSV line does."""
    lines = [values] if isinstance(values, str) else values
    return tuple(name for value in lines for name in next(csv.reader([value], skipinitialspace=True), []))


def _named(given: list[str], flag: str, example: str, *, number: bool) -> dict[str, Any]:
    """Read name=value, or name=number,name=number."""
    found: dict[str, Any] = {}
    for entry in listed(given):
        name, there, value = entry.rpartition("=")
        try:
            found[name] = float(value) if number else value
        except ValueError:
            there = ""
        if not there or not name:
            what = "number" if number else "value" if example else "kind"
            hint = f"{flag} {example or ('age=2' if number else 'age=numeric')}"
            raise ParameterError(f"{flag} {entry!r} is not name={what}", hint=hint)
    return found


def _number_or_text(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


# --- TOML -----------------------------------------------------------------------------------------------------------


def load_toml(kind: type, path: Path) -> dict[str, Any]:
    """Read and check a TOML file of options; paths in it are relative to its own folder."""
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError:
        raise ParameterError(f"no configuration file at {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ParameterError(f"{path} is not a readable TOML file", got=str(error).split("\n")[0]) from None
    check_form("settings", data.pop(KEY, None), path, ParameterError)
    return check_settings(kind, data, path)


def check_settings(kind: type, data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Check options by name and type, and give them the names of the fields. ``path``: the file they come from."""
    hints = get_type_hints(kind)
    known = {name: entry for entry in fields(kind) for name in _keys(entry)}
    values: dict[str, Any] = {}
    for key, value in {**data, **data.get("reading", {})}.items():
        name = key.replace("-", "_")
        if name == "reading" and isinstance(value, dict):  # as the manifest has it
            continue
        if name not in known:
            allowed = [entry.name for entry in options_of(kind) if entry.name != "config"]
            hint = did_you_mean(name, known)
            raise ParameterError(f"unknown option {key!r} in {path}", allowed=", ".join(allowed), hint=hint)
        entry = known[name]
        if entry.name in values:
            raise ParameterError(f"option {entry.name!r} in {path} is given twice", hint="leave one of the two names")
        values[entry.name] = _checked(entry, hints[entry.name], value, path)
    return values


def _keys(entry: Field[Any]) -> list[str]:
    """Names of an option in a TOML file: the field's, and those that are typed."""
    typed = [part for flag in spec_of(entry).flags for part in flag.split("/")[:1] if part.startswith("--")]
    return [] if entry.name == "config" else [entry.name, *(flag[2:].replace("-", "_") for flag in typed)]


def _checked(entry: Field[Any], hint: Any, value: Any, path: Path) -> Any:  # noqa: ANN401 - the type follows the field
    what, base = f"option {entry.name!r} in {path}", _base(hint)
    if value == "" or (isinstance(value, list) and "" in value and not spec_of(entry).blank):
        raise ParameterError(f"{what} is empty", hint="give a value, or leave it out")
    if get_origin(base) is tuple and get_origin(get_args(base)[0]) is dict:
        if not isinstance(value, list) or not all(isinstance(part, dict) for part in value):
            raise ParameterError(f"{what} is not a list of tables", hint=f"[[{entry.name}]]")
        return tuple({name: _beside(part, path) for name, part in table.items()} for table in value)
    if get_origin(base) is tuple:
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise ParameterError(f"{what} is not a list of names", hint=f'{entry.name} = ["a", "b"]')
        return tuple(str(path.parent / part) for part in value) if spec_of(entry).reads == "table" else tuple(value)
    wanted: Any = dict if get_origin(base) is dict else (int, float) if base is float else base
    wanted = (str, int, float) if base == (str, float) else wanted
    if not isinstance(value, wanted) or (isinstance(value, bool) and base is not bool):
        allowed = "a file or a number" if base == (str, float) else getattr(wanted, "__name__", "a number")
        raise ParameterError(f"{what} has the wrong type", got=type(value).__name__, allowed=allowed)
    spec = spec_of(entry)
    if spec.example.endswith(".csv"):  # files by name
        return {name: str(path.parent / str(part)) for name, part in value.items()}
    named = bool(spec.reads or spec.writes) and isinstance(value, str) and not (spec.screen and value == "-")
    if named and (spec.reads != "policy" or value.endswith(".toml")):
        return str(path.parent / value)
    return value


def _beside(value: Any, path: Path) -> Any:  # noqa: ANN401 - any value of a TOML file
    """A policy file that a table names is beside the file that has the table."""
    return str(path.parent / value) if isinstance(value, str) and value.endswith(".toml") else value
