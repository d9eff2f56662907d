"""The learnt channel at its limits: many records, and input that has little to say; an answer or one clear error."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from command_line import run
from unmask import Release
from unmask.errors import EngineError
from unmask.kernels.base import EUCLIDEAN, Space
from unmask.kernels.search import nearest_k
from unmask.linkage.channel import columns, link_channel, linking, lists
from unmask.linkage.channel.beyond import NOTHING, Sampled, beyond
from unmask.linkage.channel.columns import read_column
from unmask.linkage.channel.lists import Short, short_posterior
from unmask.linkage.likelihood import link_likelihood

rng = np.random.default_rng(4)


def plane(queries, points):
    none = [np.zeros((len(side), 0), dtype=np.int32) for side in (queries, points)]
    return Space(queries, points, *none, EUCLIDEAN, np.ones(queries.shape[1]), np.zeros(0), np.zeros(0))


# --- very many texts, which are held otherwise -----------------------------------------------------------------------


def test_very_many_words_are_held_as_few_are(monkeypatch):
    cells = pl.Series("cell", ["b7", "a1", None, "c", "a1", "10", "é", "d"])
    few = read_column(cells)
    monkeypatch.setattr(columns, "MANY_WORDS", 3)
    many = read_column(cells)
    assert isinstance(few.words, tuple)
    assert isinstance(many.words, columns.Words)
    assert tuple(many.words) == few.words == ("10", "a1", "b7", "c", "d", "é")
    assert [many.words[k] for k in range(6)] == list(few.words)
    assert list(many.words[::2]) == list(few.words[::2])
    assert np.array_equal(many.code, few.code)
    rows = np.array([7, 0, 2, 3, 1])
    assert tuple(many.take(rows).words) == few.take(rows).words == ("a1", "b7", "c", "d")
    assert np.array_equal(many.take(rows).code, few.take(rows).code)
    assert isinstance(many.take(rows[:2]).words, tuple)


def test_how_words_are_held_makes_no_difference(monkeypatch):
    draw = np.random.default_rng(8)
    people = pl.DataFrame(
        {"pay": draw.normal(3000, 500, 120).round(1), "town": draw.choice(["Ulm", "Bonn", "Kiel", "Hof"], 120),
         "born": [f"19{k:02d}-0{m}-11" for k, m in draw.integers([30, 1], [99, 9], (120, 2))]}
    )  # fmt: skip
    made = people.with_columns(pl.col("pay") + draw.normal(0, 300, 120), pl.col("town").str.slice(0, 1))
    few = link_channel(Release(people, made))
    monkeypatch.setattr(columns, "MANY_WORDS", 2)
    many = link_channel(Release(people, made))
    assert few.found == many.found
    assert np.array_equal(few.credit, many.credit)
    assert few.columns == many.columns


# --- beyond the lists ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listed", [1, 10])
def test_samples_count_what_is_not_listed(listed):
    """Without bias, whatever a distance counts for; nobody who is listed is counted again."""
    totals = np.zeros((3, 2))
    for _ in range(5):
        space = plane(rng.normal(size=(200, 3)), rng.normal(size=(3000, 3)))
        near = nearest_k(space, listed)[0]
        query, point, weight = beyond(space, near, 0)
        assert not (near[query] == point[:, None]).any()
        squares = ((space.queries[:, None] - space.points) ** 2).sum(2)
        np.put_along_axis(squares, near, np.inf, axis=1)
        for place, (width, noise) in enumerate(((0.2, 0.6), (0.5, 0.4), (2.0, 0.25))):
            worth = np.exp(-squares / (2 * width**2))
            found = np.bincount(query, np.exp(weight) * worth[query, point], minlength=200)
            assert np.median(np.abs(found / worth.sum(1) - 1)) < noise
            totals[place] += found.sum(), worth.sum()
    assert totals[:, 0] == pytest.approx(totals[:, 1], rel=0.08)


@pytest.mark.parametrize(("points", "listed"), [(1, 1), (20, 20), (20, 3), (900, 24)])
def test_equal_points_beyond_a_list_are_counted(points, listed):
    space = plane(np.zeros((2, 2)), np.ones((points, 2)))
    query, _, weight = beyond(space, nearest_k(space, listed)[0], 0)
    found = np.bincount(query, np.exp(weight), minlength=2)
    assert found == pytest.approx(np.full(2, points - listed), rel=0.1)


def test_records_beyond_a_list_take_their_share():
    """Two records listed, equally likely; eight more that one sampled record of a class of two stands for."""
    few = np.zeros(1, dtype=np.int32)
    alone = Short(np.array([[0, 1]]), np.zeros((1, 2)), np.array([1, 1, 2]))
    more = Short(alone.classes, alone.scores, alone.sizes, Sampled(few, few + 2, np.log([4.0])))
    assert short_posterior(alone, everybody=False).tolist() == [[0.5, 0.5]]
    assert short_posterior(more, everybody=False)[0] == pytest.approx([0.1, 0.1])
    struck = more.only(np.array([0]), np.array([1, 0, 1]))
    assert short_posterior(struck, everybody=False)[0] == pytest.approx([0.2, 0.0])


def test_lists_are_settled_as_all_pairs_are():
    """Two people, two records: of both matchings' likelihoods, 2 and 1 (fractional belief propagation is exact)."""
    short = Short(np.array([[0, 1], [0, 1]]), np.log([[2.0, 1.0], [1.0, 1.0]]), np.array([1, 1]), NOTHING)
    assert short_posterior(short, everybody=True) == pytest.approx(np.array([[2, 1], [1, 2]]) / 3, abs=0.01)


