"""The demo of `unmask demo` with fewer patients and a column of an evil name: one report that many tests look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

import unmask
from unmask.cli.demo import demo_tables

EVIL = "<script>alert('x')</script>"
PEOPLE = 150


@dataclass(frozen=True)
class Demo:
    assessment: unmask.Assessment
    original: pl.DataFrame
    html: Path
    json: Path


def make(folder: Path) -> Demo:
    original, released = (table.rename({"town": EVIL}) for table in demo_tables(PEOPLE, 0))
    original.write_csv(folder / "original.csv")
    released.write_csv(folder / "release.csv")
    release = unmask.Release(
        folder / "original.csv", folder / "release.csv", id="patient", confidential=["diagnosis", "cost"]
    )
    assessment = unmask.assess(release, policy="internal")  # which may call so few people safe
    assessment.write_html(folder / "report.html")
    assessment.write_json(folder / "report.json")
    return Demo(assessment, original, folder / "report.html", folder / "report.json")
