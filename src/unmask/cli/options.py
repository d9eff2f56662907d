"""The options of every command, declared once: what is typed, what a TOML file may hold, what the manifest repeats.

Those of `assess` that describe a release have the names of `Release`'s parameters: a new role is one field here.
The docstring of a class is the help of its command.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

from unmask.cli.fields import option, written
from unmask.cli.output_options import Reporting
from unmask.evidence import FAMILIES

FORMATS = "CSV, JSON, Excel, Parquet, Arrow, Stata, SPSS, SAS"
SEED = "Seed of every random choice."
HIERARCHY = "Groups of a column's values, as name=file.csv (value;group;larger group;*) or name=file.toml; several."
KEEP = 'An analysis that must come out: "mean(x) by g", "count by g", "share(x = yes)", "y ~ a + b" ..; several.'
MEASURES = "\b\nMeasures, for --only and --skip (unmask measures tells what each does):\n" + "\n".join(
    fill(f"{family}: {', '.join(names)}", 76, initial_indent="  ", subsequent_indent="    ")
    for family, names in FAMILIES.items()
)


@dataclass(frozen=True, kw_only=True)
class Common:
    """What every command takes."""

    debug: bool = option("Tell on standard error where an error of unmask itself happened; no values.", default=False)


@dataclass(frozen=True, kw_only=True)
class Reading(Common):
    """What every command that reads tables takes."""

    separator: str | None = option("Separator of text files (a character, or tab); found by itself.", default=None)
    encoding: str | None = option("Encoding of text files; found by itself.", default=None)
    missing: tuple[str, ...] = option(
        "Cells that mean missing, besides empty ones, NA and the like: 99 everywhere, age=99 in one column, age= none.",
        default=(), blank=True,
    )  # fmt: skip
    sheet: tuple[str, ...] = option(
        "Sheet of an .xlsx file, by name, where it has several: for every table, or original=NAME, released=NAME.",
        default=(), whole=True,
    )  # fmt: skip

    @property
    def reading(self) -> dict[str, Any]:
        """Options of `tables.read.read_table`."""
        from unmask.tables import MISSING_MARKS  # noqa: PLC0415 - imports polars

        found: dict[str, Any] = {}
        if self.separator is not None:
            found["separator"] = {"tab": "\t", "\\t": "\t"}.get(self.separator, self.separator)
        if self.encoding is not None:
            found["encoding"] = self.encoding
        if self.missing:
            found["missing"] = list(dict.fromkeys((*MISSING_MARKS, *self.missing)))
        if self.sheet:
            found["sheet"] = list(self.sheet)
        return found


@dataclass(frozen=True, kw_only=True)
class Roles(Reading):
    """What is known of the columns of two tables: what every attack on them takes."""

    id: str | None = option(
        "Column that says which rows belong together; without it, row order.", default=None, role=True
    )
    quasi: tuple[str, ...] | None = option(
        "Columns that the intruder knows; default: all shared ones.", default=None, role=True
    )
    ignored: tuple[str, ...] = option("Columns to leave out.", "--ignore", "--ignored", default=(), role=True)
    hierarchies: dict[str, str] = option(
        HIERARCHY, "--hierarchy", "--hierarchies", default={}, role=True, example="town=towns.csv"
    )
    kinds: dict[str, str] = option(
        "Kind of a column, as name=numeric|ordinal|categorical|boolean|date.",
        "--kind", "--kinds", default={}, role=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Tables(Roles):
    """The two tables, what is known of their columns, and the policy: what `assess` and `check` take."""

    original: str | None = option(f"The original table ({FORMATS}).", default=None, place=True, reads="table")
    released: str | None = option("The table you want to publish.", default=None, place=True, reads="table")
    confidential: tuple[str, ...] = option("Columns that the intruder wants to learn.", default=(), role=True)
    weight: str | None = option("Sampling weight.", default=None, role=True)
    household: str | None = option("Column that says who lives together.", default=None, role=True)
    population: str | float | None = option(
        "Table of the people that the original was drawn from, or their number.",
        default=None, role=True, reads="table or number",
    )  # fmt: skip
    categorical: tuple[str, ...] = option("Columns to read as categories.", default=(), role=True)
    coordinates: tuple[str, ...] = option("Longitude and latitude (or x and y) columns.", default=(), role=True)
    distances: str | None = option(
        "Matrix of distances that is published too (.npy, .csv, .parquet).", default=None, role=True, reads="matrix"
    )
    known_distances: str | None = option(
        "The same of the original, where no coordinates say it.", default=None, role=True, reads="matrix"
    )
    control: str | None = option("Table of people who are not in the original.", default=None, role=True, reads="table")
    second: str | None = option(
        "Another release of the same people: who has both links them by the columns that both have.",
        default=None, role=True, reads="table",
    )  # fmt: skip
    earlier: tuple[str, ...] = option(
        "A release of the same people that is published already; several, held against this one together.",
        "--with", "--earlier", default=(), role=True, reads="table", whole=True,
    )  # fmt: skip
    synthetic: bool = option("No row of the release was made from one person.", default=False, role=True)
    masking: str | None = option(
        'How the release was made, for the intruder who knows it: --masking "noise(0.5)".', default=None, role=True
    )
    epsilon: float | None = option(
        "Differential privacy that is claimed for the release: it is held against what is shown.",
        "--claim-epsilon", "--epsilon", default=None, role=True,
    )  # fmt: skip
    delta: float | None = option("Delta of that claim.", "--claim-delta", "--delta", default=None, role=True)
    synthesiser: str | None = option(
        'Command that makes a release like this one, for shadow releases: --synthesiser "make.py {in} {out} {seed}".',
        default=None,
    )
    time_limit: int = option("Seconds that the synthesiser may take for each release.", default=600, minimum=1)
    scenario: dict[str, Any] = option("What the intruder holds of the original.", default={}, role=True, typed=False)
    policy: str | None = option(
        "Who gets the file: public, partner, internal (or strict); or a TOML file.", default=None, reads="policy"
    )
    config: str | None = option(
        "TOML file with the same options; a table [scenario] says what the intruder knows: people = 0.1; "
        "[[recipients]] who may get the release.",
        default=None, reads="settings",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ManyRows(Tables):
    """What is said of people with many rows each."""

    many_rows: bool = option(
        "People have many rows each, and --id says whose a row is; taken so where it repeats.", default=False
    )
    time: str | None = option("For many rows a person: the column that says when.", default=None)
    place: tuple[str, ...] = option("For many rows a person: the columns that say where.", default=())


@dataclass(frozen=True, kw_only=True)
class Assess(Reporting, ManyRows):
    """Attack a release and say whether it may be published.

    Example:  unmask assess original.csv release.csv --id patient --confidential diagnosis --html report.html

    With one table, it is the release, and all that needs no original is run; the verdict is then never "safe".

    Exit code 0: safe, 1: unsafe, 3: inconclusive, 2: cannot.
    """

    only: tuple[str, ...] = option("Measures to run.", default=())
    skip: tuple[str, ...] = option("Measures to leave out.", default=())
    intruder: str = option(
        "Who attacks: prosecutor (knows who is in), journalist (does not), marketer (wants many) or maximum.",
        default="maximum",
    )
    by: tuple[str, ...] = option(
        "Columns of either table: tell the risk of each of their groups; small groups are merged.", default=()
    )
    keep: tuple[str, ...] = option(KEEP, default=(), whole=True)
    utility: str | None = option(
        "How closely to look at what is left of the data: whole (default), quick (default with --only) or none.",
        default=None,
    )
    recipients: tuple[dict[str, Any], ...] = option(
        "Who may get the release, a table [[recipients]] for each.", default=(), typed=False
    )
    seed: int = option(SEED, default=0, minimum=0)
    certificate: str | None = option(
        "Write a certificate for a reviewer to sign (.html, .pdf), with .jsonld beside it; takes twice the time.",
        default=None, writes=(".html", ".pdf", ".jsonld"),
    )  # fmt: skip
    public_certificate: str | None = option(
        "The same without paths, values and small counts, to be shown to anybody.",
        default=None, writes=(".html", ".pdf", ".jsonld"),
    )  # fmt: skip
    statement: dict[str, Any] = option(
        "What the certificate states, a table [statement]: controller, purpose, valid_until ..", default={}, typed=False
    )
    fix: str | None = written("Write what to change so that every group has --k records", "--fix")
    k: int = option("Wanted size of the smallest group, for --fix.", default=5)
    l: int = option("Wanted confidential values in a group, for --fix.", default=1)  # noqa: E741 - as in l-diversity
    show_values: bool = option("Let the report show ids and places of people who are found.", default=False)
    network: bool = option("Both files are lists of ties between people (.graphml is known as such).", default=False)
    engine: str = option(
        "Where tables are counted: memory, or duckdb for files, folders and patterns larger than that, or spark (both "
        "need --id).",
        default="memory",
    )
    memory: str = option("For --engine duckdb: memory that all of it may take.", default="3GB")
    threads: int = option("For --engine duckdb: threads; more are faster and take more memory.", default=1, minimum=1)
    master: str | None = option(
        "For --engine spark: local[4], spark://host:7077, yarn, or sc://host:15002 (Connect). Default: local[*].",
        default=None,
    )
    work: str | None = option(
        "For --engine spark on many machines: a folder for tables on the way that all workers reach.", default=None
    )
    sample: int = option("For an engine: people who are linked, by a hash of their ids.", default=2000, minimum=1)
    state: str | None = option(
        "Folder in which finished attacks are kept, so that the same command goes on after a stop. Default: one beside "
        "the report, until it is written; a folder that you name stays.",
        default=None,
    )
    plan: bool = option("Show what each attack would take, in time and memory, and run none.", default=False)
    budget: str | None = option(
        "Time for all attacks: 90s, 10m, 2h. Where it is short, some people are asked for, or attacks left out.",
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class Check(ManyRows):
    """Look at two tables before they are attacked: do rows belong together, how are columns read, who is named.

    Example:  unmask check original.csv release.csv --accept-roles release.toml

    Exit code 0: nothing stands against an assessment, 1: the release names people, 3: the rows do not seem to belong
    together, 2: cannot.
    """

    accept_roles: str | None = option(
        "Write the suggested roles to a TOML file, for assess --config.", default=None, writes=(".toml",)
    )
    output: str | None = option(
        "Write the check as JSON; - for standard output.", "--output", "-o", "--json", default=None, writes=(".json",),
        screen=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Link(Roles):
    """Link the people of one table to the records of another, nearest and one to one, and count who is found.

    Example:  unmask link original.csv release.csv --id patient --metric gower --sample 2000 -o found.csv

    Without a common id (files of different lengths, --unpaired, --known or --truth): whom would they believe to have
    found, and how surely?

    Example:  unmask link voters.csv release.csv --truth pairs.csv -o believed.csv

    Exit code 0: the attack ran, whatever it found; 2: cannot.
    """

    original: str = option("The original table: what the intruder knows.", place=True, reads="table")
    released: str = option("The table you want to publish.", place=True, reads="table")
    unpaired: bool = option("Rows in the same order need not belong together.", default=False)
    known: str | None = option(
        "People who are known in both files: two columns, ids or row numbers from 1. They teach how columns of the one "
        "file go with those of the other, whatever they are called.",
        default=None, reads="table",
    )  # fmt: skip
    truth: str | None = option("All right pairs, in the same form: count the links.", default=None, reads="table")
    attack: tuple[str, ...] = option("nearest, one_to_one or both (default both).", default=())
    metric: str = option("euclidean, manhattan, chebyshev, mahalanobis, gower or permutation.", default="euclidean")
    scale: str = option("Standardise by each file's own, by original, released, or none.", default="own")
    weights: dict[str, float] = option("Weights of columns, as age=2,income=0.5.", default={})
    ranks: str = option("Of equal values: average, dense or ordinal.", default="average")
    direction: str = option("Who asks, for nearest: to_release or to_original.", default="to_release")
    sample: int | None = option("Ask for so many people only, for nearest.", default=None)
    cap: int = option("Rank of the true record: count closer ones up to this.", default=10)
    squared: bool = option("One to one: least total of squared distances.", default=False)
    max_gap: float = option("One to one: stop at this proven gap; 0: the optimum.", default=0.0)
    time_budget: float | None = option("One to one: stop after so many seconds.", default=None)
    precision: float = option("How often a claim that is *known* must be right.", default=0.95)
    seed: int = option(SEED, default=0, minimum=0)
    chart: str | None = option(
        "Without a common id: draw how surely people are believed to be found (.svg).", default=None, writes=(".svg",)
    )
    output: str | None = written("Write one row per original record")


@dataclass(frozen=True, kw_only=True)
class Demo(Common):
    """Attack a generated hospital release, find one that is safe, and write the tables and both reports.

    Example:  unmask demo -o demo

    The demo ends with exit code 0 whatever the verdict.
    """

    output: str = option("Folder for the tables and the reports.", "--output", "-o", "--out", default="unmask-demo")
    n: int = option("Number of patients.", default=500, minimum=20)
    seed: int = option("Seed of the generated tables.", default=0, minimum=0)


@dataclass(frozen=True, kw_only=True)
class Warmup(Common):
    """Compile what attacks need, once and beforehand: for images, clusters, and machines without a writable home.

    Example:  NUMBA_CACHE_DIR=/opt/kernels unmask warmup
    """

    quiet: bool = option("Show nothing.", "--quiet", "-q", default=False)


@dataclass(frozen=True, kw_only=True)
class Measures(Common):
    """List the measures: what each does, needs and is called, and its page; or tell one of them.

    Example:  unmask measures nearest
    """

    name: str | None = option("A measure, by its name or another name of it; default: all.", default=None, place=True)
    json: bool = option("Print JSON.", default=False)


@dataclass(frozen=True, kw_only=True)
class Selfcheck(Common):
    """Check that every measure tells a copy from a masked file from an unrelated one, in any row order.

    Example:  unmask selfcheck --only nearest

    With --gauntlet whole assessments are checked instead, beside an intruder who was written for each release.
    """

    only: tuple[str, ...] = option("Measures to check; default: all.", default=())
    seed: int = option("Seed of the generated tables.", default=0, minimum=0)
    gauntlet: bool = option("Assess releases with a known answer.", default=False)
    cases: int | None = option("How many of the gauntlet; default: the quick part.", default=None, minimum=1)
