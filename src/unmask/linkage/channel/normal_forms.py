"""Other forms of a text: its letters, digits, consonants, initials, length, the order of its words, its sound."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

WORDS = re.compile(r"[^\W_]+")
RUNS = re.compile(r"\d+|[^\W\d_]+")
VOWELS = set("aeiou")


def unaccented(text: str) -> str:
    """Letters without their accents, small."""
    if text.isascii():
        return text.casefold()
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in spread if not unicodedata.combining(letter)).replace("ø", "o").replace("ł", "l")


@lru_cache(maxsize=200_000)  # the same few texts are compared with every column
def folded(text: str) -> str:
    """What is left when case, accents, signs, blanks and leading zeros do not count; numbers stay apart."""
    found, digits = "", False
    for run in RUNS.findall(unaccented(text)):
        if run[0].isdigit():
            found += " " * digits + (run.lstrip("0") or "0")
        else:
            found += run
        digits = run[0].isdigit()
    return found


def tight(text: str) -> str:
    """Without blanks and signs."""
    return "".join(WORDS.findall(text))


def consonants(text: str) -> str:
    """The first letter, and after it all letters but the vowels, small."""
    plain = only_letters(text)
    return plain[:1] + "".join(letter for letter in plain[1:] if letter not in VOWELS)


def only_letters(text: str) -> str:
    """Letters alone, small and without accents."""
    return "".join(letter for letter in unaccented(text) if letter.isalpha())


def only_digits(text: str) -> str:
    """Digits alone."""
    return "".join(letter for letter in text if letter.isdigit())


def initials(text: str) -> str:
    """The first letters of the words."""
    return "".join(word[0] for word in WORDS.findall(text))


def initial_and_last(text: str) -> str:
    """The first letter of the first word, and the last word."""
    words = WORDS.findall(text)
    return words[0][0] + words[-1] if len(words) > 1 else ""


def sorted_words(text: str) -> str:
    """The words in alphabetical order."""
    return " ".join(sorted(WORDS.findall(text.casefold())))


def turned_words(text: str) -> str:
    """The last word first."""
    words = WORDS.findall(text)
    return " ".join([words[-1], *words[:-1]]) if len(words) > 1 else ""


def length(text: str) -> str:
    """The number of letters."""
    return str(len(text))


def word_lengths(text: str) -> str:
    """The numbers of letters of the words."""
    return " ".join(str(len(word)) for word in WORDS.findall(text))


def shape(text: str) -> str:
    """Letters and digits crossed out: what stays if each is replaced by any other."""
    return "".join("a" if letter.isalpha() else "9" if letter.isdigit() else letter for letter in text)


# --- sounds ---------------------------------------------------------------------------------------------------------

CLASSES = {letter: str(k) for k, group in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), 1) for letter in group}


def soundex(text: str) -> str:
    """Soundex as archives use it: equal neighbours count once, also across h and w."""
    plain = only_letters(text)
    return _four(
        plain, _once([CLASSES.get(letter, "") for letter in plain if letter not in "hw" or letter == plain[0]])
    )


def simple_soundex(text: str) -> str:
    """Soundex as databases compute it: h and w part equal neighbours as vowels do."""
    plain = only_letters(text)
    return _four(plain, _once([CLASSES.get(letter, "") for letter in plain]))


def every_consonant(text: str) -> str:
    """Soundex in which every consonant counts, also equal neighbours."""
    plain = only_letters(text)
    return _four(plain, [CLASSES.get(letter, "") for letter in plain])


def _once(codes: list[str]) -> list[str]:
    """Codes that repeat the one before become nothing."""
    return [code if k == 0 or code != codes[k - 1] else "" for k, code in enumerate(codes)]


def _four(plain: str, codes: list[str]) -> str:
    return (plain[:1] + "".join(codes[1:]))[:4].ljust(4, "0") if plain else ""


def cologne(text: str) -> str:
    """Cologne phonetics, for German names."""
    plain = re.sub("[^a-z]", "", unaccented(text.replace("ß", "ss")))
    codes = []
    for k, letter in enumerate(plain):
        before, after = plain[k - 1] if k else "", plain[k + 1 : k + 2]
        codes.append(_cologne(letter, before, after))
    joined = "".join(codes)
    single = "".join(code for k, code in enumerate(joined) if k == 0 or code != joined[k - 1])
    return single[:1] + single[1:].replace("0", "")


def _cologne(letter: str, before: str, after: str) -> str:
    fixed = {
        "b": "1",
        "f": "3",
        "v": "3",
        "w": "3",
        "g": "4",
        "k": "4",
        "q": "4",
        "l": "5",
        "m": "6",
        "n": "6",
        "r": "7",
    }
    if letter in fixed:
        return fixed[letter]
    if letter == "p":
        return "3" if after == "h" else "1"
    if letter in "dt":
        return "8" if after and after in "csz" else "2"
    if letter == "c":
        hard = "ahkloqrux" if not before else "ahkoqux"
        return "4" if after and after in hard and before not in {"s", "z"} else "8"
    if letter == "x":
        return "8" if before and before in "ckq" else "48"
    return "8" if letter in "sz" else "" if letter == "h" else "0"


METAPHONE = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"([^c])\1+", r"\1"), (r"^(?:k(?=n)|g(?=n)|p(?=n)|a(?=e)|w(?=r))", ""), (r"^x", "s"), (r"^wh", "w"),
        (r"mb$", "m"), (r"sch", "sk"), (r"tch|[ts]i(?=[ao])|sh|cia|ch", "X"), (r"th", "0"), (r"ph", "f"),
        (r"c(?=[iey])", "s"), (r"ck|c|q", "k"), (r"dg(?=[eyi])", "j"), (r"d", "t"),
        (r"gh(?![aeiou]|$)|g(?=n$|ned$)", ""), (r"g(?=[iey])", "j"), (r"g", "k"),
        (r"(?<=[aeiou])h(?![aeiou])|(?<=[csptk])h", ""), (r"v", "f"),
        (r"[wy](?![aeiou])", ""), (r"x", "ks"), (r"z", "s"), (r"(?<!^)[aeiou]", ""), (r"(.)\1+", r"\1"),
    )
)  # fmt: skip


def metaphone(text: str) -> str:
    """The sound of an English word, by the commonest rules of Metaphone."""
    plain = re.sub("[^a-z]", "", unaccented(text))
    for pattern, by in METAPHONE:
        plain = pattern.sub(by, plain)
    return plain.upper()


def letter_sum(text: str) -> str:
    """The places of the letters in the alphabet, added up."""
    places = [ord(letter) - ord("a") + 1 for letter in unaccented(text) if "a" <= letter <= "z"]
    return str(sum(places)) if places else ""


ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
         (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
MOST_ROMAN = 3999


def roman(text: str) -> str:
    """A whole number in Roman numerals."""
    if not text.isdecimal() or not 0 < int(text) <= MOST_ROMAN:
        return ""
    number, letters = int(text), ""
    for worth, sign in ROMAN:
        times, number = divmod(number, worth)
        letters += times * sign
    return letters


def sorted_letters(text: str) -> str:
    """The letters of a text in alphabetical order, small and without accents."""
    return "".join(sorted(only_letters(text).casefold()))


FORMS: dict[str, Callable[[str], str]] = {
    "letters": only_letters,
    "digits": only_digits,
    "consonants": consonants,
    "initials": initials,
    "initial and last word": initial_and_last,
    "words in order": sorted_words,
    "letters in order": sorted_letters,
    "words turned round": turned_words,
    "length": length,
    "sum of the letters": letter_sum,
    "lengths of words": word_lengths,
    "Soundex": soundex,
    "simple Soundex": simple_soundex,
    "Soundex of every consonant": every_consonant,
    "Cologne phonetics": cologne,
    "Metaphone": metaphone,
}
