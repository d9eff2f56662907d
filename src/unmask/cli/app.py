"""The command line: parse, call, write, exit code. Everything else is in the library.

Exit codes: 0 safe (or the same, or passed), 1 unsafe (or different, or failed), 3 inconclusive, 2 cannot.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli.graph_commands import graph_command, sweep_command
from unmask.cli.link_command import link_command
from unmask.cli.options import listed
from unmask.cli.screen import console, progress_bars, show_assessment
from unmask.errors import ParameterError, UnmaskError

if TYPE_CHECKING:
    from unmask.assessment import Assessment
    from unmask.tables.release import Release

EXIT = {"safe": 0, "unsafe": 1, "inconclusive": 3}
CANNOT = 2

app = typer.Typer(
    name="unmask",
    help="Attack your data release before someone else does.\n\n"
    "Example:  unmask assess original.csv release.csv --id patient --html report.html",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is twice as fast to show
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; errors of ours are one clear message and exit code 2."""
    try:
        _refuse_empty(sys.argv[1:])
        app()
    except UnmaskError as error:
        sys.stderr.write(f"unmask: {error}\n")
        sys.exit(CANNOT)
    except KeyboardInterrupt:
        sys.stderr.write("unmask: stopped; nothing was written\n")
        sys.exit(CANNOT)
    except MemoryError:
        sys.stderr.write(
            "unmask: the memory is not enough\n  hint: ask fewer people, or name fewer columns (--quasi)\n"
        )
        sys.exit(CANNOT)
    except Exception as error:
        if os.environ.get("UNMASK_DEBUG"):
            raise
        sys.stderr.write(f"unmask: an error of unmask itself ({type(error).__name__}); UNMASK_DEBUG=1 shows where\n")
        sys.exit(CANNOT)


