"""Options of an assessment from a TOML file, with the same names as on the command line."""

from __future__ import annotations

import csv
import tomllib
from typing import TYPE_CHECKING, Any

from unmask.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from pathlib import Path

PATHS = ("original", "released", "control", "distances", "known_distances", "json", "html", "records", "fix")
TEXTS = ("id", "weight", "household", "separator", "encoding", "policy", "masking")
LISTS = ("quasi", "confidential", "ignore", "categorical", "coordinates", "only", "skip")
OTHERS = ("population", "kind", "scenario", "seed", "synthetic", "show_values", "quiet", "k", "l")
KEYS = (*PATHS, *TEXTS, *LISTS, *OTHERS)


def load_config(path: Path) -> dict[str, Any]:
    """Read and check a configuration file; paths in it are relative to its own folder."""
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError:
        raise ParameterError(f"no configuration file at {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ParameterError(f"{path} is not a readable TOML file", got=str(error).split("\n")[0]) from None
    return {key.replace("-", "_"): _checked(key.replace("-", "_"), value, path) for key, value in data.items()}


def _checked(key: str, value: object, path: Path) -> Any:  # noqa: ANN401 - the type follows the key
    if key not in KEYS:
        raise ParameterError(f"unknown option {key!r} in {path}", allowed=", ".join(KEYS), hint=did_you_mean(key, KEYS))
    if value == "" or (isinstance(value, list) and "" in value):
        raise ParameterError(f"option {key!r} in {path} is empty", hint="give a value, or leave it out")
    if key in LISTS:
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise ParameterError(f"option {key!r} in {path} is not a list of names", hint=f'{key} = ["a", "b"]')
        return tuple(value)
    wanted: dict[str, type | tuple[type, ...]] = {
        "population": (str, int, float),
        "kind": dict,
        "scenario": dict,
        "seed": int,
        "k": int,
        "l": int,
        "synthetic": bool,
        "show_values": bool,
        "quiet": bool,
    }
    plain = wanted.get(key) in {int, wanted["population"]}
    if not isinstance(value, wanted.get(key, str)) or (plain and isinstance(value, bool)):
        raise ParameterError(
            f"option {key!r} in {path} has the wrong type",
            got=type(value).__name__,
            allowed="a file or a number" if key == "population" else str(wanted.get(key, str)).split("'")[1],
        )
    if (key in PATHS and value != "-") or (key == "population" and isinstance(value, str)):
        return str(path.parent / str(value))
    if key == "policy" and str(value).endswith(".toml"):
        return str(path.parent / str(value))
    return value


def read_kinds(given: list[str] | dict[str, str] | None) -> dict[str, str]:
    """Read kinds of columns as typed (name=kind), or as a table of the configuration file."""
    if isinstance(given, dict):
        return given
    kinds = {}
    for entry in given or ():
        name, found, kind = entry.rpartition("=")
        if not found:
            raise ParameterError(f"--kind {entry!r} is not name=kind", hint="--kind age=numeric")
        kinds[name] = kind
    return kinds


def read_numbers(given: list[str] | tuple[str, ...] | None, option: str, example: str) -> dict[str, float]:
    """Read numbers of columns as typed (name=number)."""
    numbers = {}
    for entry in given or ():
        name, _, number = entry.rpartition("=")
        try:
            numbers[name] = float(number)
        except ValueError:
            raise ParameterError(f"{option} {entry!r} is not name=number", hint=f"{option} {example}") from None
    return numbers


def read_population(given: str | float | None) -> str | float | None:
    """Take a number of people as typed ("50000", "5e4"), or the path of a table of them."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def listed(values: list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    """Split "a,b" and '"a,b",c' as a CSV line does; a list from a configuration file (a tuple) holds whole names."""
    if isinstance(values, tuple):
        return values
    return tuple(name for value in values or () for name in next(csv.reader([value], skipinitialspace=True), []))
