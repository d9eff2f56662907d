"""Page 1: every sentence says what the document says, in at most 180 words."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

import unmask
from unmask.evidence.catalogue import ENTRIES
from unmask.evidence.estimate import Estimate
from unmask.masking import parse_masking
from unmask.report.commands import command, making, typed
from unmask.report.document import AdviceEntry, FindingEntry, IntruderEntry
from unmask.report.front import day, front
from unmask.report.front_numbers import _guessed
from unmask.report.words import joined

MOST_WORDS = 180


def words(page):
    told = [page.title, page.files, page.headline, page.sentence, page.command]
    told += [text for number in page.numbers for text in (number.name, number.value, number.words)]
    told += [text for part in page.parts for text in part]
    return " ".join(told).split()


@pytest.fixture
def document(demo):
    return demo.assessment.document


def estimate(value, **more):
    return Estimate(value, max(0, value - 0.01), min(1, value + 0.01), 1000, 0.001, **more)


def finding(key, value, outcome="against", claim="Something is so.", **more):
    return FindingEntry(key.split(".")[0], key, claim, outcome, "r", estimate(value), 0.09, "why", **more)


def intruder(value, known=None):
    sure = None if known is None else estimate(known)
    return IntruderEntry("files", "holds the two files", "nearest", 3, estimate(value), sure)


def test_page_one_is_read_in_a_minute(document):
    assert len(words(front(document))) <= MOST_WORDS


@pytest.mark.parametrize("verdict", ["safe", "inconclusive"])
def test_page_one_is_short_whatever_the_verdict(document, verdict):
    assert len(words(front(replace(document, verdict=verdict, reason="word " * 20)))) <= MOST_WORDS


def test_the_verdict_tells_who_finds_how_many_and_what_is_allowed(document):
    told = replace(document, verdict="unsafe", intruders=(intruder(0.899),), findings=(finding("nearest.rate", 0.899),))
    assert front(told).sentence == (
        "Someone who knows 11 columns finds the right record for 899 of 1,000 people; the policy allows 9 %."
    )


def test_an_unsafe_release_whose_people_are_not_found_tells_its_own_reason(document):
    small = finding("anonymity.small", 0.2, claim="200 of 1,000 people are in groups of fewer than 11. More.", people=0)
    told = replace(document, verdict="unsafe", intruders=(intruder(0.01),), findings=(small,))
    assert front(told).sentence == "200 of 1,000 people are in groups of fewer than 11; the policy allows nobody."


def test_a_safe_release_tells_the_most_that_may_be_found(document):
    within = (finding("nearest.rate", 0.02, "for"), finding("uniqueness.unique", 0.0, "for"))
    told = front(replace(document, verdict="safe", intruders=(intruder(0.02),), findings=within))
    assert told.sentence == (
        "The best intruder finds 20 of 1,000 people, at most 3 %. All 2 judged figures are within the policy."
    )
    assert told.command == "unmask verify REPORT.json"


def test_an_undecided_release_tells_how_high_it_may_be(document):
    told = replace(document, verdict="inconclusive", findings=(finding("nearest.rate", 0.085, "inconclusive"),))
    assert front(told).sentence == "Nearest record: found may be as high as 9.5 %; the policy allows 9 %."


def test_more_known_than_found_comes_with_its_reason(document):
    found, known, blind = front(replace(document, intruders=(intruder(0.9, 1.0),))).numbers
    assert (found.value, known.value, blind.value) == ("90 %", "100 %", "0.1 %")
    assert found.words == "95 % CI 89-91 %"
    assert known.name == "Known, right 19 times in 20"
    assert known.words == "1,000 named, some of them wrongly: so more than found"
    assert front(replace(document, intruders=(intruder(0.9, 0.5),))).numbers[1].words == "500 people"


@pytest.mark.parametrize(
    ("chance", "words"),
    [(0.004, "4 of 1,000"), (0.00091, "about 1 of 1,000"), (0.0004, "fewer than 1 of 1,000")],
)
def test_a_blind_guess_is_told_as_people(chance, words):
    assert _guessed(chance, 1000) == words


def test_an_attack_on_fewer_people_says_of_how_many(document):
    few = replace(intruder(0.98), knows="some", estimate=replace(estimate(0.98), n=200))
    found, blind = front(replace(document, intruders=(intruder(0.9), few))).numbers
    assert found.words == "95 % CI 97-99 %, of 200 people"
    assert blind.words == "1 of 1,000"  # of everybody, whoever was attacked


def test_whole_households_are_not_called_records(document):
    home = replace(intruder(0.9), measure="clusters")
    judged = (finding("clusters.rate", 0.9), finding("clusters.people", 0.8))
    told = front(replace(document, verdict="unsafe", intruders=(home,), findings=judged)).sentence
    assert "and who lives together finds the right household for 900 of 1,000 people" in told
    own = (judged[0], finding("clusters.people", 0.9))
    assert "finds the right record for" in front(replace(document, intruders=(home,), findings=own)).sentence


def test_where_nobody_is_looked_for_the_strongest_figures_are_shown(document):
    told = (finding("copies.exact", 0.1), finding("keys.replicated", 0.7), finding("keys.disclosed", 0.2, "for"))
    shown = front(replace(document, intruders=(), findings=told)).numbers
    assert [(one.name, one.value) for one in shown] == [
        ("Shared keys: replicated", "70 %"), ("Copies: exact", "10 %"), ("By blind guessing", "0.1 %"),
    ]  # fmt: skip
    assert shown[0].words == "95 % CI 69-71 %"


def test_a_synthetic_release_is_not_asked_whether_its_rows_belong_together(document):
    settings = {**document.manifest.settings, "synthetic": True}
    told = replace(document, manifest=replace(document.manifest, settings=settings))
    assert front(told).check.startswith("The release is taken as synthetic: no row belongs to one person.")


def test_secrets_that_were_named_are_not_called_missing(document):
    idle = replace(finding("magnitude.dominated", 0.1, "does not apply"), estimate=None, reason="no confidential one")
    told = replace(document, findings=(idle,))
    assert "which need other confidential columns" in front(told).untested
    none = tuple(replace(column, role="quasi") for column in document.columns)
    assert "which need confidential columns." in front(replace(told, columns=none)).untested


@pytest.mark.parametrize(
    "word", ["a b", "it's", "chain([drop(['days absent'])])", "it's $HOME", 'say "it\'s"', "plain"]
)
def test_a_command_is_typed_as_a_shell_reads_it(word):
    assert shlex.split(typed(["unmask", word])) == ["unmask", word]


def test_quotes_of_a_masking_stay_readable():
    assert typed(["--masking", "drop(['a b'])"]) == """--masking "drop(['a b'])\""""


