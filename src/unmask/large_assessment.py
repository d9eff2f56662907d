"""`unmask.assess_large`: attack a release that does not fit in memory, judge what was found, and report it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from unmask.assessment import Assessment, choose, discover
from unmask.attacks import attempt, ended_with, seed_of
from unmask.engines import Store, bytes_of, engine_of, open_store
from unmask.errors import ParameterError
from unmask.evidence import (
    Absence,
    ColumnEntry,
    Evidence,
    Finding,
    Findings,
    Judgement,
    Measure,
    Policy,
    Progress,
    Reported,
    conclude,
    silent,
)
from unmask.fingerprints import fingerprints
from unmask.large import Large
from unmask.made_with import made_with
from unmask.report import document
from unmask.resume import Kept, keeping_counts
from unmask.tables import Release

ENGINE = "duckdb"
MEASURES = (
    "anonymity", "copies", "knowledge_sweep", "membership", "nearest", "one_to_one", "population", "probabilistic",
    "special_uniques", "uniqueness",
)  # fmt: skip
SAMPLE, SETS = 2000, 3
INPUTS = ("original", "released", "control")
MOST_KEPT = 1_000_000  # people of whom one entry each is kept in a folder
PEOPLE = document.PeopleEntry(
    None, "no attack was run on everybody and every column, so no person has a risk: rates alone are told", 0, 0.0, ()
)
CHECK = document.CheckEntry(
    True,  # noqa: FBT003 - passed
    "untested",
    "rows are paired by their ids; which columns name people was not looked at",
    (),
)
CHECK_SYNTHETIC = replace(
    CHECK, words="The release is synthetic: rows are not paired; which columns name people was not looked at"
)
SYNTHETIC = (
    "the release is taken as synthetic: no row was made from one person, and attacks that need pairs do not apply"
)
UNTRIED = ("inference", "keys", "linkability", "singling")  # what else memory tries of a synthetic release
UNPAIRED = Finding(
    "check",
    "check.pairing",
    "Rows with the same id look no more alike than any two rows.",
    "inconclusive",
    "no column keeps people's values beyond chance, and nobody is found: is it the right id, or is nothing paired?",
)


def assess_large(  # noqa: PLR0913 - the options of an assessment
    original: Any,  # noqa: ANN401 - a path, a relation of DuckDB, or a frame
    released: Any,  # noqa: ANN401
    *,
    id: str | None = None,  # noqa: A002 - the word of the field
    synthetic: bool = False,
    control: Any = None,  # noqa: ANN401
    quasi: Iterable[str] | None = None,
    confidential: Iterable[str] = (),
    ignored: Iterable[str] = (),
    population: float | None = None,
    categorical: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    only: Iterable[str] | None = None,
    skip: Iterable[str] = (),
    sample: int = SAMPLE,
    sets: int = SETS,
    seed: int = 0,
    memory: str | float = "3GB",
    threads: int = 1,
    engine: str | None = None,
    master: str | None = None,
    work: str | None = None,
    progress: Progress | None = None,
    command: str | None = None,
    show_values: bool = False,
    resume: str | Path | None = None,
) -> Assessment:
    """Attack a release that is larger than memory, on one machine or many, and say whether it may be published.

    Groups are counted by DuckDB or Spark, over everybody; people are linked for a sample of them, over the whole
    release. What an engine cannot try (the intruder who learns the masking, confidential values and others) is named
    in the report, and is never taken for safety: under the policies that come with unmask the verdict is "unsafe" or
    "inconclusive".

    Parameters
    ----------
    original, released
        Parquet or CSV: a file, a folder, a pattern such as "part-*.parquet"; a relation of DuckDB; a DataFrame of
        Spark, classic or of Connect, which stays where it is; or another frame.
    id
        Column, in both tables, that says which rows belong together. A synthetic release needs none.
    synthetic, control
        No row of the release was made from one person: copies of people are looked for, and with a control table of
        people outside, as for ``Release``, members are told from them. Nothing else is tried of such a release.
    quasi, confidential, ignored, categorical, kinds
        As for ``Release``. Columns are compared as they stand: a column that is a number in one table and text in the
        other is refused. What columns of text files are is decided from all tables together.
    population
        How many people the original was drawn from.
    policy, only, skip, seed, progress, command, show_values
        As for ``assess``.
    sample
        How many people are looked for by linkage, drawn by a hash of their ids.
    sets
        How many attributes the sets have at most that special uniques and the knowledge sweep look at.
    memory, threads
        What all of it may take, such as "3GB": half of it is DuckDB's. More threads are faster and take more.
        For DuckDB.
    engine
        "duckdb" or "spark"; None: spark for DataFrames of Spark, else duckdb.
    master, work
        For Spark, where paths are given: local[4], spark://host:7077, yarn, or sc://host:15002 for a server of Connect;
        and a folder for tables on the way that all workers reach, such as hdfs:///tmp/unmask. On one machine both may
        be left out.
    resume
        A folder in which finished attacks are kept, as for ``assess``: the same call goes on after it was stopped. The
        tables are read and coded again. For files of this machine.

    Examples
    --------
    >>> import unmask
    >>> people = unmask.datasets.patients(300)
    >>> unmask.assess_large(people, people, id="patient", only=["uniqueness"]).verdict
    'unsafe'

    """
    _check(sample, sets, seed)
    _check_kind(id, control, synthetic=synthetic)
    rules = policy if isinstance(policy, Policy) else Policy.load(policy)
    using = engine_of((original, released) if control is None else (original, released, control), engine)
    _check_where(using, master, work)
    chosen, left_out = chosen_of(only, skip, using)
    said = {**dict.fromkeys(_listed(categorical), "categorical"), **(kinds or {})}
    secret, unused = _listed(confidential), _listed(ignored)
    settings: dict[str, Any] = {"id": id, "confidential": list(secret), "ignored": list(unused), "kinds": said}
    settings |= {"population": population, "engine": using, "sample": sample, "sets": sets}
    settings |= {"threads": threads, "memory": bytes_of(memory)} if using == ENGINE else {"master": master}
    settings |= {"synthetic": True} if synthetic else {}
    others = {"confidential": secret, "ignored": unused, "id": (id,) if synthetic and id is not None else ()}
    with open_store(
        original, released, id=None if synthetic else id, control=control, quasi=quasi, others=others, by_content=True,
        kinds=said, memory=memory, threads=threads, engine=using,
        master=master, work=work,
    ) as store:  # fmt: skip
        _check_population(population, store.n_released)
        large = Large(store, sample, sets, seed, population, id)
        with _keeping(resume, store, settings, seed) as kept:
            reported = attack_large(large, chosen, seed, progress or silent, kept)
        hidden = [name for name in store.sources[1].types if name not in {id, *secret, *unused}]
        checked = (*_recoded(store), *(_untried() if synthetic else _unpaired(large, reported)))
        core = "synthetic" if synthetic else "paired"
        judged = conclude(reported, rules, columns=hidden, core=core, left_out=left_out, checked=checked)
        settings |= {"quasi": [*store.names, *(key.name for key in store.left_out)]}
        manifest = _manifest(store, (original, released, control), rules, chosen, settings)
        records = large.records(reported, show_values=show_values)
        entries, warnings = _entries(large), (*_not_compared(judged), *_told(large, left_out, rules))
    built = document.build(
        judged, check=CHECK_SYNTHETIC if synthetic else CHECK, columns=entries,
        warnings=warnings, risk={"risk": np.full(1, np.nan)}, people=PEOPLE,
        labels=None, manifest=replace(manifest, seed=seed, command=command, show_values=show_values),
    )  # fmt: skip
    word, reason, rows = judged.verdict.word, judged.verdict.reason, records.select("row")
    return Assessment(
        word, reason, Findings(judged.findings), records, built, Release(rows, rows, synthetic=True)
    )  # fmt: skip


def chosen_of(only: Iterable[str] | None, skip: Iterable[str], engine: str = ENGINE) -> tuple[list[Measure], list[str]]:
    """The measures to run, of those that this engine has, and the names of all that are not run."""
    known = discover()
    names = {entry.name for entry in choose(known, only, skip)}
    unable = sorted(names - set(MEASURES)) if only is not None else []
    if unable or not names & set(MEASURES):
        raise ParameterError(
            f"the engine {engine} does not have these measures", got=", ".join(unable), allowed=", ".join(MEASURES)
        )
    chosen = [known[name] for name in MEASURES if name in names]
    return chosen, [name for name in known if name not in {entry.name for entry in chosen}]


def _keeping(folder: str | Path | None, store: Store, settings: dict[str, Any], seed: int) -> Any:  # noqa: ANN401
    """What was found before, for the same tables, options and versions; how fast it is makes no difference."""
    if folder is None:
        return nullcontext()
    inputs = {source.where: source.sha256 for source in store.sources}
    asked = {name: value for name, value in settings.items() if name not in {"threads", "memory", "master"}}
    return keeping_counts(folder, inputs, {**asked, "names": store.names, "seed": seed}, store.duck.package)


def _run(large: Large, entry: Measure, kept: Kept | None, seed: int, tell: Progress) -> Evidence | Absence:
    """What a measure found before, or finds now; where it holds an entry for very many people it is not kept."""
    before = None if kept is None else kept.find("engine", entry.name)
    if before is not None:
        return before
    found = attempt(lambda: large.run(entry.name, seed_of(seed, entry), tell))
    crowds = [one.crowds for one in found.observations] if isinstance(found, Evidence) else []
    if kept is not None and not any(one is not None and one.size.size > MOST_KEPT for one in crowds):
        kept.keep("engine", entry.name, found)
    return found


def attack_large(
    large: Large, chosen: list[Measure], seed: int, tell: Progress, kept: Kept | None = None
) -> tuple[Reported, ...]:
    """Run each measure; one that cannot is reported as such, and the others go on."""
    reported = []
    for place, entry in enumerate(chosen):

        def part(done: float, words: str, place: int = place, title: str = entry.title) -> None:
            tell((place + done) / len(chosen), f"{title}: {words}")

        part(0.0, "begins")
        found = _run(large, entry, kept, seed, part)
        if isinstance(found, Evidence):
            part(1.0, ended_with(found))
        reported.append(Reported(entry.name, entry.title, entry.story, found))
    tell(1.0, "done")
    return tuple(reported)


def _check(sample: int, sets: int, seed: int) -> None:
    if seed < 0:
        raise ParameterError("a seed is a whole number from 0", got=str(seed))
    for name, given in (("sample", sample), ("sets", sets)):
        if given < 1:
            raise ParameterError(f"{name} is a whole number from 1", got=str(given))


def _check_population(people: float | None, rows: int) -> None:
    if people is not None and not rows <= people < float("inf"):
        raise ParameterError(
            "the population is not a number of people, at least as many as the release has rows",
            got=f"{people:g} people, {rows} rows",
            hint="population= is the number of people that the original was drawn from",
        )


def _check_where(engine: str, master: str | None, work: str | None) -> None:
    given = [f"{name}={word!r}" for name, word in (("master", master), ("work", work)) if word is not None]
    if engine != "spark" and given:
        raise ParameterError("these options are for Spark", got=", ".join(given), hint='give engine="spark" too')


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _check_kind(id_: str | None, control: object, *, synthetic: bool) -> None:
    """Refuse rows that belong to nobody, unless they are said to be synthetic; and a control table of others."""
    if not synthetic and id_ is None:
        raise ParameterError(
            "an engine needs an id", hint="id= names the column that says which rows belong together; or synthetic=True"
        )
    if not synthetic and control is not None:
        raise ParameterError(
            "a control table is for a synthetic release", hint="people of the original without a record are outside"
        )


def _untried() -> tuple[Finding, ...]:
    """Attacks on a synthetic release that no engine has: without them nothing is safe."""
    claim = f"{len(UNTRIED)} attacks on synthetic releases were not tried: {', '.join(UNTRIED)}."
    return (
        Finding("check", "check.untried", claim, "inconclusive", "engines do not have them; `assess` in memory does"),
    )


def _unpaired(large: Large, reported: Iterable[Reported]) -> tuple[Finding, ...]:
    """Say so where nothing shows that rows with the same id are of the same person: figures are then of strangers."""
    n = large.store.n_paired
    kept, luck = large.kept.kept / n, large.kept.agreeing / n**2
    if (kept > luck + 3 * np.sqrt(luck * (1 - luck) / n) + 1e-12).any():
        return ()
    links = [one.evidence for one in reported if one.measure in {"nearest", "probabilistic"}]
    figures = [told.observations[0].estimate for told in links if isinstance(told, Evidence)]
    return () if any(figure.low > figure.chance for figure in figures) else (UNPAIRED,)


def _recoded(store: Store) -> tuple[Finding, ...]:
    """Say so where categories of the release are none of the original's: who bears them was compared with nobody."""
    found = [key for key in store.keys if not key.numeric and key.foreign]
    return tuple(
        Finding(
            "check",
            "check.recoded",
            f"{key.foreign:,} of {store.n_released:,} released records have a value of {key.name!r} that no original "
            "record has.",
            "inconclusive",
            f"the engine {store.duck.name} compares categories as they stand, and does not know which values were "
            "made one or renamed: whoever does may find more people",
        )
        for key in found
    )


