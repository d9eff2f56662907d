"""`unmask mask-network`: make a network that can be published, and the key that says who is who."""

from __future__ import annotations

from unmask.cli.network_options import MaskNetwork
from unmask.cli.screen import say
from unmask.cli.targets import check_files, write_table
from unmask.networks import mask_network


def run(options: MaskNetwork) -> int:
    """Mask a network and write what was asked for."""
    check_files(options)
    masked = mask_network(
        options.original, options.masking, people=options.people, ends=options.ends, seed=options.seed,
        reading=options.reading,
    )  # fmt: skip
    targets = ((options.output, masked.ties), (options.persons, masked.people), (options.key, masked.key))
    for target, table in targets:
        if target is not None:
            write_table(table, target)
    said = [f"{masked.key.height:,} people and {masked.ties.height:,} ties: {options.output}", *masked.notes]
    said += [f"Who is who, not to be published: {options.key}"] if options.key is not None else []
    for line in said:
        say(line)
    return 0