def test_nobody_looked_for_is_said(document):
    (number,) = front(replace(document, intruders=(), findings=())).numbers
    assert number.value == "-" and "no attack" in number.words


def test_the_worst_informed_who_finds_as_many_is_named(document):
    more = replace(intruder(0.9), knows="half")
    told = replace(
        document, verdict="unsafe", intruders=(intruder(0.9), more), findings=(finding("nearest.rate", 0.9),)
    )
    assert "Someone who knows 11 columns finds" in front(told).sentence
    surer = replace(told, intruders=(intruder(0.8), more))
    assert "11 columns and the records of half of the people finds" in front(surer).sentence


def test_columns_are_those_that_the_attack_weighs_most(document):
    weights = (("sex", 0.1), ("whole rows", 9.0), ("bmi", 0.5), ("days", 0.7), ("height", -1.0))
    measures = tuple(replace(m, attributes=weights) if m.name == "channel" else m for m in document.measures)
    assert front(replace(document, measures=measures)).columns.startswith("Mostly days, bmi and sex.")
    assert front(replace(document, measures=())).columns == "No attack tells columns apart here."


def test_confidential_columns_are_told_with_how_true_they_are(document):
    assert front(document).learn.startswith("Of whoever is found: diagnosis (100 % unchanged) and cost (")
    rounded = [replace(column, rule="numbers are rounded", own=1.0) for column in document.columns]
    assert "diagnosis (true for 100 %) and cost (true for" in front(replace(document, columns=tuple(rounded))).learn
    unpaired = replace(document, check=replace(document.check, pairing="unpaired"))
    assert front(unpaired).learn.startswith("Of whoever is found: diagnosis and cost")
    none = tuple(replace(column, role="quasi") for column in document.columns)
    assert "None is named as confidential" in front(replace(document, columns=none)).learn


def test_the_change_to_try_first_is_on_page_one(document):
    assert document.advice is not None  # the demo is unsafe
    page = front(document)
    assert page.next.startswith("Drop ") and " more columns" in page.next
    assert page.next.endswith("Then everybody looks like 2 others. Attack that, or search for better:")
    assert page.command == command(document)
    assert front(replace(document, advice=None)).next == "Search for a release that is safe:"


def test_a_change_that_was_attacked_is_told_with_what_came_out(document):
    safe = AdviceEntry("drop town", (), "drop([town])", 0, "safe", 0.04, 0.43, "better.csv")
    page = front(replace(document, advice=safe))
    assert page.next == "Drop town. Attacked, that is safe: 4 % found, 43 % of the data left (better.csv)."
    assert page.command == ""
    assert len(words(page)) <= MOST_WORDS


def test_the_command_that_makes_the_change_drops_what_the_release_had_dropped(document, demo):
    advised = replace(document, advice=AdviceEntry("drop sex", (), "drop([sex])", 3))
    typed = shlex.split(making(advised))
    assert typed[:4] == ["unmask", "mask", str(demo.html.parent / "original.csv"), "--masking"]
    assert parse_masking(typed[4]).apply(demo.original).columns == [
        name for name in demo.original.columns if name not in {"longitude", "latitude", "sex"}
    ]
    assert making(replace(document, advice=None)) == ""


