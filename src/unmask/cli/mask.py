"""`unmask mask`: read, mask, write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_table
from unmask.masking import Chain, ReverseMapped, parse_masking
from unmask.tables import read_table

if TYPE_CHECKING:
    from unmask.cli.making_options import Mask


def run(options: Mask) -> int:
    """Mask a table, write the release, and say what was done."""
    maskings = [parse_masking(text) for text in options.masking]
    masking = maskings[0] if len(maskings) == 1 else Chain(tuple(maskings))
    masking = ReverseMapped(masking) if options.reverse_map else masking
    check_files(options)
    release = masking.apply(read_table(options.table, name="table", **options.reading), options.seed)
    write_table(release, options.output)
    say(f"{masking}, seed {options.seed}: {release.height:,} rows, {release.width} columns in {options.output}")
    return 0
