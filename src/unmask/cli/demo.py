"""`unmask demo`: a hospital wants to publish its stays; unmask attacks what it would publish."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from unmask.cli.assess import attack
from unmask.cli.options import Assess, Demo
from unmask.cli.screen import say
from unmask.cli.targets import write_table
from unmask.datasets import patients
from unmask.errors import TableError
from unmask.masking import parse_masking

FILES = {"original.csv", "release.csv", "report.html", "report.json", "records.csv"}
NUMBERS = ("days", "height", "bmi", "cost")


def run(options: Demo) -> int:
    """Write tables and report into a folder; 0 whatever the verdict."""
    folder = Path(options.output)
    original, released = map(str, write_tables(folder, options.n, options.seed))
    report = str(folder / "report.html")
    attack(
        Assess(
            original=original,
            released=released,
            id="patient",
            confidential=("diagnosis", "cost"),
            seed=options.seed,
            html=report,
            json=str(folder / "report.json"),
            records=str(folder / "records.csv"),
        )
    )
    command = f"unmask assess {original} {released} --id patient --confidential diagnosis,cost --html {report}"
    say(f"The same by hand: {command}")
    return 0


def demo_tables(n: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Generate the stays, and the table that a well-meaning office would publish.

    Addresses are gone, postcodes were cut to two digits, birth dates to a span of ten years, admissions to the quarter,
    and the numbers carry noise of half their sd. It looks anonymous.
    """
    original = patients(n, seed=seed)
    noisy = parse_masking("noise(0.5)").apply(original.select(NUMBERS), seed)
    released = original.drop("longitude", "latitude").with_columns(noisy)
    return original, released.with_columns(
        pl.col("postcode").str.slice(0, 2) + "***",
        pl.col("birth date").dt.truncate("10y"),
        pl.col("admitted").dt.truncate("1q"),
        pl.col("days", "height").round(0),
        pl.col("bmi").round(1),
        pl.col("cost").round(0),
    )


def write_tables(folder: Path, n: int, seed: int) -> tuple[Path, Path]:
    """Write both tables into ``folder``."""
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"cannot make the folder {folder}", got=error.strerror, hint="choose another") from error
    paths = folder / "original.csv", folder / "release.csv"
    for table, path in zip(demo_tables(n, seed), paths, strict=True):
        write_table(table, path)
    return paths


def check_folder(folder: Path) -> None:
    """Refuse to write into a folder that is not an earlier demo's: other people's files have the same names."""
    if folder.exists() and not folder.is_dir():
        raise TableError(f"{folder} is a file, not a folder", hint="give another name in --output")
    found = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if found and not ("report.html" in found and found <= FILES):
        raise TableError(f"{folder} holds other files", hint="give an empty or a new folder in --output")
