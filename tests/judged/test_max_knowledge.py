"""What the maximum-knowledge findings say, recomputed record by record."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees, different_people, given, judged, mixed, numeric, seed_of
from naive import judged as naive
from naive import judged_max_knowledge as twin
from unmask import Release, attribute_test, permuted_test

NUMBERS, WORDS = ["age", "pay"], ["sex"]
SEEDS = (1, 2, 3, 9)  # with which equally near records tell the same


def cases(name, seed):
    original, released = numeric(14, noise=0.6, seed=seed)
    if name == "mixed":
        original, released = (table.select(*NUMBERS, *WORDS).drop_nulls() for table in mixed(18, seed))
        released = released[: original.height]
        return given(original, released), (NUMBERS, WORDS)
    if name == "other people":
        return given(*different_people(original, released, seed=seed), id="id"), (list("abc"), [])
    return given(original, released), (list("abc"), [])


def as_judged(case, names, **roles):
    """The release with the known columns in the order of what they hold, which lots follow."""
    order = naive.by_content(names, case.original, case.released)
    rest = [name for name in case.original[0] if name not in order]
    tables = [pl.DataFrame(rows).select(*order, *rest) for rows in (case.original, case.released)]
    return Release(*tables, id="id" if "id" in rest else None, **roles), order


def whole_dictionary(case, numbers, words):
    """Distances to the release of every combination of original values: nothing in it belongs to anyone."""
    names = [*numbers, *words]
    made = [dict(zip(names, row, strict=True)) for row in product(*([r[n] for r in case.original] for n in names))]
    return twin.rank_distances(made, case.released, numbers, words).min(axis=1)


@pytest.mark.parametrize("name", ["numbers", "mixed", "other people"])
@pytest.mark.parametrize("seed", range(3))
def test_dictionary(name, seed):
    case, attributes = cases(name, seed)
    far = twin.rank_distances(case.original, case.released, *attributes)
    wanted = twin.identity(far, case.truth, whole_dictionary(case, *attributes))
    found = judged(case.release, "dictionary")
    for key, judged_ in zip(("rate", "ks", "minimum"), wanted, strict=True):
        assert agrees(found[f"dictionary.{key}"], judged_)


def test_dictionary_counts_only_links_that_cannot_be_denied():
    """Two towns, two sexes: all are linked rightly by a copy, and as closely as anybody who was made up."""
    table = pl.DataFrame({"sex": ["f", "f", "m", "m"] * 4, "town": ["ash", "elm"] * 8, "age": [20.0, 30.0] * 8})
    case = given(table, table)
    far = twin.rank_distances(case.original, case.released, ["age"], ["sex", "town"])
    wanted = twin.identity(far, case.truth, whole_dictionary(case, ["age"], ["sex", "town"]))[0]
    found = judged(case.release, "dictionary")["dictionary.rate"]
    assert wanted.value == 0.0 == found.value == found.chance
    assert sum(naive.credits_of(far, case.truth)) > 0


@pytest.mark.parametrize("name", ["numbers", "mixed", "other people"])
@pytest.mark.parametrize("seed", range(2))
def test_permuted(name, seed):
    """Beside links to 19 shuffled releases, as the test draws them."""
    case, attributes = cases(name, seed)
    told, _ = as_judged(case, [*attributes[0], *attributes[1]])
    drawn = permuted_test(told, ranks="average", seed=seed_of("permuted"))
    assert len(drawn.reference) == 19 * len(case.original)
    far = twin.rank_distances(case.original, case.released, *attributes)
    wanted = twin.identity(far, case.truth, drawn.reference)
    found = judged(case.release, "permuted")
    for key, judged_ in zip(("rate", "ks", "minimum"), wanted, strict=True):
        assert agrees(found[f"permuted.{key}"], judged_)


def folds(n, seed):
    """The lot that puts the released records, in the order of their content, into fifths."""
    return np.random.default_rng([seed, 5]).permutation(np.arange(n) % 5)


@pytest.mark.parametrize("seed", SEEDS)
def test_attribute(seed):
    """Learnt: within 5 % of the ranks with one's own record in the release, and not without it."""
    rng = np.random.default_rng(seed)
    n = 30
    known = rng.normal(size=(n, 2))
    table = pl.DataFrame({"a": known[:, 0], "b": known[:, 1], "pay": known[:, 0] + rng.normal(size=n)})
    masked = table.with_columns(a=table["a"] + pl.Series(rng.normal(0, 0.2, n)))
    case = given(*different_people(table, masked, seed=seed), id="id", confidential=["pay"])
    far = twin.rank_distances(case.original, case.released, ["a", "b"], [])
    pay = twin.rank_distances(case.original, case.released, ["pay"], [])
    told, names = as_judged(case, ["a", "b"], confidential=["pay"])
    drawn = attribute_test(told, "pay", ranks="average", seed=seed_of("attribute_test"))
    released = case.released
    order = sorted(range(len(released)), key=lambda j: [released[j][name] for name in (*names, "pay")])
    fold = dict(zip(order, folds(len(released), seed_of("attribute_test")).tolist(), strict=True))

    def near(i, candidates):
        """Whether the nearest candidate tells the amount; equally near ones say the same, with these seeds."""
        least = min(far[i, j] for j in candidates)
        (told,) = {bool(pay[i, j] <= 0.05 * len(released)) for j in candidates if far[i, j] == least}
        return told

    inside, outside, errors = [], [], []
    for i, own in enumerate(case.truth):
        link = int(drawn.links[i])  # by lot where several are nearest
        assert far[i, link] == far[i].min()
        inside.append(bool(pay[i, link] <= 0.05 * len(released)))
        rest = [j for j in range(len(released)) if own is not None and fold[j] != fold[own]]
        outside.append(near(i, rest) if link == own else inside[-1])
        errors.append(pay[i, link])
    gained = case.of([float(a and not b) for a, b in zip(inside, outside, strict=True)])
    lost = case.of([float(b and not a) for a, b in zip(inside, outside, strict=True)])
    found = judged(case.release, "attribute_test")
    assert 0 < sum(gained) < len(gained)
    blind = max(sum(lost) / len(lost), 1 / len(released))
    assert agrees(found["attribute_test.learnt"], naive.rate(gained, blind))
    assert agrees(found["attribute_test.ks"], twin.to_the_left(errors, drawn.reference))


def test_attribute_tells_the_worst():
    """Of two attributes the one of which more is learnt: what was copied, not what was drawn anew."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50), "pay": rng.normal(size=50)})
    table = table.with_columns(rent=pl.Series(rng.normal(size=50)))
    masked = table.with_columns(rent=pl.Series(rng.normal(size=50)))
    found, alone = (
        judged(given(table, masked, confidential=names, quasi=["a", "b"]).release, "attribute_test")
        for names in (["rent", "pay"], ["pay"])
    )
    assert found["attribute_test.learnt"].value == alone["attribute_test.learnt"].value > 0.5
