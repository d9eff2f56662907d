"""Finished attacks are kept in a folder, so that an assessment that was stopped goes on where it was.

Each attack is one file of JSON, written whole or not at all, under a name that follows from the tables (by their
hashes), the options, the seed and the versions: what does not fit is never taken. The name is a checksum under a key,
since a plain one would let others try values until it fits. The file holds what the report tells of the attack, and no
cell of the tables.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import ParameterError
from unmask.evidence import PARTS, Absence, Evidence
from unmask.fingerprints import kept_checksum
from unmask.made_with import made_with
from unmask.schemas import FORMS, KEY, check_form
from unmask.tables import locked_folder, write_atomically

if TYPE_CHECKING:
    from unmask.tables import Release

TYPE, ARRAY, TUPLE = "$type", "$array", "$tuple"


@contextmanager
def keeping(folder: str | Path | None, release: Release, **asked: Any) -> Iterator[Kept | None]:  # noqa: ANN401 - options
    """Open a folder for one run at a time; None keeps nothing. ``asked``: what else decides what an attack finds."""
    if folder is None:
        yield None
        return
    with locked_folder(Path(folder)) as place:
        yield Kept(place, _about(release, asked))


@contextmanager
def keeping_counts(
    folder: str | Path | None, inputs: Mapping[str, str | None], asked: Mapping[str, Any], package: str
) -> Iterator[Kept | None]:
    """The same of tables that an engine holds: by the checksums of their files, the options and its package."""
    if folder is None:
        yield None
        return
    if None in inputs.values():
        raise ParameterError(
            "what is found can be kept for files of this machine only, which are told by their checksums",
            got=", ".join(name for name, sha256 in inputs.items() if sha256 is None), hint="leave out the folder",
        )  # fmt: skip
    versions = made_with(package)
    with locked_folder(Path(folder)) as place:
        yield Kept(place, json.dumps([dict(inputs), dict(asked), versions], sort_keys=True, default=str))


def _about(release: Release, asked: dict[str, Any]) -> str:
    """Everything that an attack's result follows from, in one line."""
    inputs = {name: source.sha256 for name, source in release.sources.items()}
    inputs |= {
        f"hierarchy of {name}": _checksum(sorted(tree.rows.items())) for name, tree in release.hierarchies.items()
    }
    matrices = {"distances": release.distances, "known distances": release.known_distances}
    inputs |= {name: _checksum(encode(matrix)) for name, matrix in matrices.items() if matrix is not None}
    programs = getattr(release.masking, "files", ())
    inputs |= {f"program {path}": hashlib.sha256(path.read_bytes()).hexdigest() for path in programs}
    versions = made_with()
    return json.dumps([inputs, release.settings, asked, versions], sort_keys=True, default=str)


def _checksum(content: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Kept:
    """What attacks on one release have found so far, in a folder."""

    place: Path
    about: str

    def find(self, party: object, measure: str) -> Evidence | Absence | None:
        """What an attack found before; None where it has not ended, or its file cannot be read."""
        path = self._path(party, measure)
        try:
            told = json.loads(path.read_text())
            form, kept = told[KEY], told["found"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        check_form("state", form, path)
        try:
            found = decode(kept)
        except (ValueError, KeyError, TypeError):
            return None
        return found if isinstance(found, (Evidence, Absence)) else None

    def keep(self, party: object, measure: str, found: Evidence | Absence) -> None:
        """Write what an attack found; an attack that could not run, or quotes values, is run again."""
        if not found.quotes if isinstance(found, Evidence) else found.outcome == "does not apply":
            write_atomically(
                self._path(party, measure), json.dumps({KEY: FORMS["state"].name(), "found": encode(found)})
            )

    def _path(self, party: object, measure: str) -> Path:
        told = f"{self.about}|{party}|{measure}"
        name = kept_checksum(self.place, hashlib.sha256(told.encode()).hexdigest()).partition(":")[2]
        return self.place / f"{measure}-{name[:24]}.json"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What attacks on one release have found so far, as long as the program runs."""

    found: dict[tuple[object, str], Evidence | Absence] = field(default_factory=dict)

    def find(self, party: object, measure: str) -> Evidence | Absence | None:
        """What an attack found before; None where it has not run."""
        return self.found.get((party, measure))

    def keep(self, party: object, measure: str, found: Evidence | Absence) -> None:
        """Note what an attack found."""
        self.found[party, measure] = found


def encode(value: Any) -> Any:  # noqa: ANN401 - anything that evidence is made of
    """Evidence as JSON, to the last bit."""
    if isinstance(value, np.ndarray):
        whole = np.ascontiguousarray(value)
        return {ARRAY: base64.b64encode(whole.tobytes()).decode(), "dtype": whole.dtype.str, "shape": value.shape}
    if isinstance(value, np.generic):
        return value.item()
    if is_dataclass(value):
        return {
            TYPE: type(value).__name__,
            **{entry.name: encode(getattr(value, entry.name)) for entry in fields(value)},
        }
    if isinstance(value, tuple):
        named = {TYPE: type(value).__name__} if hasattr(value, "_fields") else {}
        return {**named, TUPLE: [encode(entry) for entry in value]}
    return value


def decode(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    """Make evidence of JSON again."""
    if not isinstance(value, dict):
        return value
    if ARRAY in value:
        flat = np.frombuffer(base64.b64decode(value[ARRAY]), dtype=np.dtype(value["dtype"]))
        return flat.reshape(value["shape"]).copy()
    kind = PARTS[value[TYPE]] if TYPE in value else tuple
    if TUPLE in value:
        entries = [decode(entry) for entry in value[TUPLE]]
        return kind(entries) if kind is tuple else kind(*entries)
    return kind(**{name: decode(entry) for name, entry in value.items() if name != TYPE})
