"""The intruder writes what they know in the release's own coarser schema.

A release may publish age bands, shortened postcodes ("750**") or merged categories. The coding scheme is public (it
is printed in the release or its documentation), so an intruder who knows a person's exact value knows the coarse one
too. Five forms are recognised; anything else is compared as it stands:

1. intervals in place of numbers: a number becomes the interval it falls into;
2. shortened or masked text: a text becomes the released prefix it begins with ("750", "750**"), or the released text
   that shows the same letters in the same places ("7*0*1", "xxx11", "75000");
3. merged categories: every original category appears under one released category. The rule is learnt from the pairs
   only where it is *tested* by repetition (``TESTED`` of the rows share their original value with another row); on
   unique values any pairing looks like a rule, and using it would hand the intruder the answer. Whole numbers are such
   categories where they stand under numbers that are nowhere near them: area codes under regions. A few categories
   under as many other labels (``homme`` as ``H``, 1 as ``male``) are learnt in the same way;
4. ranges of codes: ``E11.9`` is in ``E10-E14``;
5. words for bands of numbers or days (``lowest``, ``Q2``): along the numbers each word stands in one stretch.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import polars as pl

from unmask.arrays import Floats, Ints
from unmask.tables.intervals import has_intervals

TESTED = 0.8
RANGE = re.compile(r"^([^\W\d_]+)(\d+)\s?[-–]\s?\1(\d+)$")  # noqa: RUF001 - people type en dashes
MOSTLY = 0.5  # of the different released texts that must be ranges
MOST_LABELS = 20  # that the other file may write in its own way, and anybody reads
HOLDS = 0.95  # share of tested rows that must follow the rule, beyond those that the largest category has anyway
FEWEST_IN_BAND = 5  # people for each word for a band, on average
MASKS = {"*?xX•#…": 1, "-": 2, ".": 2}  # signs that stand for the rest of a text, and how many there must be
HIDDEN = "*?xX•#_0"  # signs that may stand for others in a text of the same length


class Inside(NamedTuple):
    """Original numbers in the release's schema, and in how many different intervals each lies."""

    recoded: Floats
    hits: Ints


def into_intervals(original: Floats, low: Floats, high: Floats) -> tuple[Inside, Floats]:
    """Both columns as numbers in the release's schema: the mean of the original values inside each interval.

    A value in exactly one released interval becomes that interval's number; a value in none or in several that differ
    keeps itself. An interval that holds no original value is represented by its middle (or its finite end).
    """
    present = ~np.isnan(low)
    spans, which = np.unique(np.column_stack([low, high])[present], axis=0, return_inverse=True)
    centres = np.array([_centre(original, a, b) for a, b in spans])
    recoded = original.copy()
    hits = np.zeros(len(original), dtype=np.int64)
    for (a, b), centre in zip(spans, centres, strict=True):
        inside = (original >= a) & (original <= b)
        hits += inside
        recoded[inside] = centre
    recoded[hits > 1] = original[hits > 1]
    published = np.full(len(low), np.nan)
    published[present] = centres[which.ravel()]
    return Inside(recoded, hits), published


