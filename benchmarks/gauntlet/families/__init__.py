"""Every release of the gauntlet by name: the few of the package, which selfcheck runs, and those of these files."""

from unmask.datasets.gauntlet import FAMILIES, Known
from unmask.datasets.gauntlet.case import REGISTER

from . import (  # noqa: F401 - each enters its cases
    aggregation,
    derived,
    harmless,
    households,
    noise,
    structure,
    swapping,
    synthetic,
    written_codes,
    written_dates,
    written_numbers,
)

CASES: dict[str, Known] = dict(sorted(REGISTER.items(), key=lambda entry: list(FAMILIES).index(entry[1].family)))


def chosen(names=(), *, family: str | None = None, among: dict[str, Known] = CASES) -> tuple[Known, ...]:
    """Pick cases by name or by family; all of them otherwise."""
    unknown = set(names) - set(among)
    if unknown:
        raise KeyError(", ".join(sorted(unknown)))
    return tuple(
        known
        for name, known in among.items()
        if (not names or name in names) and (family is None or known.family == family)
    )
