"""Keys in a synthetic release: who is looked up by what is known of them, and what the rows found there say.

An intruder knows some columns of a person, the keys, and looks for them in the synthetic table. Definitions and names
after synthpop [SYNTHPOP]_ and the correct attribution probability [CAP]_; all shares are of the people of the original.
What is judged goes beyond what the release tells of people outside or, with nobody outside, beyond a *fresh sample*
(`beyond`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import polars as pl

from unmask.arrays import Floats
from unmask.disclosure.beyond import Beyond, beyond_fresh, beyond_outside
from unmask.disclosure.expected import expected_findings, expected_words
from unmask.disclosure.lookup import KeyDisclosure, codes_of, key_disclosure
from unmask.disclosure.outside import needs_outsiders, refuse_overlap
from unmask.evidence import Context, Evidence, Fact, Figure, Observation, measure
from unmask.study import Study
from unmask.tables import Release

DRAWS = 5  # of columns dealt independently
LEVELS, CLASSES = 100, 20  # of numbers: more different ones are cut into so many classes of equal size
MOST_KEYS, SIZES = 8, (1, 2, 3)  # where no keys are named: sets of so many of the columns with most to tell
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
    """The keys that were named; else sets of up to three of the columns with most to tell."""
    if release.settings.get("quasi") is not None:
        return [tuple(columns)]
    most = sorted(columns, key=lambda name: (-table[name].n_unique(), name))[:MOST_KEYS]
    return [tuple(sorted(chosen)) for size in SIZES for chosen in combinations(most, size)]


def _worst(release: Release, original: pl.DataFrame, synthetic: pl.DataFrame) -> tuple[tuple[str, ...], str | None]:
    """Keys and target that tell most of the people: as many right targets as can be, or replicated uniques."""
    columns = [name for name in release.quasi if name in original.columns]
    targets: list[str | None] = [name for name in release.confidential if name in synthetic.columns] or [None]
    scored = []
    for keys in _key_sets(release, columns, original):
        for target in targets:
            if target in keys:
                continue
            shares = key_disclosure(original, synthetic, keys=keys, target=target).shares
            scored.append((shares["repU"] + shares.get("DiSCO", 0.0), -len(keys), keys, target or ""))
    best = max(scored, key=lambda one: (one[0], one[1], one[2], one[3]))
    return best[2], best[3] or None


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
    keys, target = _worst(release, original, synthetic)
    found = key_disclosure(original, synthetic, keys=keys, target=target)
    rng = np.random.default_rng(context.seed)
    codes = [codes_of(original, synthetic, names) for names in (keys, *([(target,)] if target else []))]
    people, rows = (np.array(side) for side in zip(*codes, strict=True))
    people, rows = people[:, np.lexsort(people)], rows[:, np.lexsort(rows)]  # draws do not hang on the order of rows
    beyond = beyond_fresh((people[0], rows[0]), (people[1], rows[1]) if target else None, rng)
    if target and control and {*keys, target} <= set(control[0].columns):
        beyond["correct"] = _against(original, synthetic, control[0], keys, target)
    alone = _independent(original, synthetic, keys, target, rng)
    return Evidence(
        tuple(_observation(name, one, found) for name, one in beyond.items()),
        facts=tuple(_facts(found, beyond, alone)),
        figures=(_figure(found, beyond, alone),),
        notes=tuple(_notes(original, synthetic, found, cut, show_values=context.show_values)),
        per_record=found.replicated.astype(np.float64),
        compared=(*keys, *([target] if target else [])),
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


def _against(
    original: pl.DataFrame, synthetic: pl.DataFrame, control: pl.DataFrame, keys: tuple[str, ...], target: str
) -> Beyond:
    """Hold what the release tells of its people against what it tells of people outside."""
    both = pl.concat([original.select(*keys, target), control.select(*keys, target)], how="vertical_relaxed")
    codes = [codes_of(both, synthetic, names) for names in (keys, (target,))]
    key, wanted = ((people[: original.height], rows, people[original.height :]) for people, rows in codes)
    return beyond_outside(key, wanted)


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


def _independent(
    original: pl.DataFrame,
    synthetic: pl.DataFrame,
    keys: tuple[str, ...],
    target: str | None,
    rng: np.random.Generator,
) -> dict[str, float]:
    """The same shares where each column of the release is dealt by itself: what its counts alone would give."""
    total: dict[str, float] = {}
    columns = [*keys, *([target] if target else [])]
    for _ in range(DRAWS):
        dealt = pl.DataFrame(
            {name: synthetic[name].sort().gather(rng.permutation(synthetic.height)) for name in columns}
        )
        for name, share in key_disclosure(original, dealt, keys=keys, target=target).shares.items():
            total[name] = total.get(name, 0.0) + share / DRAWS
    return total


MEANING = {
    "UiO": "alone with these keys in the original",
    "UiOiS": "and their keys stand in the release",
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


def _facts(found: KeyDisclosure, beyond: dict[str, Beyond], alone: dict[str, float]) -> Iterable[Fact]:
    yield Fact("keys", ", ".join(found.keys), "columns that the intruder knows")
    if found.target:
        yield Fact("target", found.target, "what they want to learn")
    for name, share in found.shares.items():
        yield Fact(name, share, f"{MEANING[name]}; columns dealt by themselves: {alone[name]:.1%}")
    for name, one in beyond.items():
        short = {"replicated": "repU", "correct": "DiSCO"}[name]
        if one.outside:
            yield Fact(f"{short}_outside", one.fresh, f"{short} of people outside, in the same release")
            continue
        yield Fact(f"{short}_half", one.released, f"{short} with as many rows as half of the people are")
        yield Fact(f"{short}_fresh", one.fresh, f"{short} by the other half of the people, in place of the release")


def _figure(found: KeyDisclosure, beyond: dict[str, Beyond], alone: dict[str, float]) -> Figure:
    bars = []
    for name, one in beyond.items():
        short = {"replicated": "repU", "correct": "DiSCO"}[name]
        bars += [
            (f"{short}, release", one.released),
            (f"{short}, {'outside' if one.outside else 'other people'}", one.fresh),
        ]
        bars += [(f"{short}, columns dealt", alone[short])]
    return Figure.bars(
        bars,
        title="Does the release say more than other people's rows?",
        caption="People who are replicated (repU) or whose target is told rightly (DiSCO): by the release, by rows of "
        "as many other people (or of people outside), and by columns that are dealt independently. Only what the first "
        "has beyond the second is learnt because people are in the file.",
        said=f"Keys {', '.join(found.keys)}: ",
        axes=("", "share of people"),
        name="people",
        form="{}: {:.1%}",
    )


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
    share = float(np.max(original[found.target].value_counts()["count"].to_numpy())) / original.height
    if share >= COMMON and not any(one.key is None for one in expected):
        yield f"{share:.0%} of all people have the same {found.target}: to be told it is no surprise"
    for name in found.keys:
        one = key_disclosure(original, synthetic, keys=[name], target=found.target)
        if one.disclosed.any() and float(one.in_both.mean()) >= COMMON:
            yield f"{name} alone determines {found.target} in both tables: who knows the one knows the other"
