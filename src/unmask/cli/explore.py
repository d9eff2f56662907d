"""`unmask explore`: maskings of a table, what is found in each, what is left, and which one to take."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from unmask.axes import label
from unmask.cli.fields import roles_of
from unmask.cli.making_options import Explore
from unmask.cli.screen import console, progress_bar, say
from unmask.cli.targets import check_files, write_atomically, write_findings, write_table
from unmask.errors import ParameterError
from unmask.evidence import Figure
from unmask.explore import explore
from unmask.fingerprints import make_key
from unmask.inert import json_text
from unmask.planning import seconds
from unmask.protect import Frontier, in_words
from unmask.schemas import FORMS, KEY, check_form
from unmask.shares import percent, span
from unmask.trying import make_release

FOUND, NONE_SAFE = 0, 1
DONE, SHORT = "what is done", 60  # the last column; maskings of so many characters are shown as they are typed
GRID = 'maskings = ["noise(0.5)"], and [[grid]] masking = "noise({})", strengths = [0.1, 1]'


def run(options: Explore) -> int:
    """Explore, show and write; the exit code says whether something safe was found."""
    check_files(options)
    key_of(options.folder)
    roles = {**roles_of(options), "reading": options.reading}
    with progress_bar() as tell:
        frontier = explore(
            options.original, _maskings(options), policy=options.policy, intruder=options.intruder,
            keep=options.keep, hierarchies=options.hierarchies, seeds=options.seeds, seed=options.seed,
            budget=seconds(options.budget), folder=options.folder, resume=options.resume, jobs=options.jobs,
            axes=options.axis, glance=options.glance, progress=tell, **roles,
        )  # fmt: skip
    show_frontier(frontier)
    _write(frontier, options, roles)
    return NONE_SAFE if frontier.recommended is None else FOUND


def _maskings(options: Explore) -> tuple[str, ...] | None:
    """Those that are named, and those of the file; None: what suits the columns."""
    if options.grid is None:
        return options.masking or None
    try:
        stated = tomllib.loads(Path(options.grid).read_text(encoding="utf-8"))
        check_form("grid", stated.get(KEY), options.grid, ParameterError)
        grids = [(str(one["masking"]), list(one["strengths"])) for one in stated.get("grid", [])]
        listed = [str(text) for text in stated.get("maskings", [])]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ParameterError(
            f"cannot read the maskings in {options.grid}", got=str(error), allowed=GRID, hint="as docs/explore.md shows"
        ) from error
    if any("{}" not in text for text, _ in grids):
        raise ParameterError("a grid needs a place for its strengths", allowed=GRID)
    return (*options.masking, *listed, *(text.replace("{}", str(one)) for text, many in grids for one in many))


def key_of(folder: str | None) -> None:
    """Make the steward's key, if there is none, for a folder that has to know its table again."""
    if folder is not None:
        make_key()


def show_frontier(frontier: Frontier) -> None:
    """Show the points as a table, and what to do."""
    console().print(_table(frontier))
    for line in dict.fromkeys(f"{point.stage}: {point.tried}." for point in frontier.points):
        say(line)
    if frontier.left_out:
        say(f"There was no time for {frontier.left_out} more.")
    say(frontier.words)


def _table(frontier: Frontier) -> Any:  # noqa: ANN401 - rich's table
    from rich.markup import escape  # noqa: PLC0415 - slow to import
    from rich.table import Table  # noqa: PLC0415

    table, front, best = Table(box=None, pad_edge=False), set(frontier.front), frontier.recommended
    for heading in ("", "left", "found", "95 % CI", "known", "verdict", "tried", DONE):
        right = heading in {"left", "found", "known"}
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != DONE)
    for point in frontier.points:
        mark = "->" if point == best else "*" if point in front else ""
        table.add_row(
            mark, percent(point.utility), percent(point.risk), span(point.low, point.high),
            "-" if point.known is None else f"{point.known:,}", point.verdict, point.stage,
            escape(_done(point.masking)),
        )  # fmt: skip
    return table


def _done(masking: str) -> str:
    """A masking as it is typed if that is short, else in words."""
    return masking if len(masking) <= SHORT else in_words(masking)


def _figure(frontier: Frontier, axes: tuple[str, ...]) -> Figure:
    """Risk against what is left, or the figures that were asked for."""
    if not axes:
        return frontier.figure()
    across, up = (("strength", *axes) if len(axes) == 1 else axes)[:2]
    return frontier.plane(across, up, (label(across), label(up)))


def _write(frontier: Frontier, options: Explore, roles: dict[str, Any]) -> None:
    if options.output is not None:
        write_findings(frontier.to_frame(), options.output)
        say(f"Points: {options.output}.")
    if options.json is not None:
        write_atomically(options.json, json_text({KEY: FORMS["frontier"].name(), **frontier.to_dict()}) + "\n")
        say(f"JSON: {options.json}.")
    if options.html is not None:
        from unmask.report import render_frontier  # noqa: PLC0415 - imports jinja2

        write_atomically(options.html, render_frontier(frontier.to_dict(), frontier.words))
        say(f"Page: {options.html}.")
    if options.chart is not None:
        from unmask.report import draw  # noqa: PLC0415 - imports altair

        write_atomically(options.chart, draw(_figure(frontier, options.axis)))
        say(f"Picture: {options.chart}.")
    best = frontier.recommended
    if options.release is not None and best is not None:
        write_table(make_release(options.original, best, **roles), options.release)
        say(f"Release: {options.release}.")
