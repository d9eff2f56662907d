"""`unmask mask`: read, mask, write."""

from __future__ import annotations

import secrets

import polars as pl

from unmask.cli.making_options import Mask
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_table
from unmask.errors import ParameterError
from unmask.masking import (
    Chain,
    Claim,
    Consistent,
    ReverseMapped,
    claim_of,
    lost_sums,
    names_people,
    parse_masking,
    quoted,
)
from unmask.protect import follow_plan
from unmask.tables import read_table

SECRET_BITS = 128  # of a seed that nobody can guess


def run(options: Mask) -> int:
    """Mask a table, write the release, and say what was done."""
    if (options.plan is None) == (not options.masking):
        raise ParameterError("name maskings or a plan, one of both", hint="--masking 'noise(0.5)', or --plan plan.toml")
    if options.plan is not None:
        return _follow(options, options.plan)
    maskings = [parse_masking(text) for text in options.masking]
    masking = maskings[0] if len(maskings) == 1 else Chain(tuple(maskings))
    masking = ReverseMapped(masking) if options.reverse_map else masking
    check_files(options)
    table = read_table(options.table, name="table", **options.reading)
    claim = claim_of(masking)
    seed, told = _seed(options.seed, claim)
    release = (masking if options.raw or claim is not None else Consistent(masking)).apply(table, seed)
    write_table(release, options.output)
    say(f"{masking}, {told}: {release.height:,} rows, {release.width} columns in {options.output}")
    _tell_names(table, release)
    if claim is not None:
        _tell_claim(claim, release, given=options.seed is not None)
    for relation in lost_sums(table, release):
        say(f"note: {relation} holds in the original and no longer; keep it: consistent(.., relations=[{relation!r}])")
    return 0


def _seed(given: int | None, claim: Claim | None) -> tuple[int, str]:
    """The seed, and how it is told: noise that somebody can draw again protects nobody."""
    if given is not None or claim is None:
        return given or 0, f"seed {given or 0}"
    return secrets.randbits(SECRET_BITS), "a secret seed that is kept nowhere"


def _tell_claim(claim: Claim, release: pl.DataFrame, *, given: bool) -> None:
    """Say what is promised, of which columns, and what would undo it."""
    more = f", delta {claim.delta:g}" if claim.delta else ""
    change = "another row in its place" if claim.neighbours == "replaced" else "with or without it"
    say(f"promised for a person's row, {change}: epsilon {claim.epsilon:g}{more}; unmask audit tests it")
    others = [name for name in release.columns if name not in claim.columns]
    if others:
        say(f"note: {', '.join(others)} are not covered: the table as a whole is not differentially private")
    if given:
        say("note: whoever knows the seed can take the noise away; keep it secret, and use it for one release only")


def _tell_names(table: pl.DataFrame, release: pl.DataFrame) -> None:
    """Say which columns still name people: an id may stay to pair the tables, but not in what is published."""
    shared = [name for name in release.columns if name in table.columns and names_people(release[name])]
    same = [name for name in shared if release[name].is_in(table[name].cast(pl.String).unique().implode()).any()]
    if same:
        names = f"{', '.join(same)} still name{'s' if len(same) == 1 else ''} people"
        told = f"note: {names}; leave that out of what you publish"
        listed = ", ".join(map(quoted, same))
        say(f"{told}: drop([{listed}]), or pseudonym([{listed}])")


def _follow(options: Mask, plan: str) -> int:
    if options.reverse_map:
        raise ParameterError("--reverse-map goes with --masking, not with a plan", hint="edit the plan's steps")
    check_files(options)
    release = follow_plan(options.table, plan, **options.reading)
    write_table(release, options.output)
    say(f"as {plan} says: {release.height:,} rows, {release.width} columns in {options.output}")
    return 0
