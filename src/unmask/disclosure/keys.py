"""Keys in a synthetic release: who is looked up by what is known of them, and what the rows found there say.

An intruder knows some columns of a person, the keys, and looks for them in the synthetic table. Definitions and names
after synthpop [SYNTHPOP]_ and the correct attribution probability [CAP]_; all shares are of the people of the original.
What is judged goes beyond a *fresh sample*: the original is cut in halves at random, and of the people of one half is
asked what the release tells, and what the other half, which holds other people, would have told in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.disclosure.beyond import beyond_outside, no_surer
from unmask.disclosure.expected import expected_findings, expected_words
from unmask.disclosure.key_baselines import Beyond, Pairs
from unmask.disclosure.key_codes import Coded, column_codes, combined
from unmask.disclosure.key_lookup import KeyDisclosure, key_disclosure, looked_up
from unmask.disclosure.key_sweep import KeyFigures, figures_of
from unmask.disclosure.outside import needs_outsiders, refuse_overlap
from unmask.evidence import Context, Evidence, Fact, Figure, Observation, measure
from unmask.shares import percent
from unmask.study import Study
from unmask.tables import Release

LEVELS, CLASSES = 100, 20  # of numbers: more different ones are cut into so many classes of equal size
MOST_KEYS, SIZES = 8, (1, 2, 3)  # sets of so many of the columns with most to tell
NAMED_FIRST = 3  # sets of keys that are named as those that tell most
COMMON = 0.9  # of the people: a value that so many have is no secret
NOT_SYNTHETIC = "each row was made from a person: linkage tells more (if not so, say --synthetic)"


def _classes(original: pl.DataFrame, *others: pl.DataFrame) -> tuple[list[pl.DataFrame], tuple[str, ...]]:
    """All tables with numbers of many values in classes of equal size, and which columns these are."""
    cut, tables = [], [original, *others]
    for name in original.columns:
        if original[name].dtype.is_numeric() and original[name].n_unique() > LEVELS:
            edges = np.unique(np.quantile(original[name].drop_nulls().to_numpy(), np.linspace(0, 1, CLASSES + 1)[1:-1]))
            tables = [_cut(table, name, edges) if name in table.columns else table for table in tables]
            cut.append(name)
    return tables, tuple(cut)


def _cut(table: pl.DataFrame, name: str, edges: Floats) -> pl.DataFrame:
    values = table[name].cast(pl.Float64, strict=False)
    codes = pl.Series(name, np.searchsorted(edges, values.fill_null(np.nan).to_numpy(), side="right"))
    return table.with_columns(codes.set(values.is_null(), None))


def _key_sets(release: Release, columns: list[str], table: pl.DataFrame) -> list[tuple[str, ...]]:
    """The keys that were named, all together; and sets of up to three of the columns with most to tell.

    Who knows all of the named keys may look by some of them: rows may be wrong in one.
    """
    most = sorted(columns, key=lambda name: (-table[name].n_unique(), name))[:MOST_KEYS]
    swept = [tuple(sorted(chosen)) for size in SIZES for chosen in combinations(most, size)]
    named = [tuple(sorted(columns))] if release.settings.get("quasi") is not None else []
    return list(dict.fromkeys([*named, *swept]))


def _told(
    release: Release, codes: dict[str, Coded], table: pl.DataFrame
) -> list[tuple[float, tuple[str, ...], str | None]]:
    """Each set of keys and target with the share of people of whom it tells: right targets, and replicated uniques.

    That which tells most comes first; of equals the one with fewer keys.
    """
    columns = [name for name in release.quasi if name in codes]
    targets: list[str | None] = [name for name in release.confidential if name in codes] or [None]
    scored = []
    for keys in _key_sets(release, columns, table):
        for target in targets:
            if target not in keys:
                found = looked_up(codes, keys, target)[0]
                right = int(found.replicated.sum()) + int(found.correct.sum())
                scored.append((right / found.unique.size, keys, target))
    return sorted(scored, key=lambda one: (one[0], -len(one[1]), one[1], one[2] or ""), reverse=True)


def _applies(release: Release) -> str | None:
    return None if release.synthetic else NOT_SYNTHETIC


@measure(
    "keys",
    title="Looked up by their keys in a synthetic table",
    story="The intruder knows some columns of a person and looks for synthetic rows that have the same. Is there just "
    "one, where the person is alone in the original too? Do all rows there agree on what they want to learn, and is it "
    "right? More often than in rows of other people?",
    keys=("keys.replicated", "keys.disclosed"),
    applies=_applies,
    pairs=False,
)
def assess_keys(study: Study, context: Context) -> Evidence:
    """Look people up by the keys that tell most, and hold what is found against a fresh sample."""
    release = study.release
    shared = [name for name in release.original.columns if name in release.released.columns]
    outside = _outside(study, shared)
    (original, synthetic, *control), cut = _classes(
        *(t.select(shared) for t in (release.original, release.released)), *outside
    )
    used = [name for name in (*release.quasi, *release.confidential) if name in shared]
    codes = {name: column_codes(original[name], synthetic[name]) for name in dict.fromkeys(used)}
    told = _told(release, codes, original)
    _, keys, target = told[0]
    pairs = Pairs(codes)
    figures, found = figures_of(codes, pairs, keys, target)
    if target is not None:
        figures.beyond["correct"] = _right(figures, (original, synthetic, *control), context.seed)
    named = tuple(sorted(name for name in release.quasi if name in codes and name != target))
    asked = release.settings.get("quasi") is not None and named != keys and len(named) > 0
    return Evidence(
        tuple(_observation(name, one, found) for name, one in figures.beyond.items()),
        facts=(*_facts(figures), *(_named_facts(figures_of(codes, pairs, named, target)[0]) if asked else ())),
        figures=(_figure(figures),),
        notes=(*_notes(original, synthetic, found, cut, show_values=context.show_values), *_swept(told)),
        per_record=found.replicated.astype(np.float64),
        attributes=tuple((name, 1 / len(figures.keys)) for name in figures.keys),  # all of them are looked up together
        compared=(*keys, *([target] if target else [])),
        quotes=target is not None,  # a note may name its most frequent value
        identity=False,
    )


def _outside(study: Study, shared: list[str]) -> list[pl.DataFrame]:
    """The people outside, if there are enough of them: columns that the other tables have, and can be compared."""
    release = study.release
    if release.control is None or needs_outsiders(release):
        return []
    refuse_overlap(study)
    names = [name for name in shared if release.fits(release.control, name)]
    return (
        [release.with_people(release.control, names).original.select(names)[release.original.height :]] if names else []
    )


def _right(figures: KeyFigures, tables: tuple[pl.DataFrame, ...], seed: int) -> Beyond:
    """Right targets beyond what the release tells of people outside; with nobody outside, no surer than its claims."""
    columns = (*figures.keys, *([figures.target] if figures.target else []))
    original, synthetic = (table.select(columns).sort(columns) for table in tables[:2])  # draws do not follow the file
    outside = [table for table in tables[2:] if set(columns) <= set(table.columns)]
    people = pl.concat([original, *(table.select(columns) for table in outside)], how="vertical_relaxed")
    coded = [column_codes(people[name], synthetic[name]) for name in columns]
    key, target, n = combined(coded[:-1]), coded[-1], original.height
    if outside:
        sides = [(one.mine[:n], one.rows, one.mine[n:]) for one in (key, target)]
        return beyond_outside(sides[0], sides[1])
    pairs = [(one.mine, one.rows) for one in (key, target)]
    return no_surer(figures.beyond["correct"], pairs[0], pairs[1], np.random.default_rng(seed))


WORDS = {
    "replicated": (
        "keys.replicated",
        "are alone with {keys} and have just one row like them in the release, beyond what rows of other people show.",
    ),
    "correct": (
        "keys.disclosed",
        "have {keys} whose rows in the release all agree on {target}, rightly, beyond what rows of other people show.",
    ),
}


def _observation(name: str, one: Beyond, found: KeyDisclosure) -> Observation:
    key, words = WORDS[name]
    told = words.format(keys=", ".join(found.keys), target=found.target)
    told = told.replace("what rows of other people show", "what it tells of people outside") if one.outside else told
    return Observation.of_people(key, one.excess, told)


MEANING = {
    "UiO": "alone with these keys in the original",
    "UiOiS": "and their keys stand in the release",
    "Dsyn": "rows of the release whose keys have one value of the target in it",
    "CAP of the target alone": "mean share of people who have their value: what who knows nothing would tell",
    "UiS": "rows of the release that are alone with their keys in it",
    "Dorig": "all people with their keys have one value of the target: what the original itself would tell",
    "CAP of the original": "mean share of people with their keys who have their value: what the original would tell",
    "WEAP": "mean share of right rows of the release in itself",
    "repU": "alone in the original, and one row in the release (replicated uniques)",
    "iS": "their keys stand in the release",
    "DiS": "all rows with their keys have one value of the target",
    "DiSCO": "and it is theirs",
    "DiSDiO": "and all people with these keys have it",
    "DCAP": "mean share of right rows among those with their keys, none where there are no such rows",
    "DCAP of those present": "the same over people whose keys stand in the release",
    "TCAP": "share of right ones among people of whom the rows agree",
}


SHORT = {"replicated": "repU", "correct": "DiSCO"}


def _facts(figures: KeyFigures) -> Iterable[Fact]:
    yield Fact("keys", ", ".join(figures.keys), "columns that the intruder knows")
    if figures.target:
        yield Fact("target", figures.target, "what they want to learn")
    for name, share in figures.shares.items():
        yield Fact(name, share, MEANING[name] + _beside(figures, name), share=True)
    for name, one in figures.beyond.items():
        short = SHORT[name]
        if one.outside:
            yield Fact(f"{short}_outside", one.fresh, f"{short} of people outside, in the same release", share=True)
            continue
        yield Fact(f"{short}_half", one.released, f"{short} with as many rows as half of the people are", share=True)
        yield Fact(
            f"{short}_fresh", one.fresh, f"{short} by the other half of the people, in place of the release", share=True
        )


def _beside(figures: KeyFigures, name: str) -> str:
    """What tables that never saw the person would give."""
    told = []
    if name in figures.independent:
        told.append(f"independent columns: {percent(figures.independent[name])}")
    if name in figures.modelled:
        told.append(f"a model without the person: {percent(figures.modelled[name])}")
    return "".join(f"; {one}" for one in told)


def _named_facts(figures: KeyFigures) -> Iterable[Fact]:
    """The named keys all together, where fewer of them tell more."""
    for name in ("UiO", "repU", "iS", "DiS", "DiSCO"):
        if name in figures.shares:
            words = f"{MEANING[name]}, by all named keys{_beside(figures, name)}"
            yield Fact(f"{name} of all keys", figures.shares[name], words, share=True)


def _figure(figures: KeyFigures) -> Figure:
    bars = []
    for name, one in figures.beyond.items():
        short = SHORT[name]
        if one.outside:
            bars += [(f"{short}, release", one.released), (f"{short}, people outside", one.fresh)]
        else:
            bars += [(f"{short}, half of the release", one.released), (f"{short}, other people", one.fresh)]
            bars += [(f"{short}, whole release", figures.shares[short])]
        bars += [(f"{short}, a model", figures.modelled[short])]
        bars += [(f"{short}, independent columns", figures.independent[short])]
    return Figure.bars(
        bars,
        title="Does the release say more than other people's rows?",
        caption="People who are replicated (repU) or whose target is told rightly (DiSCO). By half of the release "
        "and by as many other people, or of people outside: only what the first has beyond the second is learnt "
        "because people are in the file. By a model that was learnt without the person, and by independent columns.",
        said=f"Keys {', '.join(figures.keys)}: ",
        axes=("", "share of people"),
        name="people",
        form="{}: {share}",
    )


def _swept(told: list[tuple[float, tuple[str, ...], str | None]]) -> Iterable[str]:
    if len(told) > 1:
        first = "; ".join(
            f"{', '.join(keys)}{f' for {target}' if target else ''} ({percent(share)})"
            for share, keys, target in told[:NAMED_FIRST]
        )
        yield f"{len(told):,} sets of keys were tried; replicated or rightly told of people, these find most: {first}"


def _notes(
    original: pl.DataFrame, synthetic: pl.DataFrame, found: KeyDisclosure, cut: tuple[str, ...], *, show_values: bool
) -> Iterable[str]:
    """What anybody would expect, and how values were compared."""
    used = [name for name in cut if name in (*found.keys, found.target)]
    if used:
        yield f"numbers are compared in {CLASSES} classes of equal size: {', '.join(used)}"
    if found.target is None:
        yield "no confidential column is named, so only replicated uniques are told"
        return
    expected = expected_findings(original, found.keys, found.target, found.correct)
    yield from expected_words(expected, found.target, show_values=show_values)
    share = float(np.max(original[found.target].alias("").value_counts()["count"].to_numpy())) / original.height
    if share >= COMMON and not any(one.key is None for one in expected):
        yield f"{percent(share)} of all people have the same {found.target}: to be told it is no surprise"
    for name in found.keys:
        one = key_disclosure(original, synthetic, keys=[name], target=found.target)
        if one.disclosed.any() and float(one.in_both.mean()) >= COMMON:
            yield f"{name} alone determines {found.target} in both tables: who knows the one knows the other"
