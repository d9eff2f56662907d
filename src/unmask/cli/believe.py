"""`unmask link` without a common id: whom the intruder would believe to have found, and how surely."""

from __future__ import annotations

import polars as pl

from unmask.cli.options import Link
from unmask.cli.screen import say
from unmask.cli.targets import write_atomically, write_findings
from unmask.errors import ParameterError
from unmask.evidence import Estimate
from unmask.linkage import Believed, link_believed
from unmask.report import percent

SURE = (0.99, 0.95, 0.9, 0.5)


def believe(options: Link) -> int:
    """Link two files by what they have in common, and tell it."""
    if options.id is not None:
        raise ParameterError(
            "an id says which rows belong together, and --unpaired, --known and --truth are for files without one",
            hint="leave out one of them",
        )
    found = link_believed(
        options.original, options.released, known=options.known, truth=options.truth, seed=options.seed,
        quasi=options.quasi, ignored=options.ignored, kinds=options.kinds, reading=options.reading,
    )  # fmt: skip
    lines = words_of(found)
    if options.output is not None:
        write_findings(_rows(found), options.output)
        lines.append(f"Written to {options.output}: row numbers from 1 and probabilities, no values.")
    if options.chart is not None:
        from unmask.report import draw  # noqa: PLC0415 - imports altair

        write_atomically(options.chart, draw(found.figure))
        lines.append(f"The picture: {options.chart}.")
    say("\n".join(lines))
    return 0


def words_of(found: Believed) -> list[str]:
    """What they would believe, and where the truth is told, how often they are right."""
    believed, n = int(found.believed.sum()), int(found.asked.sum())
    expected, low, high = found.expected
    lines = [
        f"Compared: {'; '.join(found.compared)}.",
        f"About {found.overlap:,.0f} people seem to be in both files.",
        (
            f"Someone with both files believes to have found {believed:,} of {n:,} people, and expects "
            f"{expected:,.0f} of these links to be right ({low:,.0f} to {high:,.0f}, if rows agree as the model says)."
        ),
        "  " + "; ".join(f"surer than {percent(p)}: {found.surer_than(p):,}" for p in SURE[:-1]) + ".",
    ]
    if found.by_chance:
        most = max(found.by_chance)
        beyond = "" if found.beyond_chance else ": no more than that, so that nobody need be in both files"
        lines.append(f"  In {len(found.by_chance)} files of rows that are nobody's {most:,} at most{beyond}.")
    if found.right is not None:
        lines.append(f"By the truth {_share(found.right)} of the believed links are right.")
    if found.found is not None:
        lines.append(f"Of the people who are in both files {_share(found.found)} are found.")
    return lines


def _share(estimate: Estimate) -> str:
    ends = f"{percent(estimate.low)} to {percent(estimate.high)}"
    return f"{estimate.hits:,.0f} of {estimate.n:,}, {percent(estimate.value)} ({ends}),"


def _rows(found: Believed) -> pl.DataFrame:
    """One row per person of the first file."""
    table = pl.DataFrame(
        {"row": range(1, found.links.size + 1), "link": found.links + 1, "probability": found.probability,
         "equally likely": found.ties, "believed": found.believed}
    )  # fmt: skip
    return table if found.credit is None else table.with_columns(pl.Series("right", found.credit))
