"""`unmask measures`: what each measure does, what it needs, what it is called, and where to read more."""

from __future__ import annotations

import json

from unmask.assessment import choose, discover
from unmask.cli.options import Measures
from unmask.cli.screen import console, say
from unmask.evidence import FAMILIES, Measure


def run(options: Measures) -> int:
    """Show all measures by family, or one of them, as a table or as JSON."""
    chosen = choose(discover(), None if options.name is None else [options.name], ())
    if options.json:
        names = ("name", "family", "title", "story", "needs", "aliases", "keys", "page")
        told = [{name: getattr(measure, name) for name in names} for measure in _by_family(chosen)]
        say(json.dumps(told, indent=1, ensure_ascii=False))
    elif options.name is not None:
        _show_one(chosen[0])
    else:
        _show_all(_by_family(chosen))
    return 0


def _by_family(measures: list[Measure]) -> list[Measure]:
    """Order of the catalogue: families, and the plainest measure of each first."""
    order = [name for family in FAMILIES.values() for name in family]
    return sorted(measures, key=lambda measure: order.index(measure.name) if measure.name in order else len(order))


def _show_one(measure: Measure) -> None:
    say(f"{measure.name}: {measure.title}\n\n{measure.story}\n")
    for word, text in (
        ("Family", measure.family),
        ("Needs", measure.needs),
        ("Also called", ", ".join(measure.aliases) or "nothing else"),
        ("Judged by", ", ".join(measure.keys)),
        ("Page", measure.page),
    ):
        say(f"{word + ':':<13}{text}")


def _show_all(measures: list[Measure]) -> None:
    """A table that fits into 80 columns: the name, and beside it the story, the needs and the other names."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - slow to import
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("measure", no_wrap=True)
    table.add_column("what the intruder does, and what it needs", overflow="fold")
    family = ""
    for measure in measures:
        if measure.family != family:
            family = measure.family
            table.add_row(Text(family.upper(), style="bold"), "")
        told = Text(f"{measure.story}\n")
        told.append(f"needs {measure.needs}", style="dim")
        told.append(f"; also called {', '.join(measure.aliases)}" if measure.aliases else "", style="dim")
        table.add_row(measure.name, told)
    console().print(table)
    say("unmask measures NAME tells more of one; its page is docs/measures/NAME.md")
