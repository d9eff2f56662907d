"""Keys in a synthetic release: who is looked up by what is known of them, and what the rows found there say.

An intruder knows some columns of a person, the keys, and looks for them in the synthetic table. Definitions and names
after synthpop [SYNTHPOP]_ and the correct attribution probability [CAP]_; all shares are of the people of the original.
What is judged goes beyond a *fresh sample*: the original is cut in halves at random, and of the people of one half is
asked what the release tells, and what the other half, which holds other people, would have told in its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import polars as pl

from unmask.arrays import Flags, Floats, Ints
from unmask.disclosure.expected import expected_findings, expected_words
from unmask.errors import ParameterError, RoleError, check_name
from unmask.evidence import Z95, Context, Estimate, Evidence, Fact, Figure, Observation, measure
from unmask.shown import Shown
from unmask.study import Study
from unmask.tables import Release

SPLITS = 10  # of the original in halves
DRAWS = 5  # of columns dealt independently
LEVELS, CLASSES = 100, 20  # of numbers: more different ones are cut into so many classes of equal size
MOST_KEYS, SIZES = 8, (1, 2, 3)  # where no keys are named: sets of so many of the columns with most to tell
COMMON = 0.9  # of the people: a value that so many have is no secret
NOT_SYNTHETIC = "each row was made from a person: linkage tells more (if not so, say --synthetic)"


@dataclass(frozen=True, slots=True)
class KeyDisclosure(Shown):
    """What each person's keys find. Arrays have a place for each person of the original; shares are derived.

    ``cap``: share of the synthetic rows with the person's keys that have the person's target; NaN where there are none.
    """

    keys: tuple[str, ...]
    target: str | None
    unique: Flags = field(repr=False)  # alone with the keys in the original
    replicated: Flags = field(repr=False)  # and the keys stand once in the release
    present: Flags = field(repr=False)  # the keys stand in the release
    disclosed: Flags = field(repr=False)  # and all rows with them have one target
    correct: Flags = field(repr=False)  # which is the person's
    in_both: Flags = field(repr=False)  # and all people with these keys have it
    cap: Floats = field(repr=False)
    certain: Flags = field(repr=False)  # all people with these keys have one target: disclosive in the original itself
    own_cap: Floats = field(repr=False)  # share of the people with these keys who have the person's target
    row_unique: Flags = field(repr=False)  # of each row of the release: alone with its keys there
    weap: Floats = field(repr=False)  # of each row: share of the rows with its keys that have its target

    @property
    def shares(self) -> dict[str, float]:
        """All figures by the names that the field gives them."""
        told = {"UiO": self.unique, "UiOiS": self.unique & self.present, "repU": self.replicated, "iS": self.present}
        if self.target is not None:
            told |= {"DiS": self.disclosed, "DiSCO": self.correct, "DiSDiO": self.in_both, "Dorig": self.certain}
        found = {name: float(flags.mean()) for name, flags in told.items()} | {"UiS": float(self.row_unique.mean())}
        if self.target is not None:
            known = self.cap[~np.isnan(self.cap)]
            found["DCAP"] = float(np.nan_to_num(self.cap).mean())  # who is not there counts as not found
            found["DCAP of those present"] = float(known.mean()) if known.size else float("nan")
            found["CAP of the original"] = float(self.own_cap.mean())
            found["WEAP"] = float(self.weap.mean())
            found["TCAP"] = float(self.correct.sum() / self.disclosed.sum()) if self.disclosed.any() else float("nan")
        return found


def key_disclosure(
    original: pl.DataFrame, synthetic: pl.DataFrame, *, keys: Iterable[str], target: str | None = None
) -> KeyDisclosure:
    """Look every person of the original up in a synthetic table by their keys; values are compared as they are.

    Examples
    --------
    >>> import polars as pl, unmask
    >>> people = pl.DataFrame({"town": ["a", "a", "b"], "ill": ["yes", "no", "yes"]})
    >>> unmask.key_disclosure(people, people, keys=["town"], target="ill").shares["DiSCO"] == 1 / 3
    True

    """
    named = tuple(keys)
    _check(original, synthetic, named, target)
    mine, rows = _codes(original, synthetic, named)
    wanted = None if target is None else _codes(original, synthetic, (target,))
    return _looked_up(mine, rows, wanted, named, target)


def _check(original: pl.DataFrame, synthetic: pl.DataFrame, keys: tuple[str, ...], target: str | None) -> None:
    if not keys:
        raise ParameterError("no keys are named", hint="name the columns that an intruder knows")
    for name in (*keys, *([] if target is None else [target])):
        for table in (original, synthetic):
            check_name(name, table.columns, f"column {name!r} is not in both tables", RoleError)
    if target in keys:
        raise RoleError(f"{target!r} is a key and the target", hint="what is known cannot be learnt")
    if not original.height or not synthetic.height:
        raise ParameterError("a table has no rows", hint="both need some")


def _codes(original: pl.DataFrame, synthetic: pl.DataFrame, columns: tuple[str, ...]) -> tuple[Ints, Ints]:
    """One number for each combination of values, the same in both tables; missing is a value of its own."""
    code = np.zeros(original.height + synthetic.height, dtype=np.int64)
    for name in columns:
        both = pl.concat(_as_text(original[name], synthetic[name]))
        level = both.rank("dense").fill_null(0).to_numpy().astype(np.int64)
        code = np.unique(code * (level.max() + 1) + level, return_inverse=True)[1].ravel()
    return code[: original.height], code[original.height :]


def _as_text(x: pl.Series, y: pl.Series) -> list[pl.Series]:
    """Both as text, numbers alike whether whole or not."""
    kinds = [pl.Float64, pl.String] if x.dtype.is_numeric() and y.dtype.is_numeric() else [pl.String]
    for kind in kinds:
        x, y = x.cast(kind), y.cast(kind)
    return [x, y]


def _looked_up(
    mine: Ints,
    rows: Ints,
    targets: tuple[Ints, Ints] | None,
    keys: tuple[str, ...] = (),
    target: str | None = None,
) -> KeyDisclosure:
    size = int(max(mine.max(), rows.max())) + 1
    here, there = np.bincount(mine, minlength=size), np.bincount(rows, minlength=size)
    unique, present = here[mine] == 1, there[mine] > 0
    replicated, alone = unique & (there[mine] == 1), there[rows] == 1
    if targets is None:
        none, no_cap = np.zeros(mine.size, dtype=bool), np.full(mine.size, np.nan)
        empty = (none, none, none, no_cap, none, no_cap, alone, np.full(rows.size, np.nan))
        return KeyDisclosure(keys, target, unique, replicated, present, *empty)
    my_target, row_target = targets
    width = int(max(my_target.max(), row_target.max())) + 1
    cells, at, counts = np.unique(rows * width + row_target, return_inverse=True, return_counts=True)
    weap = counts[at] / there[rows]
    one_target = np.bincount(cells // width, minlength=size) == 1
    wanted = mine * width + my_target
    place = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
    alike = np.where(cells[place] == wanted, counts[place], 0)
    disclosed = present & one_target[mine]
    correct = disclosed & (alike > 0)
    pairs, pair, people = np.unique(wanted, return_inverse=True, return_counts=True)
    certain = (np.bincount(pairs // width, minlength=size) == 1)[mine]
    cap = np.where(present, alike / np.maximum(there[mine], 1), np.nan)
    known = (unique, replicated, present, disclosed, correct, correct & certain, cap, certain)
    return KeyDisclosure(keys, target, *known, people[pair] / here[mine], alone, weap)


@dataclass(frozen=True, slots=True)
class Beyond:
    """A share by the release and by a fresh sample of the same size, and what the one has beyond the other."""

    released: float
    fresh: float
    excess: Estimate


def beyond_fresh(
    key: tuple[Ints, Ints], target: tuple[Ints, Ints] | None, rng: np.random.Generator
) -> dict[str, Beyond]:
    """What the release tells of people beyond other people's rows: replicated uniques, and targets that are right.

    Both are asked of one half of the people, with as many rows of the release as the other half has people. A row that
    was made from a person is among these rows as often as they are part of all rows: the gain is divided by that.
    People with the same keys are found or not together, so they are one draw for the interval.
    """
    mine, rows = key
    n, told = mine.size, dict.fromkeys(("replicated", "correct"), 0.0)
    gains, fresh = {name: np.zeros(n) for name in told}, dict.fromkeys(told, 0.0)
    for _ in range(SPLITS):
        order = rng.permutation(n)
        for half, other in ((order[: n // 2], order[n // 2 :]), (order[n // 2 :], order[: n // 2])):
            some = min(other.size, rows.size)
            drawn, others = rng.permutation(rows.size)[:some], other[:some]
            by_release = _looked_up(mine[half], rows[drawn], _targets(target, half, drawn, of=1))
            by_others = _looked_up(mine[half], mine[others], _targets(target, half, others, of=0))
            for name in told:
                a, b = (getattr(one, name).astype(np.float64) for one in (by_release, by_others))
                gains[name][half] += (a - b) * rows.size / (some * SPLITS)
                told[name] += float(a.sum()) / (n * SPLITS)
                fresh[name] += float(b.sum()) / (n * SPLITS)
    kept = [name for name in told if name == "replicated" or target is not None]
    return {name: Beyond(told[name], fresh[name], _clustered(gains[name], mine)) for name in kept}


def _targets(target: tuple[Ints, Ints] | None, half: Ints, picked: Ints, *, of: int) -> tuple[Ints, Ints] | None:
    return None if target is None else (target[0][half], target[of][picked])


def _clustered(gains: Floats, crowd: Ints) -> Estimate:
    """The mean gain, at least 0, with an interval in which people of one crowd are one draw."""
    n, sums = gains.size, np.bincount(crowd, gains)
    mean, error = float(sums.sum()) / n, Z95 * float(np.sqrt(np.sort(sums**2).sum())) / n
    error = max(error, Z95**2 / (n + Z95**2) if mean <= 0 else 0.0)  # nothing seen among n is not nothing
    low, high = (min(max(end, 0.0), 1.0) for end in (mean - error, mean + error))
    return Estimate(max(mean, 0.0), low, high, n, 0.0, None, "clustered")


# --- in an assessment ------------------------------------------------------------------------------------------------


def _classes(original: pl.DataFrame, synthetic: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, tuple[str, ...]]:
    """Both tables with numbers of many values in classes of equal size, and which columns these are."""
    cut = []
    for name in original.columns:
        if original[name].dtype.is_numeric() and original[name].n_unique() > LEVELS:
            edges = np.unique(np.quantile(original[name].drop_nulls().to_numpy(), np.linspace(0, 1, CLASSES + 1)[1:-1]))
            original, synthetic = (_cut(table, name, edges) for table in (original, synthetic))
            cut.append(name)
    return original, synthetic, tuple(cut)


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
    original, synthetic, cut = _classes(release.original.select(shared), release.released.select(shared))
    keys, target = _worst(release, original, synthetic)
    found = key_disclosure(original, synthetic, keys=keys, target=target)
    rng = np.random.default_rng(context.seed)
    codes = [_codes(original, synthetic, names) for names in (keys, *([(target,)] if target else []))]
    people, rows = (np.array(side) for side in zip(*codes, strict=True))
    people, rows = people[:, np.lexsort(people)], rows[:, np.lexsort(rows)]  # draws do not hang on the order of rows
    beyond = beyond_fresh((people[0], rows[0]), (people[1], rows[1]) if target else None, rng)
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
    return Observation.of_people(key, one.excess, words.format(keys=", ".join(found.keys), target=found.target))


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
        yield Fact(f"{short}_half", one.released, f"{short} with as many rows as half of the people are")
        yield Fact(f"{short}_fresh", one.fresh, f"{short} by the other half of the people, in place of the release")


def _figure(found: KeyDisclosure, beyond: dict[str, Beyond], alone: dict[str, float]) -> Figure:
    bars = []
    for name, one in beyond.items():
        short = {"replicated": "repU", "correct": "DiSCO"}[name]
        bars += [(f"{short}, release", one.released), (f"{short}, other people", one.fresh)]
        bars += [(f"{short}, columns dealt", alone[short])]
    return Figure.bars(
        bars,
        title="Does the release say more than other people's rows?",
        caption="People who are replicated (repU) or whose target is told rightly (DiSCO): by the release, by rows of "
        "as many other people, and by columns that are dealt independently. Only what the first has beyond the second "
        "is learnt because people are in the file.",
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