def test_the_command_can_be_typed(document, demo):
    typed = command(document)
    assert typed.startswith(f"unmask protect {demo.html.parent / 'original.csv'} --id patient")
    assert "--confidential diagnosis,cost --ignored longitude,latitude --policy internal -o safer.csv" in typed


def test_the_command_asks_for_the_same_intruder_households_and_uses(document):
    settings = {**document.manifest.settings, "household": "town", "weight": "longitude", "quasi": ["sex", "smoker"]}
    manifest = replace(document.manifest, settings=settings, intruder="prosecutor", keep=("mean(cost) by sex",))
    words = shlex.split(command(replace(document, manifest=manifest)))
    said = dict(zip(words[3::2], words[4::2], strict=True))
    assert said["--household"] == "town"
    assert "--weight" not in said  # the release left it out
    assert said["--quasi"] == "sex,smoker"
    assert said["--intruder"] == "prosecutor"
    assert said["--keep"] == "mean(cost) by sex"


def test_what_was_not_tested_says_what_it_needs(document):
    idle = sum(entry.outcome == "does not apply" for entry in document.findings)
    assert front(document).untested == (
        f"{idle} of {len(ENTRIES)} attacks, which need the masking method, households, earlier releases, places, the "
        "population or outsiders."
    )
    few = replace(document, manifest=replace(document.manifest, measures=("nearest",)), findings=())
    assert front(few).untested == f"{len(ENTRIES) - 1} of {len(ENTRIES)} attacks were left out."


def test_rows_that_do_not_belong_together_are_said_first(document):
    check = replace(document.check, pairing="unpaired", identifiers=("'name' names people", "'mail' too"))
    assert front(replace(document, check=check, warnings=())).check == (
        "Their rows do not seem to belong together: look at this first. 2 columns name people."
    )


def test_days_and_lists_are_written_as_people_write_them():
    assert day("2026-11-17T02:49:00+00:00") == "17 November 2026"
    assert [joined(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_a_table_in_memory_has_no_name():
    people = unmask.datasets.census(40)
    page = front(unmask.assess(unmask.Release(people, people), only=["nearest"]).document)
    assert page.title == "Disclosure risk of a table in memory"
    assert page.command == "" and page.next.startswith("Publish fewer columns")  # and not only that 40 are too few


# --- no part contradicts another ------------------------------------------------------------------------------------


def test_a_safe_file_is_published_without_the_column_that_pairs_it(document):
    """The notes say that the id names everybody: page 1 must not say that the file may go out as it is."""
    safe = replace(document, verdict="safe")
    assert "this file without its column patient, and no other" in front(safe).next
    without = tuple(column for column in safe.columns if column.role != "id")
    assert "this file and no other" in front(replace(safe, columns=without)).next


def test_a_limit_that_holds_the_blind_guess_says_so(document):
    """A policy of 9 % reads 11.9 % where a guess finds 2.9 %: the page says how the one becomes the other."""
    judged = Estimate(0.97, 0.9, 1.0, 35, 0.029)
    told = FindingEntry("nearest", "nearest.rate", "34 are linked.", "against", "", judged, 0.119, "r")
    beyond = replace(told, reason="even the lower end (90 %) is above the limit of 9 % beyond chance (2.9 %) (x)")
    for given, words in ((told, "allows 11.9 %."), (beyond, "allows 11.9 % (9 % beyond the blind guess).")):
        assert front(replace(document, verdict="unsafe", intruders=(), findings=(given,))).sentence.endswith(words)


def test_what_was_given_is_not_said_to_lack(document):
    entry = FindingEntry(
        "inference", "inference", "T", "does not apply", "no confidential attribute is named", *[None] * 3
    )
    none = tuple(replace(column, role="quasi") for column in document.columns)
    told = replace(document, findings=(entry,), columns=none)
    assert front(told).untested.endswith("which need confidential columns.")
    other = replace(entry, reason="it compares with people who are not in the release")
    assert front(replace(document, findings=(other,))).untested.endswith("which need outsiders.")
    inputs = {**document.manifest.inputs, "control": {"path": None, "rows": 10}}
    given = replace(document, findings=(other,), manifest=replace(document.manifest, inputs=inputs))
    assert "outsiders" not in front(given).untested


def test_what_could_not_run_comes_before_too_few_people(document):
    """Rows that do not belong together are the thing to mend, not the number of people."""
    why = "name the column that says which rows belong together"
    check = FindingEntry("check", "check.rows", "Rows do not belong together.", "could not run", why, None, None, None)
    few = 'the policy "public" can say "safe" only from 381 people on, and these are 250'
    told = replace(document, verdict="inconclusive", findings=(check,), warnings=(few,))
    assert front(told).next == "Remove the reason named above, and assess again."
