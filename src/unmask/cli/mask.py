"""`unmask mask`: read, mask, write."""

from __future__ import annotations

from unmask.cli.making_options import Mask
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_table
from unmask.errors import ParameterError
from unmask.masking import Chain, ReverseMapped, parse_masking
from unmask.protect import follow_plan
from unmask.tables import read_table


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
    release = masking.apply(read_table(options.table, name="table", **options.reading), options.seed)
    write_table(release, options.output)
    say(f"{masking}, seed {options.seed}: {release.height:,} rows, {release.width} columns in {options.output}")
    return 0


def _follow(options: Mask, plan: str) -> int:
    if options.reverse_map:
        raise ParameterError("--reverse-map goes with --masking, not with a plan", hint="edit the plan's steps")
    check_files(options)
    release = follow_plan(options.table, plan, **options.reading)
    write_table(release, options.output)
    say(f"as {plan} says: {release.height:,} rows, {release.width} columns in {options.output}")
    return 0
