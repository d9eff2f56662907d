"""Fingerprints of confidential tables that tell nothing to anybody but their steward.

A plain checksum of the original undoes suppression: whoever has the rest of the table tries values for a blanked cell
until the checksum fits. So reports hold the checksum of what is published as it is, and of everything else a checksum
under a key (HMAC-SHA-256) that stays with the steward: in ``UNMASK_KEY``, or else in the folder of the user's data. The
command line makes the key when it first writes a report; Python only reads it. Without a key there is no fingerprint.

The same holds of whatever follows from the original: the risks of all people (``checksum``), and the names and headers
of files in which a run is kept. A folder of these has to know its table again, and has a key of its own where the
steward has none.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KEY = "UNMASK_KEY"  # names the file that holds the key
OWN = ".key"  # in a folder of kept work
BYTES = 32
PUBLISHED = ("released", "second", "model", "table ", "earlier")  # how names of inputs begin that are published


def key_file() -> Path:
    """Where the key is, or would be."""
    given = os.environ.get(KEY)
    folder = os.environ.get("XDG_DATA_HOME")
    return Path(given) if given else (Path(folder) if folder else Path("~/.local/share").expanduser()) / "unmask/key"


def make_key() -> None:
    """Make a key where there is none, readable by its owner only; a folder that cannot be written is no error."""
    place = key_file()
    with contextlib.suppress(OSError, RuntimeError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _make(place)


def _make(place: Path) -> None:
    """Make a key, unless there is one; what the system refuses is no error."""
    with contextlib.suppress(OSError):
        if place.exists() and place.stat().st_size > 0:  # an empty one is what a full disk has left
            return
        handle, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)  # 0600
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(BYTES) + "\n")
            _put(Path(name), place)
        finally:
            Path(name).unlink(missing_ok=True)


def _put(made: Path, place: Path) -> None:
    """Put a whole key in its place; of two runs that make one at the same time the first one's stays."""
    if place.exists():
        made.replace(place)  # an empty one
    else:
        with contextlib.suppress(FileExistsError):
            os.link(made, place)


def fingerprints(sources: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The inputs of a report, with checksums under the key in place of plain ones, but for what is published."""
    return {name: dict(source) if name.startswith(PUBLISHED) else _keyed(source) for name, source in sources.items()}


def is_same(told: Mapping[str, Any], sha256: str | None) -> bool | None:
    """Whether a table is the one that a report tells of; None where this cannot be told."""
    if told.get("sha256"):
        return bool(told["sha256"] == sha256)
    key, name = _key(), str(told.get("keyed") or "").partition(":")[0]
    if key is None or sha256 is None or name != _name(key):
        return None
    return hmac.compare_digest(str(told["keyed"]), _under(key, sha256))


def checksum(content: bytes) -> str | None:
    """A checksum under the steward's key of what must not be told; None where there is no key."""
    key = _key()
    return None if key is None else _under(key, hashlib.sha256(content).hexdigest())


def of_one_key(one: str, other: str) -> bool:
    """Whether two checksums are under the same key, so that they can be compared."""
    return bool(one) and one.partition(":")[0] == other.partition(":")[0]


def kept_checksum(place: Path, text: str) -> str:
    """A checksum of a text for a folder of kept work: under the steward's key, else under one that is in the folder."""
    return _under(_key() or _key_in(place), text)


def is_kept(place: Path, told: str, text: str) -> bool:
    """Whether a checksum in a folder of kept work is of this text, under either key; or a plain one, as before."""
    keys = [key for key in (_key(), _read(place / OWN)) if key is not None]
    return any(hmac.compare_digest(told, known) for known in (text, *(_under(key, text) for key in keys)))


def _keyed(source: Mapping[str, Any]) -> dict[str, Any]:
    key, plain = _key(), source.get("sha256")
    return {**source, "sha256": None, "keyed": _under(key, plain) if key and plain else None}


def _key() -> bytes | None:
    with contextlib.suppress(RuntimeError):  # nobody's home
        return _read(key_file())
    return None


def _read(place: Path) -> bytes | None:
    with contextlib.suppress(OSError, ValueError):
        key = bytes.fromhex(place.read_text(encoding="ascii").strip())
        return key if len(key) >= BYTES else None
    return None


def _key_in(folder: Path) -> bytes:
    """The key of a folder of kept work, made where there is none; a folder that cannot be written keeps nothing."""
    _make(folder / OWN)
    return _read(folder / OWN) or secrets.token_bytes(BYTES)


def _name(key: bytes) -> str:
    """A name by which a key is known again, and that does not tell it."""
    return hashlib.sha256(b"name of the key" + key).hexdigest()[:8]


def _under(key: bytes, sha256: str) -> str:
    return f"{_name(key)}:{hmac.new(key, sha256.encode(), hashlib.sha256).hexdigest()}"
