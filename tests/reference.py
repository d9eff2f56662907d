"""Where the reference tables and the second tool's results are: ../shared, or what UNMASK_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl


def _folder() -> Path:
    given = os.environ.get("UNMASK_DATA")
    if given:
        return Path(given) if (Path(given) / "golden").is_dir() else Path(given).parent
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared" / "golden").is_dir():
            return parent / "shared"
    return Path("../shared")


REFERENCE = _folder()
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def data(name: str) -> pl.DataFrame:
    return pl.read_csv(REFERENCE / "data" / f"{name}.csv", infer_schema_length=None)


def golden(name: str) -> pl.DataFrame:
    return pl.read_csv(REFERENCE / "golden" / f"{name}.csv", infer_schema_length=None, null_values=["NA"])