@pytest.mark.slow
def test_what_is_known_does_not_hang_on_the_length_of_lists(monkeypatch):
    """Lists of 6 and of 24 records, and all of them: the same share is found and known."""
    draw = np.random.default_rng(8)  # its own: the file's is at another place in each order of tests
    x = draw.normal(size=(900, 5))
    original, released = (pl.DataFrame(t, schema=list("abcde")) for t in (x, x + draw.normal(0, 0.4, x.shape)))
    release = Release(original, released)
    found = [link_channel(release, curve=False)]
    monkeypatch.setattr(linking, "MOST_PAIRS", 1)
    for length in (24, 6):
        monkeypatch.setattr(lists, "CANDIDATES", length)
        found.append(link_channel(release, curve=False))
    whole, *short = found
    assert 0.1 < whole.known.value < 0.6
    for lists_ in short:
        assert lists_.estimate.value == pytest.approx(whole.estimate.value, abs=0.02)
        assert lists_.known.value == pytest.approx(whole.known.value, abs=0.04)
        assert lists_.best.mean() == pytest.approx(whole.best.mean(), abs=0.04)


# --- bad input -------------------------------------------------------------------------------------------------------

MANY = 10_000
TABLE = pl.DataFrame({"id": range(60), "a": rng.normal(size=60), "b": rng.normal(size=60)})
CASES = {  # original, release, share found
    "constant columns": (TABLE.with_columns(a=pl.lit(1.5), b=pl.lit("x")), None, 1 / 60),
    "one released column": (TABLE, TABLE.select("id", "a"), 1.0),
    "one released column that is constant": (TABLE, TABLE.select("id", z=pl.lit(1)), 1 / 60),
    "10,000 equal texts": (pl.DataFrame({"id": range(MANY), "t": ["x y"] * MANY}), None, 1 / MANY),
    "10,000 different texts": (
        pl.DataFrame({"id": range(MANY), "t": [f"{a:x}" for a in rng.integers(0, 2**60, MANY)]}), None, 1.0
    ),
    "10,000 different texts that nothing explains": (
        pl.DataFrame({"id": range(MANY), "t": [f"{a:x}" for a in rng.integers(0, 2**60, MANY)]}),
        pl.DataFrame({"id": range(MANY), "u": [f"{a:x}" for a in rng.integers(0, 2**60, MANY)]}), 1 / MANY
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_little_to_say_is_answered(name):
    original, released, share = CASES[name]
    release = Release(original, original if released is None else released, id="id")
    found = link_channel(release, curve=False)
    assert found.found.value == pytest.approx(share)
    assert found.known.value == pytest.approx(share if share == 1.0 else 0.0, abs=0.001)


FEW = "id,a,b\n1,1.5,x\n2,2.5,y\n3,3.5,z\n"
CONSTANT = "id,a\n" + "".join(f"{k},4\n" for k in range(8))
BAD = {  # original, release, exit code, what is said
    "fewer people than must teach": (FEW, FEW, 1, "3 people are in both files: too few to learn from some"),
    "nobody is paired": (FEW, "id,a,b\n7,1.5,x\n8,2.5,y\n9,3.5,z\n", 2, "no id of 'id' is in both tables"),
    "constant": (CONSTANT, CONSTANT, 3, "No attack could compare 1 of the released columns: 'a'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_on_the_command_line(name, tmp_path, capsys):
    original, released, code, said = BAD[name]
    (tmp_path / "a.csv").write_text(original)
    (tmp_path / "b.csv").write_text(released)
    words = ["assess", tmp_path / "a.csv", tmp_path / "b.csv", "--id", "id", "--only", "channel,likelihood"]
    assert run(*words) == code
    told = capsys.readouterr()
    assert said in " ".join((told.out + told.err).replace("│", " ").split())
    assert "Traceback" not in told.err


def test_fewer_people_than_folds_is_one_clear_error():
    with pytest.raises(EngineError, match=r"60 people are in both files: too few[^\n]*\n  allowed: from 61"):
        link_channel(Release(TABLE, TABLE, id="id"), folds=61)
    assert link_likelihood(Release(TABLE[:3], TABLE[:3], id="id")).estimate.value == 1.0