def _centre(values: Floats, low: float, high: float) -> float:
    inside = np.sort(values[(values >= low) & (values <= high)])  # sorted: the sum must not depend on row order
    if inside.size:
        return float(inside.mean())
    ends = [end for end in (low, high) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0


def into_prefixes(original: pl.Series, paired_original: pl.Series, paired_released: pl.Series) -> pl.Series | None:
    """Original texts as the released prefixes they begin with, if the release holds shortened texts.

    Shortened means that mask characters follow a prefix ("750**", "750*"), or that every released text is a beginning
    of its own original and some are shorter ("750"). The longest prefix wins; a text with none stays as it is.
    """
    ends = [sign for signs in MASKS for sign in signs]
    texts = paired_released.drop_nulls().unique().sort()  # the result must not depend on row order
    masked = texts.filter(texts.str.slice(-1).is_in(ends))
    labels: dict[str, str] = {text: prefix for text in masked if (prefix := _prefix(text))}
    kept = set(original.drop_nulls().unique())
    prefixes = {prefix: text for text, prefix in sorted(labels.items()) if text not in kept}
    if not prefixes and _is_truncated(paired_original, paired_released):
        prefixes = {text: text for text in paired_released.drop_nulls().unique()}
    if not prefixes or not _begin(original, prefixes):
        return _same_places(original, paired_original, paired_released)
    lengths = sorted({len(prefix) for prefix in prefixes}, reverse=True)
    exact = {(labels[text], len(text)): text for text in labels}  # a mask of the original's own length comes first
    width = _zeros_lost(kept, labels)

    def shorten(known: str) -> str:
        text = known.zfill(width)
        own = [exact[text[:cut], len(text)] for cut in lengths if (text[:cut], len(text)) in exact]
        shorter = [prefixes[text[:cut]] for cut in lengths if cut <= len(text) and text[:cut] in prefixes]
        return next(iter((*own, *shorter)), known)

    return original.replace({text: shorten(text) for text in kept})


def _prefix(text: str) -> str:
    """What mask signs follow ("750" of "750**"), one sign at least; nothing where there are none, or a line ends."""
    for signs, least in MASKS.items():
        shown = text.rstrip(signs) or text[:1]
        if len(text) - len(shown) >= least:
            spaced = least == 1 and len(shown) > 1 and shown[-1].isspace()
            prefix = shown[:-1] if spaced else shown
            return "" if "\n" in prefix else prefix
    return ""


def _zeros_lost(kept: set[str], labels: dict[str, str]) -> int:
    """Length of the codes where the original, as numbers, lost zeros at the front that the release shows; else 0."""
    widths, digits = {len(text) for text in labels}, all(text.isdecimal() for text in kept)
    shown = any(text.startswith("0") for text in labels) and not any(text.startswith("0") for text in kept)
    return max(widths) if digits and shown and widths == {max(map(len, kept))} else 0


def _begin(original: pl.Series, prefixes: dict[str, str]) -> bool:
    """Whether some original text begins with a released prefix."""
    lengths = {len(prefix) for prefix in prefixes}
    return any(text[:cut] in prefixes for text in original.drop_nulls().unique() for cut in lengths)


def _same_places(original: pl.Series, fine: pl.Series, coarse: pl.Series) -> pl.Series | None:
    """Original texts with the letters hidden that the release hides, where every pair is of one length and fits."""
    pairs = pl.DataFrame({"fine": fine, "coarse": coarse}).drop_nulls().unique()
    same = pl.col("fine") == pl.col("coarse")
    width = pl.col("fine").str.len_chars() == pl.col("coarse").str.len_chars()
    fit = same | pl.col("coarse").str.contains_any(list(HIDDEN))  # nothing is hidden in a text without a sign for it
    if not pairs.select(width.all() & ~same.all() & (fit.mean() >= HOLDS)).item():
        return None
    book = _uncovered(original.drop_nulls().unique(), pairs["coarse"].unique())
    fits = pairs.select((pl.col("fine").replace(book) == pl.col("coarse")).mean()).item()
    return original.replace(book) if fits >= HOLDS else None


def _uncovered(known: pl.Series, released: pl.Series) -> dict[str, str]:
    """What the release shows of texts that it does not hold: the text with the fewest letters hidden that fits."""
    by_mask: dict[tuple[int, tuple[int, ...]], dict[str | tuple[str, ...], str]] = {}
    for text in released.filter(released.str.contains_any(list(HIDDEN))).sort():
        if places := _hidden(text):
            by_mask.setdefault((len(text), places), {})[_reader(len(text), places)(text)] = text
    masks = [
        (size, _reader(size, places), texts)
        for (size, places), texts in sorted(by_mask.items(), key=lambda item: (len(item[0][1]), item[0]))
    ]
    kept, book = set(released), {}
    for text in known:
        if text not in kept:
            fits = (texts.get(read(text)) for size, read, texts in masks if size == len(text))
            book[text] = next((found for found in fits if found is not None), text)
    return book


def _hidden(text: str) -> tuple[int, ...]:
    """Places whose letter may be hidden; none where nothing would be shown: a 0 alone is a number, not a mask."""
    places = tuple(k for k, sign in enumerate(text) if sign in HIDDEN)
    return places if len(places) < len(text) else ()


def _reader(size: int, hidden: tuple[int, ...]) -> Callable[[str], str | tuple[str, ...]]:
    """What reads the letters of a text of that size, but for those in the hidden places."""
    return itemgetter(*sorted(set(range(size)) - set(hidden)))


def _is_truncated(fine: pl.Series, coarse: pl.Series) -> bool:
    pairs = pl.DataFrame({"fine": fine, "coarse": coarse}).drop_nulls().unique()
    if not pairs.height:
        return False
    begins = pairs.select(pl.col("fine").str.starts_with(pl.col("coarse")).all()).item()
    shorter = pairs.select((pl.col("coarse").str.len_chars() < pl.col("fine").str.len_chars()).any()).item()
    return bool(begins and shorter)


def into_merged(original: pl.Series, paired_original: pl.Series, paired_released: pl.Series) -> pl.Series | None:
    """Original categories as the released ones, if each always appears under one and the rule is tested."""
    pairs = pl.DataFrame({"a": paired_original, "b": paired_released}).drop_nulls()
    if not pairs.height or not (_is_fewer(pairs) or _is_relabelled(pairs)):
        return None
    if set(pairs["b"].unique()) <= set(pairs["a"].unique()) and bool((pairs["a"] == pairs["b"]).mean() > 0.5):  # type: ignore[operator]
        return None  # the same categories, most of them unchanged: a perturbation or suppression, not a coarser scheme
    rule = _rule(pairs)
    return None if rule is None else original.replace(rule["a"], rule["b"])


def _is_fewer(pairs: pl.DataFrame) -> bool:
    return pairs["b"].n_unique() < pairs["a"].n_unique()


def _is_relabelled(pairs: pl.DataFrame) -> bool:
    """Whether as many categories, few of them, stand under labels that the original does not have: H for homme."""
    few = pairs["a"].n_unique() == pairs["b"].n_unique() <= MOST_LABELS
    return few and not set(pairs["a"].unique()) & set(pairs["b"].unique())


def _rule(pairs: pl.DataFrame) -> pl.DataFrame | None:
    """The category of "b" for each of "a", where repetition tests it and it holds for nearly all; else None.

    Among rows that share their "a" with another, the share that has the most frequent "b" of the *other* ones must be
    near 1, beyond what always naming the largest category would reach.
    """
    counts = pairs.group_by("a", "b").len("n").sort("a", "n", "b", descending=[False, True, False])
    rule = counts.group_by("a", maintain_order=True).agg(
        pl.col("b").first(), pl.col("n").first(), pl.col("n").sum().alias("rows")
    )
    tested = rule.filter(pl.col("rows") > 1)
    rows = int(tested["rows"].sum())
    if rows < TESTED * pairs.height:
        return None
    follows = int(tested.filter(pl.col("n") > 1)["n"].sum())
    largest = int(pairs["b"].value_counts()["count"].max() or 0) / pairs.height  # type: ignore[arg-type]
    enough = largest + (1.0 - largest) * HOLDS if follows < rows else 0.0
    return rule.select("a", "b") if follows >= enough * rows else None


def are_merged_codes(fine: pl.Series, coarse: pl.Series) -> bool:
    """Whether whole numbers (paired row by row) are codes that were merged: each under one number, and not near it.

    Rounded numbers stand under one number too, but among those that they were made from, or one step beside them.
    """
    fine, coarse = _whole(fine), _whole(coarse)
    if not (fine.dtype.is_integer() and coarse.dtype.is_integer()):
        return False
    pairs = pl.DataFrame({"a": fine, "b": coarse}).drop_nulls()
    if not pairs.height or pairs["b"].n_unique() >= pairs["a"].n_unique() or bool((pairs["a"] == pairs["b"]).any()):
        return False
    if _are_first_digits(pairs):
        return True
    if _rule(pairs) is None:
        return False
    groups = pairs.group_by("b").agg(
        pl.col("a").min().alias("low"), pl.col("a").max().alias("high"), pl.len().alias("n")
    )
    width = groups["high"] - groups["low"] + 1
    near = (groups["b"] >= groups["low"] - width) & (groups["b"] <= groups["high"] + width)
    return int(groups.filter(near)["n"].sum()) < pairs.height / 2


def _whole(column: pl.Series) -> pl.Series:
    """Digits as text as whole numbers, unless zeros at the front would be lost."""
    digits = column.dtype == pl.String and bool(column.drop_nulls().str.contains(r"^(0|[1-9]\d{0,17})$").all())
    return column.cast(pl.Int64) if digits else column


def _are_first_digits(pairs: pl.DataFrame) -> bool:
    """Whether codes of one length were cut to their first digits, all of them."""
    texts = pairs.select(pl.all().cast(pl.String))
    lengths = texts.select(pl.all().str.len_chars().n_unique()).row(0)
    begins = bool(texts.select(pl.col("a").str.starts_with(pl.col("b")).all()).item())
    return begins and lengths == (1, 1) and pairs["b"].n_unique() > 2


def into_ranges(original: pl.Series, released: pl.Series) -> pl.Series | None:
    """Original codes as the released ranges of codes that they are in: E11.9 in E10-E14; None where there are none."""
    ranges = [(text, found) for text in released.drop_nulls().unique().sort() if (found := RANGE.match(text))]
    if not ranges or len(ranges) < MOSTLY * released.drop_nulls().n_unique():
        return None

    def place(code: str) -> str:
        text: str
        for text, found in ranges:
            digits = code[len(found[1]) :][: len(found[2])]
            if code.startswith(found[1]) and digits.isdecimal() and int(found[2]) <= int(digits) <= int(found[3]):
                return text
        return code

    return original.replace({code: place(code) for code in original.drop_nulls().unique()})


def into_bands(known: Floats, paired: Floats, labels: pl.Series) -> pl.Series | None:
    """Numbers or days as the released words for bands of them ("lowest", "Q2"), where one band ends as the next begins.

    Learnt from the pairs (``paired`` beside ``labels``): along the numbers each word stands in one stretch. By chance
    that does not happen to several people of each word.
    """
    there = ~np.isnan(paired) & labels.is_not_null().to_numpy()
    values, words = paired[there], labels.filter(pl.Series(there))
    order = np.lexsort((words.rank("dense").to_numpy(), values))
    values, words = values[order], words.gather(order)
    starts = np.flatnonzero((words != words.shift()).fill_null(value=True).to_numpy())
    if not 2 <= len(starts) <= len(words) // FEWEST_IN_BAND or len(starts) != words.n_unique():
        return None
    if bool((values[starts[1:]] == values[starts[1:] - 1]).any()):
        return None  # one number under two words
    edges = (values[starts[1:]] + values[starts[1:] - 1]) / 2
    bands = words.gather(starts).gather(np.searchsorted(edges, np.nan_to_num(known), side="right"))
    return bands.set(pl.Series(np.isnan(known)), None)


def is_coarser(fine: pl.Series, coarse: pl.Series) -> bool:
    """Whether ``coarse`` (paired row by row) is a coarser writing of ``fine``: bands, prefixes or merged categories."""
    if coarse.dtype != pl.String:
        return False
    if fine.dtype.is_numeric() and has_intervals(coarse):
        return True
    text = fine.cast(pl.String)
    return into_prefixes(text, text, coarse) is not None or into_merged(text, text, coarse) is not None
