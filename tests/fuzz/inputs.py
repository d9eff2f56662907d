"""One place that makes an input from its seed: what it is, and through which door it goes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz import files, frames

KINDS = {"damaged": 44, "text": 23, "frames": 20, "typed": 7, "records": 5, "place": 1}  # in a hundred
WAYS = {  # what is done with it, in a hundred
    "frames": {"read": 57, "one": 23, "quick": 8, "all": 2, "command": 10},
    "place": {"read": 50, "command": 50},
    "files": {"read": 85, "one": 4, "command": 11},
}
QUICK = (
    "anonymity",
    "cells",
    "keys",
    "uniqueness",
    "household",
    "magnitude",
    "population",
    "values",
    "special_uniques",
)


@dataclass(frozen=True)
class Input:
    """Two tables or files, what is said of them, and what is done with them."""

    seed: int
    kind: str
    way: str
    original: Any
    released: Any
    said: dict[str, Any]
    canary: bool  # whether a value that shows in a message is one for sure: damage may make names of values
    lot: random.Random  # for what is still to be chosen


def kind_of(seed: int) -> tuple[random.Random, str, str]:
    """What the input of a seed is, and what is done with it."""
    rng = random.Random(f"unmask:{seed}")  # noqa: S311 - no secret
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    ways = WAYS.get(kind, WAYS["files"])
    return rng, kind, rng.choices(list(ways), list(ways.values()))[0]


def make(seed: int, folder: Path) -> Input:
    """The input of a seed; files are put into an empty folder."""
    rng, kind, way = kind_of(seed)
    if kind == "frames":
        pair = frames.pair(rng)
        return Input(seed, kind, way, pair.original, pair.released, pair.said, canary=True, lot=rng)
    if kind == "place":
        name = rng.choice(list(files.PLACES))
        path = files.PLACES[name](folder)
        return Input(seed, f"place: {name}", way, path, files.GOOD, {}, canary=True, lot=rng)
    makers = {"damaged": lambda: files.damaged(rng), "typed": lambda: files.typed(rng)}
    makers |= {"text": lambda: files.text(rng), "records": lambda: files.records(rng)}
    name, raw = makers[kind]()
    (folder / name).write_bytes(raw)
    told = f"{kind}: {''.join(Path(name).suffixes[-2:])}" if kind == "damaged" else kind
    return Input(seed, told, way, folder / name, folder / name, {}, canary=kind != "damaged", lot=rng)