def _not_compared(judged: Judgement) -> tuple[str, ...]:
    """What no attack could compare: figures that look small may look so for want of it."""
    recoded = [finding for finding in judged.findings if finding.key == "check.recoded"]
    return tuple(f"{finding.claim} {finding.reason}" for finding in (*judged.unseen, *recoded))


def _told(large: Large, left_out: list[str], policy: Policy) -> tuple[str, ...]:
    """What a reader should know first."""
    store = large.store
    if store.synthetic:
        told = f"the engine {store.duck.name} counts copies: {len(left_out)} attacks were not tried"
        return (
            f"{told} ({', '.join(left_out)})",
            SYNTHETIC,
            *_assumed(store),
            *policy.too_few("synthetic", store.n_original),
        )
    does = f"the engine {store.duck.name} counts groups and links a sample of people"
    tried = f"{does}: {len(left_out)} attacks were not tried"
    absent, extra = store.n_original - store.n_paired, store.n_released - store.n_paired
    notes = [f"{tried} ({', '.join(left_out)})", *_assumed(store)]
    if absent:
        notes.append(
            f"{absent} of {store.n_original} original records have no row in the release: they cannot be found there"
        )
    if extra:
        notes.append(f"{extra} rows of the release belong to no original record")
    return (*notes, *policy.too_few("paired", store.n_paired))


