"""A folder in which every finished point is kept, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unmask.errors import ParameterError, TableError
from unmask.fingerprints import is_kept, kept_checksum
from unmask.protect.frontier import Point
from unmask.schemas import FORMS, KEY, check_form
from unmask.tables import locked_folder, write_atomically

HEADER, POINTS, TABLE = "explore.json", "points", "table"
OTHER = {"roles": "with other roles of columns", "keep": "with other analyses to keep", "axes": "with other axes"}


@contextmanager
def opened(folder: str | Path | None, about: dict[str, Any], *, resume: bool) -> Iterator[Store | None]:
    """Open a folder for one run at a time; None keeps nothing. ``about``: the table and the settings of the run."""
    if folder is None:
        if resume:
            raise ParameterError("there is no folder to go on in", hint="name it (--folder)")
        yield None
        return
    with locked_folder(Path(folder)) as place:
        (place / POINTS).mkdir(mode=0o700, exist_ok=True)
        store = Store(place)
        store.begin(about, resume=resume)
        yield store


class Store:
    """Finished points in a folder, each in a file of its own that is written whole or not at all."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def begin(self, about: dict[str, Any], *, resume: bool) -> None:
        """Refuse a folder of another table or of other settings; note those of a new one."""
        header = self.place / HEADER
        before = _read(header) if header.exists() else {}
        check_form("run", before.get(KEY), header)
        for key, value in about.items():
            if before and not self._same(key, before.get(key), value):
                raise TableError(
                    f"{self.place} holds a run {OTHER.get(key, f'of another {key}')}",
                    got=None if key == TABLE else _differing(before.get(key), value),
                    hint="choose another folder, or go on with what that run was begun with",
                )
        if before and not resume and any((self.place / POINTS).iterdir()):
            raise TableError(
                f"{self.place} holds a run already", hint="go on with it (--resume), or choose another folder"
            )
        told = {KEY: FORMS["run"].name(), **about, TABLE: kept_checksum(self.place, str(about[TABLE]))}
        write_atomically(header, json.dumps(told, indent=1))

    def _same(self, key: str, before: object, now: object) -> bool:
        """Whether a run was begun with this, too; of the table only a checksum under a key is kept."""
        if key == TABLE:
            return is_kept(self.place, str(before), str(now))
        return bool(before == json.loads(json.dumps(now)))

    def find(self, masking: str, seed: int, stage: str) -> Point | None:
        """A point that was finished before."""
        path = self._path(masking, seed, stage)
        if not path.exists():
            return None
        kept = _read(path)
        pairs = {key: tuple((name, value) for name, value in kept.get(key, ())) for key in ("measured", "used")}
        return Point(**{**kept, **pairs})

    def keep(self, point: Point, stage: str | None = None) -> None:
        """Write a finished point, as one of its own stage or of another one."""
        write_atomically(self._path(point.masking, point.seed, stage or point.stage), json.dumps(asdict(point)))

    def _path(self, masking: str, seed: int, stage: str) -> Path:
        name = hashlib.sha256(f"{masking}|{seed}|{stage}".encode()).hexdigest()[:24]
        return self.place / POINTS / f"{name}.json"


def _differing(before: object, now: object) -> str:
    """What is asked now; of roles and other settings with names only those that differ."""
    if not isinstance(before, dict) or not isinstance(now, dict):
        return str(now)[:60]
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return ", ".join(f"{name}: {now.get(name, 'none')}, then {before.get(name, 'none')}" for name in names)[:200]


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TableError(f"{path} is damaged", hint="delete it, or choose another folder") from error
    if not isinstance(found, dict):
        raise TableError(f"{path} is no part of a run", hint="choose another folder")
    return found
