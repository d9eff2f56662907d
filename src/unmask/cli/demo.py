"""`unmask demo`: a hospital wants to publish its stays; unmask attacks what it would publish, and finds what it may."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from unmask.advice import found_safe
from unmask.assessment import Assessment
from unmask.cli.assess import attack
from unmask.cli.explore import show_frontier
from unmask.cli.options import Assess, Demo
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import write_atomically, write_table
from unmask.datasets import patients
from unmask.errors import TableError
from unmask.evidence import Policy
from unmask.explore import explore
from unmask.inert import json_text
from unmask.masking import parse_masking
from unmask.protect import Point
from unmask.schemas import FORMS, KEY
from unmask.tables import check_target
from unmask.trying import make_release

FILES = {
    "original.csv", "release.csv", "report.html", "report.json", "records.csv",
    "recommended.csv", "recommended.html", "recommended.json", "frontier.svg", "frontier.json",
}  # fmt: skip
LEFT = re.compile(rf"\.({'|'.join(map(re.escape, sorted(FILES)))})\..*\.part")  # of a demo that was killed
NUMBERS = ("days", "height", "bmi", "cost")
ID, SECRET = "patient", ("diagnosis", "cost")
KEEP = ("mean(cost) by diagnosis", "mean(cost) by sex")
PLACES = "town, postcode, longitude, latitude, admitted, children"
DECADES = "dates(decade, columns=['birth date']), rare({}, columns=['birth date'])"
SAFER = (  # from gentle to strong: what an office would try next
    f"chain([drop([{PLACES}]), {DECADES.format(40)}, microaggregation(25, columns=[days, height, bmi])])",
    f"chain([drop([{PLACES}, days, height, bmi, insurance]), {DECADES.format(50)}])",
    f"chain([drop([{PLACES}, days, height, bmi, insurance, smoker]), {DECADES.format(60)}])",
    f"drop([{PLACES}, days, height, bmi, insurance, smoker, 'birth date'])",
)


def run(options: Demo) -> int:
    """Write tables, the unsafe and the recommended release and both reports into a folder; 0 whatever the verdicts."""
    folder = Path(options.output)
    original, released = map(str, write_tables(folder, options.n, options.seed))
    say("1. What the hospital would publish\n")
    first = report(folder, original, released, "report", options.seed, records=str(folder / "records.csv"))
    if options.n < (least := Policy.load(None).least_people("paired")):
        say(f"\nWith fewer than {least} people no release can be shown to be safe; --n {least} goes on.")
        say(f"The report: {folder / 'report.html'}")
        return 0
    say("\n2. Safer releases: what would be found, and what would be left?\n")
    best = search(folder, original, options.seed)
    if best is None:
        return 0
    recommended = str(folder / "recommended.csv")
    advised = replace(first.document, advice=found_safe(best, first.release, recommended))
    written = replace(first, document=advised)  # the first report names the change that was found
    written.write_html(folder / "report.html")
    written.write_json(folder / "report.json")
    say("\n3. The recommended release, attacked with everything\n")
    second = report(folder, original, recommended, "recommended", options.seed)
    say(f"\nUnsafe or not: release.csv is {first.verdict}, recommended.csv is {second.verdict}.")
    say(f"The reports: {folder / 'report.html'} and {folder / 'recommended.html'}")
    by_hand = f"unmask assess {original} {recommended} --id {ID} --confidential {','.join(SECRET)}"
    say(f"The same by hand: {by_hand} --html {folder / 'recommended.html'}")
    return 0


def report(folder: Path, original: str, released: str, name: str, seed: int, records: str | None = None) -> Assessment:
    """Assess a release, show it, and write its report."""
    return attack(
        Assess(
            original=original, released=released, id=ID, confidential=SECRET, seed=seed, keep=KEEP, records=records,
            html=str(folder / f"{name}.html"), json=str(folder / f"{name}.json"),
        )
    )  # fmt: skip


def search(folder: Path, original: str, seed: int) -> Point | None:
    """Try safer releases; write the recommended one and the picture. None: none of them is safe."""
    from unmask.report import draw  # noqa: PLC0415 - imports altair

    with progress_bar() as tell:
        found = explore(original, SAFER, keep=KEEP, seed=seed, id=ID, confidential=SECRET, progress=tell)
    show_frontier(found)
    write_atomically(str(folder / "frontier.svg"), draw(found.figure()))
    write_atomically(
        str(folder / "frontier.json"), json_text({KEY: FORMS["frontier"].name(), **found.to_dict()}) + "\n"
    )
    best = found.recommended
    if best is None:
        return None
    release = make_release(original, best, id=ID, confidential=SECRET)
    people = pl.read_csv(original, columns=[ID])[ID]
    write_table(release.insert_column(0, people), folder / "recommended.csv")  # with the id, which pairs the tables
    return best


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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
    found = {name for name in found if not LEFT.fullmatch(name)}
    if found and not ("report.html" in found and found <= FILES):
        raise TableError(f"{folder} holds other files", hint="give an empty or a new folder in --output")
    for name in FILES if folder.exists() else ():
        check_target(folder / name, (Path(name).suffix,))  # it also removes what a killed demo has left
