"""The graph attack as its paper writes it: the release first, then the intruder's file."""

import unmask


def link_graph(target, identification, **options):
    return unmask.link_graph(original=identification, released=target, **options)
