"""The options of the commands that take a report and not two tables."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.cli.fields import TABLE, option
from unmask.cli.options import Common


@dataclass(frozen=True, kw_only=True)
class Person(Common):
    """Say what gives a person away, column by column, and the smallest changes of their record that would hide them.

    Example:  unmask person report.json --row 17

    Without --row: the most exposed people of the report, and what to blank for all of them. Rows are those of the
    original, from 1. Exit code 0: told, 2: cannot.
    """

    report: str = option("A JSON report, which says where the tables are.", place=True, reads="report")
    row: tuple[str, ...] = option("Row of the original, from 1; several with commas.", default=())
    k: int = option("How many records shall fit a person.", default=5, minimum=2)
    original: str | None = option("Where the original is now.", default=None, reads="table")
    released: str | None = option("Where the release is now.", default=None, reads="table")
    chart: str | None = option("Write the picture of one person's columns (.svg).", default=None, writes=(".svg",))
    output: str | None = option(
        "Write what to blank for these people (.csv, .jsonl, .parquet ..).",
        "--output",
        "-o",
        default=None,
        writes=TABLE,
    )


@dataclass(frozen=True, kw_only=True)
class Compare(Common):
    """Put two reports side by side: before and after a change, or last year and this year.

    Example:  unmask compare before.json after.json -o compared.html

    Exit code 0: told, 2: cannot.
    """

    before: str = option("A JSON report.", place=True, reads="report")
    after: str = option("Another JSON report.", place=True, reads="report")
    output: str | None = option("Write the page (.html).", "--output", "-o", "--html", default=None, writes=(".html",))
    json: str | None = option(
        "Write the comparison as JSON; - for standard output.", default=None, writes=(".json",), screen=True
    )


@dataclass(frozen=True, kw_only=True)
class Schema(Common):
    """Print the JSON Schema of a kind of file that unmask writes or reads; without a name, list them.

    Example:  unmask schema report

    Exit code 0: printed, 2: cannot.
    """

    kind: str | None = option("report, policy, plan, settings, state ..; default: list all.", default=None, place=True)


@dataclass(frozen=True, kw_only=True)
class Verify(Common):
    """Run a report's manifest again and say whether the result is the same.

    Example:  unmask verify report.json

    Exit code 0: the same, 1: different, 2: cannot.
    """

    report: str = option("A JSON report, which holds the manifest.", place=True, reads="report")
    original: str | None = option("Where the original is now.", default=None, reads="table")
    released: str | None = option("Where the release is now.", default=None, reads="table")
    key: str | None = option("The public key that must have signed, for a certificate.", default=None, reads="report")


@dataclass(frozen=True, kw_only=True)
class Sign(Common):
    """Sign a certificate with the reviewer's own key; the signature goes beside it, as FILE.sig.

    Example:  unmask sign certificate.jsonld --key reviewer.pem --name "Dr A. Reviewer"
    (before the first: unmask sign --new-key reviewer.pem)

    Exit code 0: signed, 2: cannot. unmask verify certificate.jsonld checks it.
    """

    file: str | None = option("The certificate (.jsonld), or any other file.", default=None, place=True, reads="report")
    key: str | None = option("The reviewer's private key, Ed25519 in PEM.", default=None, reads="report")
    new_key: str | None = option(
        "Make a pair of keys: this file, and .pub.pem beside it.", default=None, writes=(".pem",)
    )
    name: str = option("Who signs, in words that the signature covers.", default="")
