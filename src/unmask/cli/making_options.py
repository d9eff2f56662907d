"""The options of the commands that make a release and say what is left of the data."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cli.fields import TABLE, option, written
from unmask.cli.options import FORMATS, HIERARCHY, KEEP, SEED, Reading
from unmask.cli.output_options import Reporting


@dataclass(frozen=True, kw_only=True)
class Mask(Reading):
    """Mask a table: make the release that `assess` attacks.

    Example:  unmask mask census.csv --masking "noise(0.5)" --reverse-map -o release.parquet
    Example:  unmask mask census.csv --plan plan.toml -o release.parquet

    A wrong name or parameter is answered with the maskings there are and how they are called.
    """

    table: str = option(f"The table to mask ({FORMATS}).", place=True, reads="table")
    masking: tuple[str, ...] = option(
        'A masking such as "noise(0.5)" or "microaggregation(5)"; several apply in turn.',
        "--masking", "--method", default=(), whole=True,
    )  # fmt: skip
    plan: str | None = option("Follow a plan of `unmask protect`, with its seed.", default=None, reads="plan")
    output: str = option("Where to write the release (.csv, .jsonl, .parquet ..).", "--output", "-o", writes=TABLE)
    reverse_map: bool = option("Give every column its original values back, by rank.", default=False)
    raw: bool = option("Leave negative numbers and long decimals that the masking makes of others.", default=False)
    seed: int | None = option(
        "Seed of all that is drawn; default 0. For differential privacy the default is a secret that is kept nowhere.",
        default=None, minimum=0,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Audit(Reading):
    """Test a claim of differential privacy: is the method as private as it says?

    Example:  unmask audit people.csv --masking "laplace(1, [(age, 0, 100)])" --runs 2000 --json audit.json
    Example:  unmask audit people.csv --synthesiser "python make.py {in} {out} {seed}" --epsilon 1 --runs 500

    Releases are made with and without a person who stands out as far as one can, and told apart. How often that is
    right bounds epsilon from below. Exit code 0: the claim is not refuted (which is no proof), 1: it is false, 2:
    cannot.
    """

    original: str = option(f"People such as the method is meant for ({FORMATS}).", place=True, reads="table")
    masking: str | None = option(
        'The method: "laplace(1, [(age, 0, 100)])", or any masking.', "--masking", "--method", default=None
    )
    synthesiser: str | None = option(
        'Or a command that makes a release: --synthesiser "make.py {in} {out} {seed}".', default=None
    )
    time_limit: int = option("Seconds that the synthesiser may take for each release.", default=600, minimum=1)
    epsilon: float | None = option(
        "What is claimed; default: what the masking promises of itself.", "--epsilon", "--claim-epsilon", default=None
    )
    delta: float | None = option("Delta of the claim.", "--delta", "--claim-delta", default=None)
    runs: int = option("Releases with the person, and as many without.", default=2000, minimum=1)
    people: int = option("People beside that person: fewer make them more visible.", default=100, minimum=1)
    neighbours: str | None = option(
        "replaced: another row in the person's place; removed: none. Default: as the masking promises.", default=None
    )
    columns: tuple[str, ...] = option("Columns that the claim is about; default: the masking's, or all.", default=())
    canary: str | None = option(
        "The person, and who is in their place, as a table of two rows (removed: one).", default=None, reads="table"
    )
    confidence: float = option("Of the bound.", default=0.95)
    seed: int = option(SEED, default=0, minimum=0)
    json: str | None = option("Write the figures; - for standard output.", default=None, writes=(".json",), screen=True)
    chart: str | None = option("Write the picture (.svg).", default=None, writes=(".svg",))
    quiet: bool = option("No progress.", default=False)


@dataclass(frozen=True, kw_only=True)
class Hierarchy(Reading):
    """Suggest a hierarchy for a column: groups of its values, and groups of these; or look at one.

    Example:  unmask hierarchy people.csv --column postcode -o postcodes.csv
    Example:  unmask hierarchy people.csv --column town --file towns.toml -o towns.csv

    Dates, postcodes, numbers and codes of diseases suggest one. The file is as ARX writes it (value;group;larger
    group;*), or a tree (.toml): edit it, and give it to mask, fix, protect and assess.
    """

    table: str = option("The table with the column.", place=True, reads="table")
    column: str = option("The column.")
    form: str | None = option("dates, codes, diseases or numbers; default: what the values look like.", default=None)
    file: str | None = option("Look at this hierarchy instead, and whether it has every value.", default=None)
    output: str | None = option(
        "Where to write it (.csv, .toml).", "--output", "-o", default=None, writes=(".csv", ".toml")
    )


@dataclass(frozen=True, kw_only=True)
class Fix(Reading):
    """Find the cheapest changes that give everybody a crowd of k, and make them.

    Example:  unmask fix release.csv --quasi sex,town,age --k 5 -o fixed.csv --steps changes.csv
    """

    table: str = option("The table that is to be published.", place=True, reads="table")
    quasi: tuple[str, ...] = option("Columns that the intruder knows.")
    k: int = option("Wanted size of the smallest group.", default=5)
    l: int = option("Wanted confidential values in a group.", default=1)  # noqa: E741 - as in l-diversity
    confidential: str | None = option("Column that the intruder wants to learn, for --l.", default=None)
    output: str | None = written("Write the changed table")
    steps: str | None = written("Write the list of changes", "--steps")
    only_cells: bool = option("Blank cells, coarsen no column.", default=False)
    hierarchies: dict[str, str] = option(
        HIERARCHY, "--hierarchy", "--hierarchies", default={}, example="town=towns.csv"
    )


@dataclass(frozen=True, kw_only=True)
class Utility(Reading):
    """Say what is left of the data: columns, relations, and whether your own analyses still come out.

    Example:  unmask utility original.csv release.csv --keep "mean(income) by region" --keep "income ~ age + sex"

    Exit code 0: it ran, whatever it found; 2: cannot.
    """

    original: str = option("The original table.", place=True, reads="table")
    released: str = option("The table you want to publish.", place=True, reads="table")
    keep: tuple[str, ...] = option(KEEP, default=(), whole=True)
    seed: int = option(SEED, default=0, minimum=0)
    output: str | None = option(
        "Write the figures as JSON; - for standard output.", "--output", "-o", "--json", default=None,
        writes=(".json",), screen=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Searching(Reading):
    """What the commands take that search for a release: the table, who knows what of it, and what must be left."""

    original: str = option(f"The table to protect ({FORMATS}).", place=True, reads="table")
    id: str | None = option("Column that identifies people; it is not published.", default=None, role=True)
    quasi: tuple[str, ...] | None = option("Columns that the intruder knows; default: all.", default=None, role=True)
    confidential: tuple[str, ...] = option("Columns that they want to learn.", default=(), role=True)
    ignored: tuple[str, ...] = option("Columns that are not published.", default=(), role=True)
    household: str | None = option(
        "Column that says who lives together; it is published as it is.", default=None, role=True
    )
    weight: str | None = option("Sampling weight; it is published as it is.", default=None, role=True)
    policy: str | None = option("public, partner, internal, or a TOML file.", default=None, reads="policy")
    intruder: str = option("prosecutor, journalist, marketer or maximum.", default="maximum")
    keep: tuple[str, ...] = option(KEEP, default=(), whole=True)
    hierarchies: dict[str, str] = option(
        HIERARCHY, "--hierarchy", "--hierarchies", default={}, example="town=towns.csv"
    )
    seed: int = option(SEED, default=0, minimum=0)
    budget: str | None = option("Time after which no further release is tried: 90s, 10m, 2h.", default=None)
    folder: str | None = option("Keep the figures of every release that was tried there.", default=None)
    resume: bool = option("Go on with the run in the folder.", default=False)
    chart: str | None = option("Write the picture of risk and what is left (.svg).", default=None, writes=(".svg",))


@dataclass(frozen=True, kw_only=True)
class AssessModel(Reporting, Reading):
    """Attack a model that is to be published: who was it learnt from, and what does it tell about them?

    Example:  unmask assess-model model.skops original.csv --control others.csv --target outcome --html report.html

    Exit code 0: safe, 1: unsafe, 3: inconclusive, 2: cannot.
    """

    model: str = option("The model (.skops, .onnx; .joblib or .pkl with --trust).", place=True, reads="model")
    original: str = option("The people it was learnt from.", place=True, reads="table")
    control: str | None = option("People of the same kind it never saw.", default=None, reads="table")
    target: str | None = option("Column that it predicts.", default=None)
    confidential: tuple[str, ...] = option("Columns it takes that the intruder wants to learn.", default=())
    ignored: tuple[str, ...] = option("Columns that it does not take.", "--ignore", "--ignored", default=())
    trust: bool = option("Open a pickle, which can run any command on this computer.", default=False)
    shadows: int = option("Number of reference models.", default=32, minimum=4)
    policy: str | None = option("public, partner, internal (or strict); or a TOML file.", default=None, reads="policy")
    seed: int = option(SEED, default=0, minimum=0)


@dataclass(frozen=True, kw_only=True)
class AssessTables(Reporting, Reading):
    """Attack published tables: what do counts and amounts tell about the people behind them?

    Example:  unmask assess-tables by_town.csv by_age.csv --confidential illness --html report.html

    Each table has one row a cell: its labels, and its count or amount. Exit code 0: safe, 1: unsafe, 3: inconclusive,
    2: cannot.
    """

    tables: tuple[str, ...] = option("The tables, all that is published of these people.", place=True, reads="table")
    value: str | None = option("Column with the counts or amounts.", default=None)
    confidential: str | None = option("Dimension that the intruder wants to learn about people.", default=None)
    original: str | None = option(
        "The people behind the tables: checks them, and counts exactly.", default=None, reads="table"
    )
    amounts: bool = option("The numbers are amounts, not counts of people.", default=False)
    p: float = option("How closely a withheld amount may be known, as a share.", default=0.1)
    rounding: float = option("Numbers are multiples of this, rounded to the nearest.", default=0.0)
    random_rounding: bool = option("Rounded up or down at random.", default=False)
    total: tuple[str, ...] = option("Labels that stand for all; Total, All and the like are known.", default=())
    unlisted: str = option("Combinations that a table does not list: empty or withheld.", default="empty")
    groups: tuple[str, ...] = option("Labels that stand for several: town=towns.csv, finest first.", default=())
    policy: str | None = option("public, partner, internal (or strict); or a TOML file.", default=None, reads="policy")
    records: str | None = written("Write what follows about each cell", "--records", "--cells")


@dataclass(frozen=True, kw_only=True)
class Explore(Searching):
    """Try maskings of a table, attack each, and say what is found, what is left of the data, and which one to take.

    Example:  unmask explore people.csv --id patient --keep "mean(income) by region" --folder runs --chart map.svg

    Exit code 0: a safe release was found, 1: none of those tried is safe, 2: cannot.
    """

    masking: tuple[str, ...] = option(
        'A masking to try, such as "noise(0.5)"; several. Without any: some for the kinds of the columns.',
        "--masking", "--method", default=(), whole=True,
    )  # fmt: skip
    grid: str | None = option(
        'TOML file with maskings to try: maskings = ["noise(0.5)", ..], and [[grid]] with masking = "noise({})" and '
        "strengths = [0.1, 1].",
        default=None, reads="settings",
    )  # fmt: skip
    seeds: int = option("Draws of each masking.", default=1, minimum=1)
    jobs: int = option("Releases that are attacked at a time.", default=1, minimum=1)
    axis: tuple[str, ...] = option(
        "Another figure of each release: correlations, distance, error(COLUMN), variance, precision; several. --chart "
        "then shows the first across and the second up, or the only one by the strength of the masking.",
        default=(), whole=True,
    )  # fmt: skip
    glance: bool = option("Only look: nearest-record linkage and the figures; nothing is called safe.", default=False)
    output: str | None = written("Write the points")
    json: str | None = option("Write points, policy and recommendation as JSON.", default=None, writes=(".json",))
    html: str | None = option("Write the chart with hover text, and the table.", default=None, writes=(".html",))
    release: str | None = written("Write the recommended release", "--release")


@dataclass(frozen=True, kw_only=True)
class Protect(Searching):
    """Search for the most useful release that the whole assessment calls safe, and make it.

    Example:  unmask protect people.csv --id patient --policy partner --keep "mean(income) by region" -o release.csv

    For each column: leave it, move its values, write it more coarsely, or leave it out; confidential columns are
    published as they are. `--plan plan.toml` says what was done and why; `unmask mask people.csv --plan plan.toml -o
    release.csv` does it again. Exit code 0: a safe release was found, 1: none of those tried is safe, 2: cannot.
    """

    output: str = option("Where to write the release (.csv, .jsonl, .parquet ..).", "--output", "-o", writes=TABLE)
    population: str | None = option(
        "People among whom those of the table are hidden, for an intruder who does not know who is in it.",
        default=None, reads="table", role=True,
    )  # fmt: skip
    plan: str | None = option("Write what was done to each column, and why (.toml).", default=None, writes=(".toml",))
    points: str | None = written("Write the releases that were tried, with their figures", "--points")
