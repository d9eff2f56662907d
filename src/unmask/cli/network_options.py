"""The options of the commands that attack and make networks."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cli.fields import TABLE, option, written
from unmask.cli.options import SEED, Reading
from unmask.cli.output_options import Reporting

TIES = "two columns of people a tie (CSV, Excel, Parquet ..), or .graphml"


@dataclass(frozen=True, kw_only=True)
class Ties(Reading):
    """How a network is read."""

    people: str | None = option(
        "Table of people: those without ties, what is known of each.", default=None, reads="table"
    )
    ends: tuple[str, ...] = option("The two columns that name the people of a tie.", default=())
    directed: bool = option("Ties have a direction.", default=False)


@dataclass(frozen=True, kw_only=True)
class AssessNetwork(Reporting, Ties):
    """Attack a network of people that is to be published under other names: who is found by their ties?

    Example:  unmask network friends.csv released.csv --truth key.csv --html report.html

    Without --truth equal ids are the same person; no attack uses them. Exit code 0: safe, 1: unsafe, 3: inconclusive,
    2: cannot.
    """

    original: str = option(f"The original network: {TIES}.", place=True, reads="table")
    released: str = option("The network you want to publish.", place=True, reads="table")
    truth: str | None = option(
        "Who is who: two columns, the id in the original and in the release.", default=None, reads="table"
    )
    released_people: str | None = option("What is published of each person.", default=None, reads="table")
    ignored: tuple[str, ...] = option("Columns of people or ties to leave out.", "--ignore", "--ignored", default=())
    seeds: int = option("People whom the intruder knows beforehand.", default=50, minimum=1)
    policy: str | None = option("public, partner, internal (or strict); or a TOML file.", default=None, reads="policy")
    seed: int = option(SEED, default=0, minimum=0)
    show_values: bool = option("Let the report show ids of people who are found.", default=False)


@dataclass(frozen=True, kw_only=True)
class MaskNetwork(Ties):
    """Mask a network: other names for everybody, and ties deleted, added, rewired or drawn by a private coin.

    Example:  unmask mask-network friends.csv --masking "rewire(0.5)" -o released.csv --key key.csv

    Maskings: rename, delete(0.1), add(0.1), rewire(0.5), k_degree(5), edge_dp(6).
    """

    original: str = option(f"The network to mask: {TIES}.", place=True, reads="table")
    masking: tuple[str, ...] = option(
        'A masking such as "delete(0.1)"; several apply in turn.',
        "--masking",
        "--method",
        default=("rename",),
        whole=True,
    )
    output: str = option("Where to write the ties (.csv, .parquet ..).", "--output", "-o", writes=TABLE)
    key: str | None = written("Write who is who, which is not published", "--key")
    persons: str | None = written("Write the people, those without ties too", "--persons")
    seed: int = option(SEED, default=0, minimum=0)