@app.callback(invoke_without_command=True)
def _top(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:  # noqa: FBT002
    if version:
        from unmask import __version__  # noqa: PLC0415 - what is not needed is not imported

        sys.stdout.write(f"unmask {__version__}\n")
        raise typer.Exit


@app.command("assess")
def assess_command(  # noqa: PLR0913 - one parameter per option
    original: Annotated[
        str | None, typer.Argument(help="The original table (CSV, Parquet, Arrow, Stata, SPSS, SAS).")
    ] = None,
    released: Annotated[str | None, typer.Argument(help="The table you want to publish.")] = None,
    *,
    id: Annotated[  # noqa: A002 - the word of the field
        str | None, typer.Option(help="Column that says which rows belong together; without it, row order.")
    ] = None,
    quasi: Annotated[
        list[str] | None, typer.Option(help="Columns that the intruder knows; default: all shared ones.")
    ] = None,
    confidential: Annotated[list[str] | None, typer.Option(help="Columns that the intruder wants to learn.")] = None,
    weight: Annotated[str | None, typer.Option(help="Sampling weight.")] = None,
    household: Annotated[str | None, typer.Option(help="Column that says who lives together.")] = None,
    population: Annotated[
        str | None, typer.Option(help="Table of the people that the original was drawn from, or their number.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Columns to leave out.")] = None,
    categorical: Annotated[list[str] | None, typer.Option(help="Columns to read as categories.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of a column, as name=numeric|ordinal|categorical|boolean|date.")
    ] = None,
    coordinates: Annotated[list[str] | None, typer.Option(help="Longitude and latitude (or x and y) columns.")] = None,
    distances: Annotated[
        str | None, typer.Option(help="Matrix of distances that is published too (.npy, .csv, .parquet).")
    ] = None,
    known_distances: Annotated[
        str | None, typer.Option(help="The same of the original, where no coordinates say it.")
    ] = None,
    control: Annotated[str | None, typer.Option(help="Table of people who are not in the original.")] = None,
    synthetic: Annotated[
        bool | None, typer.Option("--synthetic", help="No row of the release was made from one person.")
    ] = None,
    masking: Annotated[
        str | None,
        typer.Option(help='How the release was made, for the intruder who knows it: --masking "noise(0.5)".'),
    ] = None,
    separator: Annotated[str | None, typer.Option(help="Separator of text files; found by itself.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of text files; found by itself.")] = None,
    policy: Annotated[str | None, typer.Option(help="default, strict, clinical (0.09), or a TOML file.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Attacks to run.")] = None,
    skip: Annotated[list[str] | None, typer.Option(help="Attacks to leave out.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of every random choice (default 0).")] = None,
    json: Annotated[str | None, typer.Option(help="Write the report as JSON; - for standard output.")] = None,
    html: Annotated[str | None, typer.Option(help="Write the report as one HTML file.")] = None,
    records: Annotated[str | None, typer.Option(help="Write one risk per original record (.csv or .parquet).")] = None,
    fix: Annotated[
        str | None, typer.Option(help="Write what to change so that every group has --k records (.csv).")
    ] = None,
    k: Annotated[int | None, typer.Option(help="Wanted size of the smallest group, for --fix (default 5).")] = None,
    l: Annotated[  # noqa: E741 - the letter of the model
        int | None, typer.Option(help="Wanted confidential values in a group, for --fix (default 1).")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with the same options; a table [scenario] says what the intruder knows: people = 0.1."
        ),
    ] = None,
    show_values: Annotated[
        bool | None, typer.Option("--show-values", help="Let the report show ids and places of people who are found.")
    ] = None,
    quiet: Annotated[bool | None, typer.Option("--quiet", help="No summary and no progress.")] = None,
) -> None:
    """Attack a release and say whether it may be published.

    Example:  unmask assess original.csv release.csv --id patient --confidential diagnosis --html report.html

    Exit code 0: safe, 1: unsafe, 3: inconclusive, 2: cannot.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    raise typer.Exit(EXIT[run_assess(_options(given, config)).verdict])


def run_assess(options: dict[str, Any]) -> Assessment:
    """Read, attack, show, write."""
    from unmask.assessment import assess  # noqa: PLC0415 - imports polars and numpy
    from unmask.cli.targets import check_outputs, write_outputs  # noqa: PLC0415 - only where something is written

    check_outputs(options)
    release = _release(options)
    quiet = bool(options.get("quiet"))
    with progress_bars(quiet=quiet) as tell:
        assessment = assess(
            release,
            policy=options.get("policy"),
            only=listed(options.get("only")) or None,
            skip=listed(options.get("skip")),
            seed=int(options.get("seed") or 0),
            progress=tell,
            command=shlex.join(["unmask", *sys.argv[1:]]),
            show_values=bool(options.get("show_values")),
        )
    write_outputs(assessment, options)
    if options.get("fix"):
        from unmask.cli.fix import write_fix  # noqa: PLC0415 - imports polars and numpy

        told = write_fix(release, options)
        sys.stderr.write("" if quiet else f"{told}\n")
    if not quiet:
        show_assessment(assessment, to_stderr=options.get("json") == "-")
    return assessment


@app.command("mask")
def mask_command(  # noqa: PLR0913 - one parameter per option
    table: Annotated[str, typer.Argument(help="The table to mask (CSV, Parquet, Arrow, Stata, SPSS, SAS).")],
    *,
    method: Annotated[
        list[str], typer.Option(help='A masking such as "noise(0.5)" or "microaggregation(5)"; several apply in turn.')
    ],
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write the release (.csv or .parquet).")],
    reverse_map: Annotated[
        bool, typer.Option("--reverse-map", help="Give every column its original values back, by rank.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0)] = 0,
    separator: Annotated[str | None, typer.Option(help="Separator of a text file; found by itself.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file; found by itself.")] = None,
) -> None:
    """Mask a table: make the release that `assess` attacks.

    Example:  unmask mask census.csv --method "noise(0.5)" --reverse-map -o release.parquet

    A wrong name or parameter is answered with the maskings there are and how they are called.
    """
    from unmask.cli.mask import mask_file  # noqa: PLC0415 - imports polars and numpy

    reading = {"separator": separator, "encoding": encoding}
    sys.stdout.write(mask_file(table, method, output, reverse_map=reverse_map, seed=seed, reading=reading) + "\n")


app.command("graph")(graph_command)
app.command("graph-sweep")(sweep_command)
app.command("link")(link_command)


@app.command("fix")
def fix_command(  # noqa: PLR0913 - one parameter per option
    table: Annotated[str, typer.Argument(help="The table that is to be published.")],
    *,
    quasi: Annotated[list[str], typer.Option(help="Columns that the intruder knows.")],
    k: Annotated[int, typer.Option(help="Wanted size of the smallest group.", min=1)] = 5,
    l: Annotated[int, typer.Option(help="Wanted confidential values in a group.", min=1)] = 1,  # noqa: E741
    confidential: Annotated[str | None, typer.Option(help="Column that the intruder wants to learn, for --l.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the changed table (.csv, .parquet).")
    ] = None,
    steps: Annotated[str | None, typer.Option(help="Write the list of changes (.csv, .parquet).")] = None,
    only_cells: Annotated[bool, typer.Option("--only-cells", help="Blank cells, coarsen no column.")] = False,
) -> None:
    """Find the cheapest changes that give everybody a crowd of k, and make them.

    Example:  unmask fix release.csv --quasi sex,town,age --k 5 -o fixed.csv --steps changes.csv
    """
    from unmask.cli.fix import fix_table  # noqa: PLC0415 - imports polars and numpy

    wanted = {"quasi": listed(quasi), "k": k, "l": l, "confidential": confidential, "coarsen": not only_cells}
    sys.stdout.write(f"{fix_table(table, wanted, output, steps)}\n")


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the tables and the report.")] = Path("unmask-demo"),
    n: Annotated[int, typer.Option(help="Number of patients.", min=20)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the generated tables.")] = 0,
) -> None:
    """Assess a generated hospital release, and write the tables and the report.

    Example:  unmask demo --out demo

    The demo ends with exit code 0 whatever the verdict.
    """
    from unmask.cli.demo import write_tables  # noqa: PLC0415 - imports polars and numpy

    original, released = write_tables(out, n, seed)
    outputs = {"json": str(out / "report.json"), "html": str(out / "report.html"), "records": str(out / "records.csv")}
    roles = {"id": "patient", "confidential": ["diagnosis", "cost"]}
    run_assess({"original": str(original), "released": str(released), "seed": seed, **roles, **outputs})
    command = f"unmask assess {original} {released} --id patient --confidential diagnosis,cost --html {outputs['html']}"
    sys.stdout.write(f"\nThe report: {outputs['html']}\nThe same by hand: {command}\n")


@app.command("selfcheck")
def selfcheck_command(
    only: Annotated[list[str] | None, typer.Option(help="Measures to check; default: all.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the generated tables.")] = 0,
) -> None:
    """Check that every measure tells a copy from a masked file from an unrelated one, in any row order.

    Example:  unmask selfcheck --only nearest
    """
    from unmask.report.terminal import show_checks  # noqa: PLC0415 - imports rich
    from unmask.selfcheck import selfcheck  # noqa: PLC0415 - imports polars and numpy

    with progress_bars(quiet=False) as tell:
        checks = selfcheck(only=listed(only) or None, seed=seed, progress=tell)
    show_checks([(c.measure, c.table, c.risks, c.chance, c.failures) for c in checks], console())
    raise typer.Exit(0 if all(check.passed for check in checks) else 1)


@app.command("verify")
def verify_command(
    report: Annotated[Path, typer.Argument(help="A JSON report, which holds the manifest.")],
    original: Annotated[Path | None, typer.Option(help="Where the original is now.")] = None,
    released: Annotated[Path | None, typer.Option(help="Where the release is now.")] = None,
) -> None:
    """Run a report's manifest again and say whether the result is the same.

    Example:  unmask verify report.json

    Exit code 0: the same, 1: different, 2: cannot.
    """
    from unmask.verify import verify  # noqa: PLC0415 - imports polars and numpy

    with progress_bars(quiet=False) as tell:
        result = verify(report, original=original, released=released, progress=tell)
    sys.stdout.write(f"the same result (verdict: {result.verdict})\n" if result.same else "not the same result\n")
    for difference in result.differences:
        sys.stdout.write(f"  {difference}\n")
    raise typer.Exit(0 if result.same else 1)


# --- options --------------------------------------------------------------------------------------------------------


def _refuse_empty(words: list[str]) -> None:
    """Say which option is empty: an unset variable of the shell would else be a folder, all columns, or no output."""
    for before, word in zip(["", *words], words, strict=False):
        joined = word.startswith("--") and word.endswith("=") and word.count("=") == 1
        if word and not joined:
            continue
        option = word[:-1] if joined else before
        if option == "--labels":  # no labels are a choice
            continue
        what = f"{option} is given, but empty" if option.startswith("-") else "an empty name is given"
        raise ParameterError(what, hint="give a value, or leave it out; is a variable of the shell not set?")


def _options(given: dict[str, Any], config: Path | None) -> dict[str, Any]:
    """Merge the configuration file and the command line; what is typed wins."""
    if config is None:
        return given
    from unmask.cli.options import load_config  # noqa: PLC0415 - reads TOML

    return {**load_config(config), **given}


def _release(options: dict[str, Any]) -> Release:
    from unmask.cli.options import read_kinds, read_population  # noqa: PLC0415
    from unmask.tables.release import Release  # noqa: PLC0415 - imports polars and numpy

    for name in ("original", "released"):
        if not options.get(name):
            raise ParameterError(f"no {name} table given", hint="unmask assess ORIGINAL RELEASED, or both in --config")
    separator = {"tab": "\t", "\\t": "\t"}.get(str(options.get("separator")), options.get("separator"))
    reading = {"separator": separator, "encoding": options.get("encoding")}
    return Release(
        options["original"],
        options["released"],
        id=options.get("id"),
        quasi=listed(options.get("quasi")) or None,
        confidential=listed(options.get("confidential")),
        weight=options.get("weight"),
        household=options.get("household"),
        population=read_population(options.get("population")),
        ignored=listed(options.get("ignore")),
        categorical=listed(options.get("categorical")),
        kinds=read_kinds(options.get("kind")),
        coordinates=listed(options.get("coordinates")),
        distances=options.get("distances"),
        known_distances=options.get("known_distances"),
        control=options.get("control"),
        synthetic=bool(options.get("synthetic")),
        masking=_masking(options.get("masking")),
        scenario=options.get("scenario"),
        reading={name: value for name, value in reading.items() if value is not None},
    )


def _masking(text: str | None) -> object:
    if text is None:
        return None
    from unmask.masking import parse_masking  # noqa: PLC0415 - imports polars and numpy

    return parse_masking(text)