def _assumed(store: Store) -> tuple[str, ...]:
    """What was assumed of columns that people are looked for by."""
    names = {*store.names, *(key.name for key in store.left_out)}
    told = {name: words for source in store.sources for name, words in source.warnings.items() if name in names}
    return tuple(told.values())


def _entries(large: Large) -> tuple[ColumnEntry, ...]:
    """How each key is written in both tables, how it was read, and how many people's records carry their value."""
    store, (before, after) = large.store, large.store.sources[:2]
    kept = [None] * len(store.names) if store.synthetic else (large.kept.kept / store.n_paired).tolist()
    shares, places = dict(zip(store.names, kept, strict=True)), list(before.types)
    told = sorted(store.keys, key=lambda key: (not key.numeric, places.index(key.name)))
    return tuple(
        ColumnEntry(
            key.name,
            "numeric" if key.numeric else "categorical",
            "quasi",
            key.reason,
            before.types[key.name].lower(),
            after.types[key.name].lower(),
            "as it stands",
            shares.get(key.name),
        )
        for key in (*told, *store.left_out)
    )


def _manifest(
    store: Store, given: tuple[Any, ...], policy: Policy, chosen: list[Measure], settings: dict[str, Any]
) -> document.Manifest:
    rows = store.n_original, store.n_released, store.n_outside
    inputs = {
        name: {
            "path": str(path) if isinstance(path, str | Path) else None, "sha256": source.sha256, "rows": n,
            "columns": len(source.types),
        }
        for name, path, source, n in zip(INPUTS, given, store.sources, rows, strict=False)
    }  # fmt: skip
    return document.Manifest(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=None,
        seed=0,
        measures=tuple(entry.name for entry in chosen),
        inputs=fingerprints(inputs),
        settings=settings,
        policy={"name": policy.name, "thresholds": {k: document.vars_of(v) for k, v in policy.thresholds.items()}},
        versions=made_with(store.duck.package),
    )
