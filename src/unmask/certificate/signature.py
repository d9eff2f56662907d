"""The reviewer's signature: Ed25519, detached, over the bytes of a file. The key is theirs and is never kept here."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unmask.errors import EngineError, ParameterError, TableError
from unmask.inert import json_text
from unmask.tables import check_target, write_atomically

SCHEMA = "unmask-signature/1"
SUFFIX = ".sig"
HINT = "unmask sign --new-key reviewer.pem makes a pair of keys"


def new_key(path: str | Path) -> Path:
    """Write a private key (readable by its owner only) and its public key beside it; return the public key's file."""
    serialization, ed25519 = _library()
    private, public = Path(path), Path(path).with_suffix(".pub.pem")
    for target in (private, public):
        if target.exists():
            raise ParameterError(f"{target} is there already, and a key is never overwritten", hint="name another file")
    key = ed25519.Ed25519PrivateKey.generate()
    pem = serialization.Encoding.PEM
    hidden = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_atomically(private, hidden)
    write_atomically(public, key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return public


def sign_file(path: str | Path, key: str | Path, *, name: str = "") -> Path:
    """Sign the bytes of a file with a private key; the signature goes beside it, and says who signed if told."""
    serialization, ed25519 = _library()
    private = _key(key, lambda data: serialization.load_pem_private_key(data, password=None))
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise ParameterError(f"{key} is not a private Ed25519 key", hint=HINT)
    signed, at = _bytes(path), datetime.now(UTC).isoformat(timespec="seconds")
    raw = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    entry = {
        "schema": SCHEMA,
        "algorithm": "Ed25519",
        "name": name,
        "at": at,
        "sha256": hashlib.sha256(signed).hexdigest(),
    }
    entry |= {"public_key": _text(raw), "signature": _text(private.sign(_message(signed, name, at)))}
    target = Path(f"{path}{SUFFIX}")
    check_target(target)  # what a killed run left goes
    write_atomically(target, json_text(entry) + "\n")
    return target


def check_signature(path: str | Path, *, key: str | Path | None = None) -> dict[str, Any]:
    """Check the signature beside a file: who says to have signed, when, and with which key.

    Without ``key`` only that the holder of the key in the signature signed these bytes; whose key that is, is for the
    reader to know. ``problem`` is empty when nothing is wrong.
    """
    serialization, ed25519 = _library()
    entry, signed = _signature(Path(f"{path}{SUFFIX}")), _bytes(path)
    told = {"name": entry["name"], "at": entry["at"], "public_key": entry["public_key"], "problem": ""}
    raw = base64.b64decode(entry["public_key"])
    if key is not None:
        public = _key(key, serialization.load_pem_public_key)
        known = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        if known != raw:
            return {**told, "problem": "it was signed with another key"}
    try:
        given = base64.b64decode(entry["signature"])
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(given, _message(signed, entry["name"], entry["at"]))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is not valid
        kind = type(error).__name__
        return {**told, "problem": "the file, its signer or the day was changed after it was signed" if kind else ""}
    return told


def _message(signed: bytes, name: str, at: str) -> bytes:
    """What is signed: the file's checksum, who signs and when, so that none of them can be exchanged."""
    return json.dumps([SCHEMA, hashlib.sha256(signed).hexdigest(), name, at], ensure_ascii=False).encode()


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
    except ImportError:
        raise EngineError("signatures need the package cryptography", hint="pip install 'unmask[sign]'") from None
    return serialization, ed25519


def _key(path: str | Path, load: Any) -> Any:  # noqa: ANN401 - a key of a library without types of ours
    try:
        return load(_bytes(path))
    except (ValueError, TypeError) as error:
        if isinstance(error, TableError):
            raise
        raise ParameterError(f"{path} is not a key without a password, in PEM", hint=HINT) from None


def _bytes(path: str | Path) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise TableError(f"cannot read {path}", got=error.strerror or type(error).__name__) from None


def _signature(path: Path) -> dict[str, Any]:
    try:
        entry = json.loads(_bytes(path))
        whole = entry["schema"] == SCHEMA and all(
            isinstance(entry[name], str) for name in ("name", "at", "public_key", "signature")
        )
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, TableError):
            raise TableError(f"there is no signature at {path}", hint="unmask sign makes one") from None
        whole = False
    if not whole:
        raise TableError(f"{path} is not a signature of unmask", allowed=SCHEMA)
    return entry  # type: ignore[no-any-return]


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
