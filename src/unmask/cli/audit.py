"""`unmask audit`: make releases with and without a person, and hold what they tell against the claim."""

from __future__ import annotations

from unmask.cli.making_options import Audit
from unmask.cli.screen import progress_bar, say
from unmask.cli.targets import check_files, write_atomically
from unmask.disclosure import Audit as Audited
from unmask.disclosure import audit_privacy
from unmask.errors import ParameterError
from unmask.inert import json_text
from unmask.masking import Masking, Synthesiser, parse_masking
from unmask.schemas import FORMS, KEY
from unmask.shares import percent
from unmask.tables import read_table


def run(options: Audit) -> int:
    """Audit, say what was shown, write it; 1 where the claim is false."""
    how = _method(options)
    check_files(options)
    table = read_table(options.original, name="original", **options.reading)
    with progress_bar(quiet=options.quiet or options.json == "-") as tell:
        found = audit_privacy(
            table, how, epsilon=options.epsilon, delta=options.delta, runs=options.runs, people=options.people,
            neighbours=options.neighbours, columns=options.columns or None, canary=options.canary,
            confidence=options.confidence, seed=options.seed, progress=tell,
        )  # fmt: skip
    text = json_text({KEY: FORMS["audit"].name(), "method": str(how), "seed": options.seed, **found.to_dict()})
    if options.json == "-":
        say(text)
    else:
        _show(found)
    if options.json not in {None, "-"}:
        write_atomically(str(options.json), text + "\n")
        say(f"The figures: {options.json}.")
    if options.chart is not None:
        from unmask.report import draw  # noqa: PLC0415 - imports altair

        write_atomically(options.chart, draw(found.figure))
        say(f"The picture: {options.chart}.")
    return int(bool(found.refuted))


def _method(options: Audit) -> Masking | Synthesiser:
    if (options.masking is None) == (options.synthesiser is None):
        raise ParameterError(
            "say how the release is made, in one way", hint='--masking "laplace(1, [(age, 0, 100)])", or --synthesiser'
        )
    if options.masking is not None:
        return parse_masking(options.masking)
    return Synthesiser(str(options.synthesiser), options.time_limit)


def _show(found: Audited) -> None:
    counted = found.counted
    say(found.words)
    change = "another row in their place" if found.neighbours == "replaced" else "the same people without them"
    say(
        f"{found.runs:,} releases with a person who stands out, and as many with {change}. Told apart by "
        f"{found.attack}: right for {counted.right:,} of {counted.runs:,} ({percent(counted.right / counted.runs)}), "
        f"wrong for {counted.wrong:,} of {counted.others:,} ({percent(counted.wrong / counted.others)})."
    )
