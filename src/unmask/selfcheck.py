"""Does every measure tell a copy from a masked file from an unrelated one? A measure that cannot order them is broken.

Each registered measure meets four releases of one generated table: identical, lightly masked, heavily masked, and
independent (its rows drawn anew from the same generator). Its risk must not rise along them, must be high on the
first and at chance on the last, and must be the same when the rows of both files are shuffled: the headline, and the
risk of every single record where the measure gives one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from unmask import datasets
from unmask.arrays import Floats, Rows
from unmask.assessment import assess, choose, discover, run_measure
from unmask.datasets.gauntlet import Answer, Known
from unmask.errors import ParameterError
from unmask.evidence import Absence, Context, Estimate, Evidence, Measure, Progress, silent
from unmask.linkage import link_believed
from unmask.masking import Noise, parse_masking
from unmask.networks import Network, mask_network, network_risk, report_network
from unmask.persons import Persons, PersonsRisk, persons_risk, report_persons
from unmask.shares import percent, span
from unmask.shown import Shown
from unmask.tables import Release

SIZE = 400
WIDER = 3.291 / 1.960  # from a 95 % to a 99.9 % interval
SURVEYED = ("household", "magnitude", "population")  # they also meet weights, households, and keys that form groups
OF_NETWORKS = ("degree", "neighbours", "colours", "propagation", "profiles")  # attacks on networks, not on tables
OF_PERSONS = ("alike", "bags", "taught", "points", "sequences", "shared", "presence")  # on people with many rows
REPEATED, OF_LINKS = ("earlier",), ("believed",)  # releases of the same people, published twice; no common id
AGAIN = 1000  # between the seed of a check and that of its repetition
STAGES = ("identical", "lightly masked", "heavily masked", "independent")


@dataclass(frozen=True, slots=True)
class Check(Shown):
    """What one measure did on one table: its risk at each stage, and what is wrong, if anything."""

    measure: str
    table: str
    risks: tuple[float | None, ...]
    chance: float | None
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.failures


def selfcheck(
    *,
    only: Iterable[str] | None = None,
    seed: int = 0,
    size: int = SIZE,
    gauntlet: bool | int = False,
    progress: Progress = silent,
) -> tuple[Check, ...]:
    """Check every registered measure (or those named) on numeric, mixed and synthetic tables, networks and many rows.

    Measures of population risk meet all that can be known: a number of people, a register, and sampling weights.
    With ``gauntlet`` (True, or how many cases) whole assessments are checked instead, on releases with a known answer:
    ``risks`` is then what the intruder written for the release finds, and the most that the report finds.
    """
    if gauntlet is not False:
        return _run_gauntlet(None if gauntlet is True else gauntlet, only, seed, progress)
    checks: list[Check] = []
    named = None if only is None else [only] if isinstance(only, str) else [*only]
    kinds: tuple[tuple[Callable[..., list[Check]], tuple[str, ...]], ...] = (
        (check_networks, OF_NETWORKS), (check_persons, OF_PERSONS),
        (lambda _, *asked: [check_believed(*asked)], OF_LINKS),
    )  # fmt: skip
    others = [(check, [name for name in names if named is None or name in named]) for check, names in kinds]
    of_others = {name for _, names in kinds for name in names}
    wanted = None if named is None else [name for name in named if name not in of_others]
    chosen = [] if wanted == [] and any(names for _, names in others) else choose(discover(), wanted, ())
    for place, entry in enumerate(chosen):
        ladders = _ladders_for(entry, seed, size)
        for step, (name, releases) in enumerate(ladders.items()):
            progress((place + step / len(ladders)) / len(chosen), f"{entry.title}: {name} table")
            check = check_measure(entry, name, releases, seed)
            checks.append(check if check.passed else _again(check, entry, seed + AGAIN, size))
    for check_others, names in others:
        if names:
            progress(0.99, "networks, people with many rows, files without a common id")
            found = check_others(names, seed, size)
            checks += found if all(one.passed for one in found) else check_others(names, seed + AGAIN, size)
    progress(1.0, "done")
    return tuple(checks)


def check_believed(seed: int, size: int = SIZE) -> Check:
    """Check links between files without a common id: a copy, two masked ones, and one of other people."""
    columns = ["sex", "birth date", "town", "postcode", "smoker"]
    tables = [release.released for release in _ladder("patients", seed, size)]
    people, draw = tables[0], np.random.default_rng(seed)
    order = draw.permutation(size)
    pairs = pl.DataFrame({"first": np.arange(size) + 1, "second": np.argsort(order) + 1})

    def linked(table: pl.DataFrame, truth: pl.DataFrame, rows: Rows) -> Any:  # noqa: ANN401 - links
        return link_believed(people.select(columns)[rows], table.select(columns), truth=truth, seed=seed)

    plain = np.arange(size)
    found = [linked(table[order], pairs, plain) for table in tables]
    figures = [one.found for one in found if one.found is not None]
    failures = _order_failures(figures)
    again = linked(tables[1][order], pairs.with_columns(second="first"), order)
    if _records_changed(found[1].credit, again.credit, order):
        failures.append("row order changes the links of the lightly masked file")
    return Check("believed", "two files", tuple(e.value for e in figures), figures[-1].chance, tuple(failures))


def check_networks(names: Sequence[str], seed: int, size: int = SIZE) -> list[Check]:
    """Check attacks on networks: a copy, one without a fiftieth of its ties, one rewired, one of other people."""
    ties, stranger = datasets.friends(size, seed), datasets.friends(size, seed + 10_000)
    light, heavy = (mask_network(ties, masking, seed=seed) for masking in ("delete(0.02)", "rewire(1)"))
    people = pl.DataFrame({"id": np.arange(1, size + 1)})
    known: dict[str, Any] = {"people": people, "released_people": people}
    keys = [dict(one.key.with_columns(pl.col("original").cast(pl.Int64)).iter_rows()) for one in (light, heavy)]
    networks = (
        Network(ties, ties, **known), Network(ties, light.ties, truth=keys[0], **known),
        Network(ties, heavy.ties, truth=keys[1], **known), Network(ties, stranger, **known),
    )  # fmt: skip
    found = [{entry.measure: entry.evidence for entry in report_network(network_risk(one, seed=seed))}
             for one in networks]  # fmt: skip
    moved = Network(ties.reverse(), light.ties.reverse(), truth=keys[0], **known)
    again = network_risk(moved, seed=seed).credits()
    checks = []
    for name in names:
        given = [step[name] for step in found]
        figures = [one.observations[0].estimate for one in given if isinstance(one, Evidence)]
        failures = _order_failures(figures)
        before = given[1].per_record if isinstance(given[1], Evidence) else None
        if _records_changed(before, again[name], np.arange(size)):
            failures.append("row order changes the risk of people of the lightly masked network")
        checks.append(Check(name, "network", tuple(e.value for e in figures), figures[-1].chance, tuple(failures)))
    return checks


def check_persons(names: Sequence[str], seed: int, size: int = SIZE) -> list[Check]:
    """Check attacks on people with many rows: copies, coarser, disturbed and other people's visits and trajectories."""
    n, checks = max(60, size // 4), []
    kinds: tuple[tuple[str, str, Any, dict[str, Any]], ...] = (
        ("visits", "patient", datasets.visits, {"confidential": ["diagnosis"], "ignored": ["cost"]}),
        ("trajectories", "person", datasets.trajectories, {"time": "time", "place": "antenna"}),
    )
    for table, name, made, roles in kinds:
        original, stranger, outside = (_renamed(made(n, seed=seed + k), name, k) for k in (0, 10_000, 20_000))
        light = original.with_columns(pl.col(pl.Date, pl.Datetime).dt.strftime("%Y-%m-%d"))
        light = light.with_columns(pl.col("born") // 5 * 5) if "born" in light.columns else light
        given = {"id": "id", "control": outside.with_columns(pl.col("id") + n), **roles}
        ladder = (original, light, _masked(original, 1.0, 0.6, seed), stranger)
        found = [persons_risk(Persons(original, one, **given), seed=seed) for one in ladder]
        moved = Persons(original.reverse(), light.sample(fraction=1, shuffle=True, seed=seed), **given)
        checks += _of_stages(names, table, found, persons_risk(moved, seed=seed))
    return checks


def _renamed(table: pl.DataFrame, name: str, k: int) -> pl.DataFrame:
    """People by numbers from 1, in an order that has nothing to do with who they are."""
    ids = table[name].unique().sort().shuffle(seed=k)
    numbers = pl.DataFrame({name: ids, "id": np.arange(1, len(ids) + 1)})
    return table.join(numbers, on=name, maintain_order="left").drop(name).select("id", pl.all().exclude("id"))


def _of_stages(names: Sequence[str], table: str, found: Sequence[PersonsRisk], again: PersonsRisk) -> list[Check]:
    told = [{entry.measure: entry.evidence for entry in report_persons(one)} for one in found]
    moved = {entry.measure: entry.evidence for entry in report_persons(again)}
    checks = []
    for name in names:
        figures = [e.observations[0].estimate for e in (step[name] for step in told) if isinstance(e, Evidence)]
        if not figures:
            continue
        failures = _order_failures(figures)
        before, after = told[1][name], moved[name]
        parts = [one.per_record if isinstance(one, Evidence) else None for one in (before, after)]
        if _records_changed(parts[0], parts[1], np.arange(found[1].persons.n)):
            failures.append("row order changes the risk of people of the coarser release")
        checks.append(Check(name, table, tuple(e.value for e in figures), figures[-1].chance, tuple(failures)))
    return checks


def _again(failed: Check, entry: Measure, seed: int, size: int) -> Check:
    """What the measure does on tables drawn anew: of a hundred figures some are out of their interval by luck.

    Who is broken fails again. A measure that passes then is told to pass.
    """
    ladders = _ladders_for(entry, seed, size)
    second = check_measure(entry, failed.table, ladders[failed.table], seed)
    return second if second.passed else failed


def _run_gauntlet(count: int | None, only: Iterable[str] | None, seed: int, progress: Progress) -> tuple[Check, ...]:
    """Assess the quick releases of the gauntlet, or the first ``count`` of them."""
    from unmask.datasets.gauntlet import quick_part  # noqa: PLC0415 - scipy

    if count is not None and count < 1:
        raise ParameterError("the gauntlet has at least one case", got=str(count))
    choose(discover(), only, ())  # a measure that is not there is an error of the call, not of a case
    cases, checks = quick_part(count), []
    for number, known in enumerate(cases):
        progress(number / len(cases), known.name.replace("_", " "))
        answer, reason = attack_case(known, seed, only=only)
        reasons = (reason,) if answer.verdict == "error" else ()
        checks.append(Check("gauntlet", known.name, (answer.wanted, answer.best), None, (*answer.failures, *reasons)))
    progress(1.0, "done")
    return tuple(checks)


def attack_case(known: Known, seed: int = 0, *, only: Iterable[str] | None = None) -> tuple[Answer, str]:
    """Assess one release of the gauntlet: what the report says, and why. An error is an answer, never a good one."""
    from unmask.datasets.gauntlet import answer  # noqa: PLC0415

    case = known.make(seed)
    try:
        assessment = assess(Release(case.original, case.released, **case.roles), only=only, utility="none")
    except Exception as error:  # noqa: BLE001 - whatever stops an assessment stops it
        return answer(case, "error", ()), f"{type(error).__name__}: {error}"
    return answer(case, assessment.verdict, assessment.findings), assessment.reason


def check_measure(entry: Measure, table: str, releases: tuple[Release, ...], seed: int) -> Check:
    """Run one measure up the ladder and once more on shuffled rows."""
    answers = [_answer(entry, release, seed) for release in releases]
    if any(isinstance(answer, str) for answer in answers):
        reasons = {answer for answer in answers if isinstance(answer, str)}
        silent = all(answer == "" for answer in answers)
        failures = (
            ()
            if silent
            else tuple(f"could not run: {reason or 'applies to some releases only'}" for reason in sorted(reasons))
        )
        return Check(entry.name, table, (None,) * len(releases), None, failures)
    found = [answer for answer in answers if not isinstance(answer, str)]
    figures = [evidence.observations[0].estimate for evidence in found]
    failures = (*_order_failures(figures), *_shuffle_failures(entry, releases, found, seed))
    return Check(entry.name, table, tuple(e.value for e in figures), figures[-1].chance, failures)


def _answer(entry: Measure, release: Release, seed: int) -> Evidence | str:
    """Return what the measure found, "" when it does not apply, or why it could not run."""
    evidence = run_measure(entry, release, Context(seed=seed))
    if isinstance(evidence, Absence):
        return "" if evidence.outcome == "does not apply" else evidence.reason
    return evidence


def _order_failures(figures: list[Estimate]) -> list[str]:
    failures = []
    for (before, stage), (after, following) in zip(
        zip(figures, STAGES, strict=True), zip(figures[1:], STAGES[1:], strict=True), strict=False
    ):
        if after.value - WIDER * (after.value - after.low) > before.value + 1e-12:
            failures.append(
                f"risk rises from {stage} ({percent(before.value)}) to {following} ({percent(after.value)})"
            )
    first, last = figures[0], figures[-1]
    if first.low <= last.high:
        failures.append(f"a copy ({percent(first.value)}) is not told from an unrelated file ({percent(last.value)})")
    if not _covers(last):
        failures.append(
            f"an unrelated file gives {percent(last.value)} (95 % CI {span(last.low, last.high)}), chance is "
            f"{percent(last.chance)}"
        )
    return failures


def _covers(estimate: Estimate) -> bool:
    """Whether the chance level is in the interval, widened to 99.9 %: at 95 % one check in twenty fails by chance."""
    low = estimate.value - WIDER * (estimate.value - estimate.low)
    high = estimate.value + WIDER * (estimate.high - estimate.value)
    return low - 1e-12 <= estimate.chance <= high + 1e-12


def _shuffle_failures(entry: Measure, releases: tuple[Release, ...], found: list[Evidence], seed: int) -> list[str]:
    failures = []
    for stage in (1, 2):
        moved, order = _shuffled(releases[stage], seed + 1)
        shuffled = _answer(entry, moved, seed)
        if isinstance(shuffled, str):
            failures.append(f"could not run on shuffled rows: {shuffled}")
            continue
        before, after = (evidence.observations[0].estimate.value for evidence in (found[stage], shuffled))
        if abs(after - before) > 1e-12:
            failures.append(f"row order changes the risk of the {STAGES[stage]} file: {before!r} became {after!r}")
        changed = _records_changed(found[stage].per_record, shuffled.per_record, order)
        if changed:
            failures.append(f"row order changes the risk of {changed} records of the {STAGES[stage]} file")
    return failures


def _records_changed(before: Floats | None, after: Floats | None, order: Rows) -> int:
    """Count the records whose own risk is another one when the rows stand in another order."""
    if before is None or after is None:
        return len(order) if (before is None) != (after is None) else 0
    return int((~np.isclose(before[order], after, rtol=0, atol=1e-12, equal_nan=True)).sum())


def shuffle(release: Release, seed: int) -> Release:
    """Return the same release with the rows of all tables in random orders."""
    return _shuffled(release, seed)[0]


def _shuffled(release: Release, seed: int) -> tuple[Release, Rows]:
    """Shuffle the rows, and tell in which order the original's stand now."""
    rng = np.random.default_rng(seed)
    one, two = (rng.permutation(table.height) for table in (release.original, release.released))
    control = None if release.control is None else release.control[rng.permutation(release.control.height)]
    more: dict[str, Any] = {
        "control": control,
        **({} if release.population is None else {"population": release.population}),
        **({} if release.second is None else {"second": release.second}),
        "earlier": [before.table[rng.permutation(before.table.height)] for before in release.earlier],
    }
    for name, matrix, rows in (
        ("distances", release.distances, two),
        ("known_distances", release.known_distances, one),
    ):
        more[name] = None if matrix is None else matrix[np.ix_(rows, rows)]
    return Release(release.original[one], release.released[two], **{**release.settings, **more}), one


def unpaired(release: Release) -> Release:
    """Return the same tables without saying which rows belong together: as if the release were synthetic."""
    tables = (release.original.drop("id"), release.released.drop("id"))
    return Release(*tables, control=release.control, confidential=release.confidential, synthetic=True)


def _ladders_for(entry: Measure, seed: int, size: int) -> dict[str, tuple[Release, ...]]:
    """The releases that a measure meets: those of all, and what it alone is made for."""
    if entry.name in REPEATED:
        return _repeated(seed, size)
    return _ladders(seed, size) | (_surveyed(seed, size) if entry.name in SURVEYED else {})


def _repeated(seed: int, size: int) -> dict[str, tuple[Release, ...]]:
    """Incomes of people, published twice under one pseudonym, the masking drawn anew for the second time."""
    known = ["id", "gross_income", "federal_tax", "interest", "wages"]
    pseudonym = pl.Series("pseudonym", np.random.default_rng(seed).permutation(size))
    ladders = (_ladder("census", seed, size), _ladder("census", seed, size, redrawn=1))
    return {
        "published twice": tuple(
            Release(
                new.original.select(known), new.released.select(known).with_columns(pseudonym), id="id",
                ignored=["pseudonym"], earlier=[old.released.select(known).with_columns(pseudonym)],
            )
            for new, old in zip(*ladders, strict=True)
        )
    }  # fmt: skip


def _ladders(seed: int, size: int) -> dict[str, tuple[Release, ...]]:
    mixed = _ladder("patients", seed, size)
    return {"numeric": _ladder("census", seed, size), "mixed": mixed, "synthetic": tuple(map(unpaired, mixed))}


def _ladder(kind: str, seed: int, size: int, redrawn: int = 0) -> tuple[Release, ...]:
    generate = {"census": datasets.census, "patients": datasets.patients}[kind]
    original, stranger = _with_id(generate(size, seed=seed)), _with_id(generate(size, seed=seed + 10_000 + redrawn))
    outside = generate(size, seed=seed + 20_000).drop("patient", strict=False)
    roles = {"confidential": ["diagnosis", "cost"]} if kind == "patients" else {}
    light, heavy = (_masked(original, noise, pram, seed + redrawn) for noise, pram in ((0.1, 0.05), (1.0, 0.6)))
    tables = (original, light, heavy, stranger)
    # what is known of the population: how many people for one table, a register for the other
    people = 2 * size if kind == "census" else pl.concat([original.drop("id"), outside.select(original.columns[1:])])
    given = {"id": "id", "control": outside, "population": people, **roles}
    return tuple(Release(original, table, **given) for table in tables)  # type: ignore[arg-type]


def _surveyed(seed: int, size: int) -> dict[str, tuple[Release, ...]]:
    """Patients with sampling weights, three to a household, of whom only categories are known."""
    mixed = _ladder("patients", seed, size)
    weights = np.random.default_rng(seed).uniform(1.0, 3.0, size)

    def surveyed(table: pl.DataFrame) -> pl.DataFrame:
        return table.with_columns(pl.Series("weight", weights), (pl.col("id") // 3).alias("home"))

    known = ["sex", "town", "postcode", "smoker", "insurance"]
    roles = {"id": "id", "quasi": known, "confidential": ["cost"], "weight": "weight", "household": "home"}
    return {"surveyed": tuple(Release(surveyed(r.original), surveyed(r.released), **roles) for r in mixed)}  # type: ignore[arg-type]


def _with_id(table: pl.DataFrame) -> pl.DataFrame:
    """Number the rows; the demo's own patient numbers are dropped, since they name people."""
    return table.drop("patient", strict=False).with_row_index("id")


def _masked(table: pl.DataFrame, noise: float, pram: float, seed: int) -> pl.DataFrame:
    """Noise on every number and date, and categories changed with probability ``pram``; the id is kept."""
    numbers = tuple(name for name, kind in table.drop("id").schema.items() if kind.is_numeric() or kind.is_temporal())
    inner = Noise(noise, columns=numbers).apply(table.drop("id"), seed)
    inner = parse_masking(f"pram({pram})").apply(inner, seed + 1)
    return inner.insert_column(0, table["id"])
