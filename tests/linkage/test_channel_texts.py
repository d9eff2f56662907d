"""The intruder who learns how texts, codes and dates were written otherwise."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import channel as naive
from unmask import Release
from unmask.datasets.gauntlet.people import names, register
from unmask.errors import EngineError, UnmaskError
from unmask.kernels.search import nearest_k
from unmask.linkage.channel import link_channel, linking
from unmask.linkage.channel.alike import vectors, weighed
from unmask.linkage.channel.columns import read_column, resolution
from unmask.linkage.channel.factors import Labels
from unmask.linkage.channel.labels import book_of
from unmask.linkage.channel.letters import letter_table
from unmask.linkage.channel.lists import lay_out
from unmask.linkage.channel.normal_forms import FORMS, cologne, folded, metaphone, shape, simple_soundex, soundex
from unmask.linkage.channel.pieces import pieces_of
from unmask.linkage.channel.residuals import fit_law
from unmask.linkage.channel.select import Channel
from unmask.linkage.channel.squares import geohash, maidenhead, plus_code, quadkey

N = 120


def people(n=N, seed=0):
    rng = np.random.default_rng(seed)
    place = pl.DataFrame({"east": np.round(rng.normal(11, 1, n), 5), "north": np.round(rng.normal(49, 1, n), 5)})
    return register(n, rng).select("name", "sex", "birth date", "postcode").hstack(place)


def attack(original, released, **roles):
    """Number the people of both tables, shuffle the release, and attack."""
    ids = pl.Series("id", np.arange(original.height))
    shuffled = released.select(ids, pl.all()).sample(fraction=1.0, shuffle=True, seed=3)
    return link_channel(Release(original.select(ids, pl.all()), shuffled, id="id", **roles), curve=False)


def publish(make, *columns, to=None, original=None):
    """Attack a release in which a column is a function of others; sex is left as it is."""
    original = people() if original is None else original
    made = pl.Series(to or columns[0], [make(*row) for row in original.select(columns).rows()])
    return attack(original, original.select("sex").with_columns(made))


def told(found, column):
    return next(entry.words for entry in found.columns if entry.column == column)


# --- whole attacks --------------------------------------------------------------------------------------------------


def _moved(text, by):
    return "".join(chr((ord(c) - 97 + by(k)) % 26 + 97) if c.isalpha() else c for k, c in enumerate(text.lower()))


def _letters_exchanged(text):
    order = np.random.default_rng(9).permutation(26)
    return "".join(chr(97 + int(order[ord(c) - 97])) if c.isalpha() else c for c in text.lower())


def _mistyped(text):
    rng = np.random.default_rng(int.from_bytes(text.encode()[:6], "big"))
    letters = list(text)
    for place in rng.integers(0, len(letters), 2):
        letters[place] = chr(97 + int(rng.integers(0, 26)))
    return "".join(letters)


def _slips(text):
    """One letter left out, one put in, two exchanged."""
    rng = np.random.default_rng(int.from_bytes(text.encode()[:6], "big"))
    letters = list(text)
    letters.pop(int(rng.integers(0, len(letters))))
    letters.insert(int(rng.integers(0, len(letters))), chr(97 + int(rng.integers(0, 26))))
    k = int(rng.integers(0, len(letters) - 1))
    letters[k], letters[k + 1] = letters[k + 1], letters[k]
    return "".join(letters)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda v: _moved(v, lambda _: 3), "moved along the alphabet by 3"),
        (lambda v: _moved(v, lambda k: 5 * k + 1), "`name`"),
        (_letters_exchanged, "exchanged for others"),
        (lambda v: v[::-1].upper(), "`name`"),
        (lambda v: f"{v[:4]}***", "first 4"),
        (_mistyped, "as they are"),
        (_slips, "`name`"),
        (lambda v: " ".join(reversed(v.split())), "words turned round"),
        (soundex, "Soundex"),
        (cologne, "Cologne"),
    ],
)
def test_names_written_otherwise(make, words):
    original = people()
    written = [make(name) for name in original["name"]]
    crowd = pl.DataFrame({"a": written, "b": original["sex"]}).select(1 / pl.len().over("a", "b")).to_series().mean()
    found = publish(make, "name", to="who", original=original)
    assert found.found.value >= 0.95 * crowd
    assert words in told(found, "who")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "columns"),
    [
        (lambda v: v[:2] + "xxx", ["postcode"]),
        (lambda v: "".join(str((int(c) + 7) % 10) for c in v), ["postcode"]),
        (lambda name, born: name.split()[1][1:3].upper() + name[:2].upper() + f"{born:%d%m%Y}", ["name", "birth date"]),
        (lambda born: f"{born:%Y-%m}-XX", ["birth date"]),
        (lambda born: f"{born:%d.%m.%y}" if born.day % 2 else f"{born:%Y-%m-%d}", ["birth date"]),
        (lambda x, y: geohash(x, y)[:5], ["east", "north"]),
        (lambda x: f"{int(x)}°{int(x * 60) % 60:02d}'E", ["east"]),
        (lambda x, y: f"E{int(x * 20)}N{int(y * 20)}", ["east", "north"]),
    ],
)
def test_codes_dates_and_places_written_otherwise(make, columns):
    original = people()
    written = [make(*row) for row in original.select(columns).rows()]
    crowd = pl.DataFrame({"a": written, "b": original["sex"]}).select(1 / pl.len().over("a", "b")).to_series().mean()
    found = publish(make, *columns, to="code", original=original)
    assert found.found.value >= 0.9 * crowd


@pytest.mark.parametrize(
    "joint", ["|", pytest.param("", marks=pytest.mark.slow), pytest.param("; ", marks=pytest.mark.slow)]
)
def test_hash_of_several_columns_in_any_order(joint):
    def key(postcode, sex, born):
        return hashlib.sha256(joint.join((postcode, sex, str(born))).encode()).hexdigest()

    if joint == "; ":  # nobody writes so: nothing is learnt, and nothing is made up
        assert "tells nothing" in told(publish(key, "postcode", "sex", "birth date", to="key"), "key")
        return
    found = publish(key, "postcode", "sex", "birth date", to="key")
    assert found.found.value == 1.0
    assert "SHA-256 of" in told(found, "key")


def test_hash_of_a_tidied_text_and_of_dates_written_otherwise():
    def key(name, born):
        text = f"{name.upper().replace(' ', '')}{born:%Y-%m-%d}"
        return base64.b64encode(hashlib.md5(text.encode()).digest()).decode()  # noqa: S324 - what releases do

    def other(sex, born):
        return hashlib.sha1(f"{sex}_{born:%d.%m.%Y}".encode()).hexdigest().upper()  # noqa: S324

    assert publish(key, "name", "birth date", to="key").found.value == 1.0
    assert publish(other, "sex", "birth date", to="key").found.value > 0.95


def test_times_of_day_stay_when_days_move():
    rng = np.random.default_rng(5)
    start = dt.datetime(2020, 1, 1)  # noqa: DTZ001 - tables hold local times
    seconds = rng.integers(0, 365 * 86400, N)
    moved = seconds + 86400 * rng.integers(-60, 61, N)
    one, other = (pl.DataFrame({"at": [start + dt.timedelta(seconds=int(s)) for s in t]}) for t in (seconds, moved))
    assert attack(one, other).found.value > 0.95
    clock = one.select(pl.col("at").dt.strftime("%H:%M:%S").alias("clock"), pl.lit("x").alias("at"))
    assert attack(one, clock).found.value > 0.95


def test_lists_of_candidates_find_texts_too(monkeypatch):
    original = people()
    monkeypatch.setattr(linking, "MOST_PAIRS", 1)
    for make in (_mistyped, _slips):
        assert publish(make, "name", to="who", original=original).estimate.value > 0.9


# --- nothing is made up ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 20))])
def test_independent_texts_are_chance(seed):
    rng = np.random.default_rng([seed, 1])
    n = 80
    original, other = (
        register(n, rng).select("name", "birth date", "postcode").with_columns(pl.Series("slot", times(n, rng)))
        for _ in range(2)
    )
    found = attack(original, other)
    assert found.found.hits <= 7  # of one in 80 each: once in ten thousand by chance
    assert found.known.hits <= 1


def times(n, rng):
    return [f"{h:02d}:{m:02d}" for h, m in zip(rng.integers(0, 24, n), rng.integers(0, 60, n), strict=True)]


# --- bad input ------------------------------------------------------------------------------------------------------


def test_fewer_people_than_folds_is_one_clear_error():
    original = people(5)
    release = Release(original.with_row_index("id"), original.with_row_index("id"), id="id")
    with pytest.raises(EngineError, match="too few"):
        link_channel(release, folds=6, curve=False)


def test_all_columns_constant_and_texts():
    table = pl.DataFrame({"a": ["x y"] * 30, "b": ["2020-01-01"] * 30, "c": ["J***"] * 30})
    assert attack(table, table).found.value == pytest.approx(1 / 30)


def test_one_released_column_of_another_name():
    original = people()
    released = original.select(pl.col("name").str.to_uppercase().alias("name"))
    assert attack(original, released).found.value == 1.0


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_blank_texts(blank):
    original = people()
    gone = np.random.default_rng(0).random(N) < 0.3
    written = [blank if g else _mistyped(v) for v, g in zip(original["name"], gone, strict=True)]
    found = attack(original, pl.DataFrame({"name": written, "sex": original["sex"]}))
    assert 0.65 < found.found.value < 0.8


def test_nobody_paired_is_one_clear_error():
    original = people(20)
    ours, theirs = (original.with_columns(pl.Series("id", np.arange(20) + start)) for start in (0, 50))
    with pytest.raises(UnmaskError):
        link_channel(Release(ours, theirs, id="id"), curve=False)


def test_thousands_of_labels_are_searched_in_an_order():
    """Without one, all wrong records are equally near, and ten thousand people take minutes."""
    label = np.arange(50)
    factor = Labels(label, label, np.ones(50), np.full(50, 0.01), label, np.full(50, 50.0))
    space = lay_out(Channel((factor,), (), 1.0), label, label)
    assert space.queries.shape == (50, 1)
    assert nearest_k(space, 3)[0][:, 0].tolist() == label.tolist()


@pytest.mark.slow
def test_ten_thousand_different_texts_changed():
    rng = np.random.default_rng(8)
    original = pl.DataFrame({"text": names(10_000, rng)})
    found = attack(original, pl.DataFrame({"text": [_mistyped(v) for v in original["text"]]}))
    assert found.found.value > 0.9


# --- forms ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "text", "wanted"),
    [
        (soundex, "Robert", "r163"), (soundex, "Rupert", "r163"), (soundex, "Ashcraft", "a261"),
        (soundex, "Tymczak", "t522"), (soundex, "Pfister", "p236"), (simple_soundex, "Ashcraft", "a226"),
        (cologne, "Müller-Lüdenscheidt", "65752682"), (cologne, "Wikipedia", "3412"), (cologne, "Breschnew", "17863"),
        (metaphone, "Smith", "SM0"), (metaphone, "Knight", "NT"), (FORMS["initials"], "Anna-Maria Berg", "AMB"),
        (FORMS["words in order"], "Berg Anna", "anna berg"), (FORMS["lengths of words"], "Anna Berger", "4 6"),
        (FORMS["consonants"], "Éléonore", "elnr"), (folded, "  Île d'Or, 007 ", "iledor7"),
        (folded, "03/09/1961", "3 9 1961"),
    ],
)  # fmt: skip
def test_forms(form, text, wanted):
    assert form(text) == wanted


@given(st.text(max_size=20))
def test_any_text_has_every_form(text):
    assert all(isinstance(form(text), str) for form in FORMS.values())
    assert folded(folded(text)) == folded(text)


def test_labels_that_folding_would_merge_stay_apart():
    assert book_of(("a-1", "a1")).place == {"a-1": 0, "a1": 1}
    assert book_of(("A-1", "b 2")).place == {"a1": 0, "b2": 1}


def test_squares_of_the_map():
    assert geohash(-5.60302734375, 42.60498046875)[:5] == "ezs42"
    assert maidenhead(11.608, 48.146)[:6] == "JN58td"
    assert quadkey(-87.65005229999997, 41.850033)[:7] == "0302222"
    assert plus_code(8.524997, 47.365590) == "8FVC9G8F6X"


@given(st.integers(-17999, 17999), st.integers(-8499, 8499))
def test_squares_are_those_of_their_bits(east, north):
    east, north = east / 100, north / 100
    assert geohash(east, north)[:6] == naive.geohash(east, north, 6)
    assert len({len(code(east, north)) for code in (maidenhead, plus_code)}) == 1


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["48°08'N", "47°30'S"], [48 + 8 / 60, -47.5]),
        (["48°08'30\"N", "7°00'59\"W"], [48 + 8 / 60 + 30 / 3600, -7 - 59 / 3600]),
        (["14:35", "07:59"], [14 + 35 / 60, 7 + 59 / 60]),
        (["5'11\"", "6'02\""], [5 + 11 / 12, 6 + 2 / 12]),
        (["3 y 4 m", "12 y 11 m"], [3 + 4 / 12, 12 + 11 / 12]),
    ],
)
def test_numbers_of_several_units(texts, values):
    column = read_column(pl.Series("x", texts))
    assert column.kind == "number"
    assert column.number == pytest.approx(values)


def test_two_numbers_between_words_are_no_units():
    assert read_column(pl.Series("x", ["20 to 29", "30 to 39"])).kind == "interval"
    assert read_column(pl.Series("x", ["12N34", "13N20"])).kind != "number"


def test_years_of_two_digits_are_no_later_than_those_of_four():
    column = read_column(pl.Series("x", ["1961-03-09", "09.03.61", "2004-02-29", "29.02.04"]))
    assert column.kind == "date"
    assert column.number[0] == column.number[1] and column.number[2] == column.number[3]


def test_resolution_in_parts_of_one():
    assert resolution(np.array([1 / 60, 2.0, 48 + 8 / 60])) == pytest.approx(1 / 60)
    assert resolution(18000 + np.array([0, 5, 86399]) / 86400) == pytest.approx(1 / 86400)


def test_errors_of_whole_days_leave_the_seconds():
    law = fit_law(np.random.default_rng(0).integers(-60, 61, 200).astype(float), reach=800.0, step=1 / 86400)
    whole, part = law.log(np.array([7.0, 7.3]))
    assert whole - part > 8


def test_pieces_are_columns():
    column = read_column(pl.Series("x", ["f34-J17", "m7-J2", None]))
    assert [piece.kind for piece in pieces_of(column)] == ["text", "number", "number"]
    assert [piece.number[1] for piece in pieces_of(column)[1:]] == [7.0, 2.0]
    assert pieces_of(read_column(pl.Series("x", ["a", "b c", "d e f"]))) == ()


# --- likelihoods against their definitions --------------------------------------------------------------------------

words = st.text("abc X9-", min_size=0, max_size=6)


@given(st.lists(words, min_size=1, max_size=6), st.booleans())
def test_letter_tables(texts, backwards):
    table = letter_table(texts, 8, backwards=backwards)
    read = ["".join(chr(point) for point in row if point) for row in table[:-1].tolist()]
    assert read == [text[::-1] if backwards else text for text in texts]
    assert not table[-1].any()


@given(st.lists(words, min_size=2, max_size=6), st.lists(words, min_size=2, max_size=6))
@settings(deadline=None)
def test_likeness_is_the_cosine_of_pairs_of_letters(ours, theirs):
    one, other = weighed(vectors(ours), vectors(theirs))
    wanted = np.array(naive.likeness(ours, theirs))
    assert one[:-1] @ other[:-1].T == pytest.approx(wanted, abs=1e-4)
    assert not math.isnan(float(one.sum()))


def test_random_letters_in_the_same_places():
    """Letters and digits drawn anew where one stood: the lengths of words, blanks and signs stay."""
    original = people(200)
    rng = np.random.default_rng(7)

    def drawn(text):
        letters = (chr(97 + int(rng.integers(26))) if letter.isalpha() else letter for letter in text)
        return "".join(str(int(rng.integers(10))) if letter.isdigit() else letter for letter in letters)

    found = publish(drawn, "name", original=original)
    lengths = pl.DataFrame({"a": [shape(name) for name in original["name"]], "b": original["sex"]})
    crowd = lengths.select(1 / pl.len().over("a", "b")).to_series().mean()
    assert found.found.value >= 0.95 * crowd
    assert told(found, "name") == "has the lengths of words and signs of `name`"


def test_bands_are_read_as_bands_and_not_in_pieces():
    """Their two ends tell no more than the band, and what is told twice hides what the gaps tell."""
    assert pieces_of(read_column(pl.Series("band", ["10-19", "20-29", "30-39", None]))) == ()
    assert len(pieces_of(read_column(pl.Series("place", ["E151N960", "E152N961", "E140N955", "E151N970"])))) == 2
    rng = np.random.default_rng(6)
    bands = rng.integers(0, 6, (160, 10)).astype(float)
    bands[rng.random(bands.shape) < 0.35] = np.nan
    shuffled = bands.copy()
    for column in shuffled.T:
        there = np.isfinite(column)
        column[there] = rng.permutation(column[there])

    def table(codes):
        words = [[None if np.isnan(v) else f"{10 * int(v)}-{10 * int(v) + 9}" for v in column] for column in codes.T]
        return pl.DataFrame({f"b{k}": column for k, column in enumerate(words)})

    pattern = pl.DataFrame(np.isnan(bands))
    crowd = pattern.select(1 / pl.len().over(pattern.columns)).to_series().mean()
    assert attack(table(bands), table(shuffled)).found.value >= 0.95 * crowd


# --- letters in another order, words replaced, stretches of a long text -----------------------------------------------


def texts_found(known, made, seed=5):
    order = np.random.default_rng(seed).permutation(len(known))
    original = pl.DataFrame({"id": np.arange(len(known)), "text": known})
    released = pl.DataFrame({"id": np.arange(len(known)), "text": made})[order]
    return link_channel(Release(original, released, id="id"), curve=False)


def test_letters_in_any_order():
    rng = np.random.default_rng(1)
    syllables = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "ch", "er", "st"]
    known = ["".join(rng.choice(syllables, 4)) for _ in range(150)]
    held = pl.Series(["".join(sorted(text)) for text in known])
    crowd = float((1 / held.to_frame("t").select(pl.len().over("t")).to_series()).mean())
    for made in (held.to_list(), ["".join(rng.permutation(list(text))) for text in known]):
        assert texts_found(known, made).found.value >= 0.95 * crowd > 0.6


def test_half_of_the_words_replaced_and_stretches_of_a_text():
    rng = np.random.default_rng(2)
    share = 1 / np.arange(1, 301)
    bags = [rng.choice(300, 14, p=share / share.sum()) for _ in range(200)]
    others = [np.append(rng.permutation(bag)[:7], rng.choice(300, 7, p=share / share.sum())) for bag in bags]
    write = [f"{a}{b}" for a in ("mel", "tar", "ros", "kin", "ful", "sod") for b in range(50)]
    assert (
        texts_found(*([" ".join(write[k] for k in bag) for bag in side] for side in (bags, others))).found.value > 0.8
    )
    genes = ["".join(row) for row in rng.choice(list("ACGT"), (150, 80))]
    reads = [gene[start : start + 25] for gene, start in zip(genes, rng.integers(0, 55, 150), strict=True)]
    found = texts_found(genes, reads)
    assert found.found.value > 0.9
    assert found.columns[0].words == "is nearly `text`, some stretches of it changed"
