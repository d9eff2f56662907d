"""The pages: what is chosen is kept, what is wrong is said, what was found is shown and can be taken along."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace

import pytest

from unmask.errors import EngineError
from unmask.web.plane import in_short, plane
from web_pages import CHECKED, LIMIT, Browser

ESTIMATE = {"value": 0.4, "low": 0.3, "high": 0.5, "n": 80, "chance": 0.0321}
REPORT = {
    "verdict": "unsafe", "reason": "1 finding is against publishing", "policy": "public", "warnings": ["few people"],
    "check": {}, "utility": {"value": 0.8}, "findings": [{"claim": "32 of 80 people are found.", "outcome": "against"}],
    "intruders": [{"estimate": ESTIMATE, "known": {**ESTIMATE, "value": 0.1}}],
}  # fmt: skip
POINTS = [
    {"masking": "noise(0.1)", "seed": 1, "stage": "glance", "verdict": "unsafe", "reason": "too many", "risk": 0.6,
     "low": 0.5, "high": 0.7, "known": None, "utility": 0.9, "front": True, "recommended": False},
    {"masking": "microaggregation(5)", "seed": 1, "stage": "whole", "verdict": "safe", "reason": "within limits",
     "risk": 0.02, "low": 0.0, "high": 0.05, "known": 0, "utility": 0.5, "front": True, "recommended": True},
]  # fmt: skip


def lines(points):
    return "\n".join(map(json.dumps, points)) + "\n"


@pytest.fixture
def browser(tmp_path):
    return Browser(tmp_path / "serve")


@pytest.fixture
def case(browser, files):
    case = browser.choose(*files)
    browser.pretend(case, "check", {"check.json": CHECKED})
    return case


def roles(browser, case, given=None, **more):
    chosen = {f"role{number}": "known" for number in range(len(CHECKED["columns"]))}
    return browser.post(f"/case/{case.id}/roles", {**chosen, **(given or {})}, **more)


# --- files ----------------------------------------------------------------------------------------------------------


def test_two_paths_become_a_case_and_a_check(browser, files):
    case = browser.choose(*files)
    assert (case.original, case.released) == tuple(map(str, files)) and case.names == ("a.csv", "b.csv")
    (job,) = browser.store.all_jobs()
    assert job.words == ("check", *map(str, files), "--json", "check.json") and job.state == "queued"
    assert not list(browser.store.private.iterdir())  # paths are read where they are
    page = browser.get(f"/case/{case.id}/check").text
    assert "<progress" in page and '<noscript><meta http-equiv="refresh"' in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "no original table is given"),
        ({"original_path": "/nowhere/a.csv"}, "no file at /nowhere/a.csv"),
        ({"original_path": "/"}, "is a folder"),
        ({"original_path": "/dev/null"}, "not a plain file"),
    ],
)
def test_a_wrong_path_is_said_and_what_was_typed_stays(browser, fields, words):
    answer = browser.post("/cases", {**fields, "released_path": "typed.csv"})
    assert answer.status_code == 422 and words in answer.text and 'value="typed.csv"' in answer.text
    assert browser.store.all_cases() == [] and not list(browser.store.private.iterdir())


def upload(browser, name, content=b"a,b\n1,2\n", **more):
    files = {"original_file": (name, content), "released_file": ("b.csv", b"a,b\n1,2\n")}
    return browser.post("/cases", more, files=files)


def test_an_upload_goes_into_the_private_folder(browser):
    assert upload(browser, "people.CSV").status_code == 200
    (case,) = browser.store.all_cases()
    place = browser.store.private / case.id
    assert case.original == str(place / "original.csv") and case.names[0] == "people.CSV"
    assert (place / "original.csv").read_bytes() == b"a,b\n1,2\n"
    assert {path.stat().st_mode & 0o777 for path in place.iterdir()} == {
        0o600
    } and place.stat().st_mode & 0o777 == 0o700
    browser.store.forget_tables()
    assert not place.exists() and browser.store.case(case.id) is not None


@pytest.mark.parametrize("name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/evil.csv", "a.csv/../../evil.csv"])
def test_the_name_of_an_upload_leads_nowhere(browser, tmp_path, name):
    assert upload(browser, name).status_code == 200
    (case,) = browser.store.all_cases()
    assert case.original == str(browser.store.private / case.id / "original.csv") and case.names[0] == "evil.csv"
    assert not list(tmp_path.rglob("evil*"))


def test_what_is_no_table_of_a_known_kind_is_kept_without_its_end(browser):
    assert upload(browser, "x.a'b;c.p$y").status_code == 200
    assert browser.store.all_cases()[0].original.endswith("/original")


def test_a_file_given_twice_or_empty_is_refused(browser, files):
    assert "given twice" in upload(browser, "a.csv", original_path=str(files[0])).text
    assert "is empty" in upload(browser, "a.csv", b"").text
    assert not list(browser.store.private.iterdir())


def test_an_upload_just_below_the_limit_is_taken(browser):
    assert upload(browser, "a.csv", b"x" * (LIMIT - 5000)).status_code == 200


# --- check and roles ------------------------------------------------------------------------------------------------


def test_the_check_suggests_an_id_and_says_who_is_named(browser, case):
    page = browser.get(f"/case/{case.id}/check").text
    first = re.search(r'name="role0">(.*?)</select>', page, re.DOTALL)[1]
    assert '<option value="id" selected>' in first
    assert "could be an id: it is chosen below" in page and "--id" not in page
    assert page.count("names people: take it out") == 1 and "only in the original" in page
    assert page.count("<select") == 2 * len(CHECKED["columns"]) == page.count("<label><span")


def test_values_and_names_are_escaped(browser, files):
    case = browser.choose(*files)
    evil = "<script>alert(1)</script>"
    column = {**CHECKED["columns"][0], "name": evil, "rule": evil}
    browser.pretend(case, "check", {"check.json": {**CHECKED, "columns": [column], "roles": {evil: "quasi"}}})
    browser.store.save_case(replace(case, names=(evil, evil)))
    for path in ("/", f"/case/{case.id}/check"):
        page = browser.get(path).text
        assert evil not in page and "&lt;script&gt;" in page


def test_roles_are_kept_and_lead_on(browser, case):
    answer = roles(browser, case, {"role0": "id", "role1": "confidential", "kind1": "ordinal", "synthetic": "yes"})
    assert answer.url.path.endswith("/audience")
    kept = browser.store.case(case.id)
    assert kept.roles["nr"] == "id" and kept.roles["age"] == "confidential" and kept.roles["mail"] == "known"
    assert kept.kinds == {"age": "ordinal"} and kept.synthetic


def test_the_check_can_be_run_again_with_the_roles(browser, case):
    roles(browser, case, {"role0": "id", "then": "check"})
    last = browser.store.latest(case.id, "check")
    assert last.state == "queued" and last.words[-4:] == ("--id", "nr", "--json", "check.json")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"role0": "id", "role1": "id"}, "only one column says which rows belong together"),
        ({"role0": "weight", "role1": "weight"}, "only one column is the sampling weight"),
        ({"role0": "boss"}, "no such role"),
        ({"kind0": "colour"}, "no such kind"),
    ],
)
def test_roles_that_cannot_be_are_said(browser, case, given, words):
    answer = roles(browser, case, given)
    assert answer.status_code == 422 and words in answer.text
    assert browser.store.case(case.id).roles == {}


def test_a_check_that_failed_says_why(browser, files):
    case = browser.choose(*files)
    job = browser.pretend(case, "check", {"errors.txt": "note: x\nunmask: a.csv is no table\n  hint: look at it\n"})
    browser.store.save_job(replace(job, state="failed", code=2))
    page = browser.get(f"/case/{case.id}/check").text
    assert "<strong>a.csv is no table</strong>" in page and "hint: look at it" in page and "note: x" not in page


# --- audience and run -----------------------------------------------------------------------------------------------


def test_audience_and_intruder_become_the_command(browser, case):
    form = {"audience": "partner", "intruder": "journalist", "attacks": "quick", "minutes": "15"}
    answer = browser.post(f"/case/{case.id}/run", form)
    job = browser.store.latest(case.id, "assess")
    assert answer.url.path.endswith(f"/job/{job.id}") and job.limit == 900
    words = " ".join(job.words)
    assert "--policy partner --intruder journalist --only anonymity,channel" in words and "1 before" in answer.text
    assert job.some is True
    settings = tomllib.loads((browser.store.place(job) / "unmask.toml").read_text())
    assert settings["policy"] == "partner" and settings["original"] == case.original


def test_what_the_certificate_states_is_kept(browser, case):
    form = {
        "certificate": "yes",
        "stated_controller": "Hospital",
        "stated_purpose": "",
        "stated_valid_until": "2999-01-31",
    }
    browser.post(f"/case/{case.id}/run", form)
    kept, job = browser.store.case(case.id), browser.store.latest(case.id, "assess")
    assert kept.certificate and kept.statement == {"controller": "Hospital", "valid_until": "2999-01-31"}
    assert job.words == ("assess", "--config", "unmask.toml")
    assert tomllib.loads((browser.store.place(job) / "unmask.toml").read_text())["statement"] == kept.statement
    assert 'value="Hospital"' in browser.get(f"/case/{case.id}/audience").text
    assert browser.post(f"/case/{case.id}/run", {**form, "stated_valid_until": "soon"}).status_code == 422


@pytest.mark.parametrize("form", [{"audience": "nobody"}, {"intruder": "me"}, {"minutes": "7"}, {"minutes": "x"}])
def test_choices_that_are_none_are_refused(browser, case, form):
    assert browser.post(f"/case/{case.id}/run", form).status_code == 422
    assert browser.store.latest(case.id, "assess") is None


def test_progress_is_told_page_by_page_and_to_the_script(browser, case):
    browser.post(f"/case/{case.id}/run", {})
    job = browser.store.latest(case.id, "assess")
    browser.store.save_job(replace(job, state="running"))
    (browser.store.place(job) / "progress.json").write_text('{"done": 0.25, "words": "Nearest record: 3 of 9"}')
    assert browser.get(f"/job/{job.id}/progress").json() == {
        "state": "running", "done": 0.25, "words": "Nearest record: 3 of 9",
    }  # fmt: skip
    page = browser.get(f"/job/{job.id}").text
    assert 'value="0.25"' in page and "Nearest record: 3 of 9" in page and "Cancel" in page


@pytest.mark.parametrize(
    ("state", "code", "words"),
    [
        ("interrupted", None, "The page was closed before it was done."),
        ("cancelled", -15, "You ended it."),
        ("late", -15, "The time was over"),
        ("failed", -9, "ended from outside"),
    ],
)
def test_a_job_without_a_result_says_why_and_runs_again(browser, case, state, code, words):
    browser.post(f"/case/{case.id}/run", {})
    job = replace(browser.store.latest(case.id, "assess"), state=state, code=code)
    browser.store.save_job(job)
    page = browser.get(f"/job/{job.id}").text
    assert words in page and "Go on" in page and "deleted" not in page
    assert browser.post(f"/job/{job.id}/again").url.path.endswith(job.id)
    assert browser.store.job(job.id).state == "queued"
    browser.post(f"/job/{job.id}/cancel")
    assert browser.store.job(job.id).state == "cancelled"


def test_deleted_uploads_are_told(browser):
    upload(browser, "a.csv")
    (job,) = browser.store.all_jobs()
    browser.store.save_job(replace(job, state="interrupted"))
    browser.store.forget_tables()
    assert "choose them again" in browser.get(f"/case/{job.case}/check").text


# --- results --------------------------------------------------------------------------------------------------------


def done(browser, case, **files):
    return browser.pretend(case, "assess", {"report.json": REPORT, "report.html": "<p>", **files})


def test_the_result_shows_verdict_numbers_and_files(browser, case):
    page = browser.get(f"/job/{done(browser, case).id}").text
    assert "Do not publish this release" in page and "32 of 80 people are found." in page
    assert "<td>40 % (95 % CI 30-50 %)</td>" in page and "3.2 %" in page
    assert "file/report.html" in page and "file/report.json" in page and "file/certificate" not in page


def test_known_above_found_has_its_reason(browser, case):
    sure = {**REPORT, "intruders": [{"estimate": ESTIMATE, "known": {**ESTIMATE, "value": 0.5}}]}
    page = browser.get(f"/job/{done(browser, case, **{'report.json': sure}).id}").text
    assert "Known, right 19 times in 20" in page and "named, some of them wrongly: so more than found" in page
    assert "more than found" not in browser.get(f"/job/{done(browser, case).id}").text


def test_a_search_that_cannot_end_well_is_told_before_it_begins(browser, case):
    few = 'the policy "public" can say "safe" only from 381 people on, and these are 120'
    done(browser, case, **{"report.json": {**REPORT, "warnings": [few]}})
    page = browser.get(f"/case/{case.id}/protect").text
    assert "from 381 people on, and these are 120: inconclusive is the best" in page
    done(browser, case)
    assert "inconclusive is the best" not in browser.get(f"/case/{case.id}/protect").text


def test_people_found_by_rows_of_a_synthetic_table_are_those_of_its_report(browser, case):
    row = {"key": "copies.found", "claim": "They are.", "outcome": "against", "estimate": ESTIMATE}
    synthetic = {**REPORT, "intruders": [], "findings": [row]}
    page = browser.get(f"/job/{done(browser, case, **{'report.json': synthetic}).id}").text
    assert "<td>40 % (95 % CI 30-50 %)</td>" in page


def test_the_result_names_the_change_to_try_first(browser, case):
    advised = {**REPORT, "advice": {"words": "drop <town>; blank single cells", "verdict": ""}}
    page = browser.get(f"/job/{done(browser, case, **{'report.json': advised}).id}").text
    assert "<strong>A change to try first:</strong> drop &lt;town&gt;; blank single cells." in page
    assert "A change to try first" not in browser.get(f"/job/{done(browser, case).id}").text


def test_a_verdict_of_some_attacks_says_so(browser, case):
    safe = {"report.json": {**REPORT, "verdict": "safe", "findings": []}}
    for some in (True, False):
        page = browser.get(f"/job/{browser.pretend(case, 'assess', safe, some=some).id}").text
        assert ("before you publish" in page) is some and "Safe to publish" in page


def test_the_certificate_is_shown_once_it_is_there(browser, case):
    job = done(browser, case, **{"certificate.html": "<p>certificate"})
    assert f"/job/{job.id}/file/certificate.html" in browser.get(f"/job/{job.id}").text
    answer = browser.get(f"/job/{job.id}/file/certificate.html")
    assert answer.headers["content-disposition"] == 'attachment; filename="certificate.html"'
    assert browser.get(f"/job/{job.id}/file/certificate.jsonld").status_code == 404


def test_the_certificate_is_printed_when_it_is_asked_for(browser, case, monkeypatch):
    pages = []
    monkeypatch.setattr("unmask.web.results.can_print", lambda: True)
    monkeypatch.setattr("unmask.web.results.to_pdf", lambda page: pages.append(page) or b"%PDF-1.4")
    job = done(browser, case, **{"certificate.html": "<p>certified</p>"})
    assert f"/job/{job.id}/file/certificate.pdf" in browser.get(f"/job/{job.id}").text
    for _ in range(2):  # printed once
        answer = browser.get(f"/job/{job.id}/file/certificate.pdf")
        assert answer.content == b"%PDF-1.4" and answer.headers["content-type"] == "application/pdf"
    assert pages == ["<p>certified</p>"]
    assert browser.get(f"/job/{job.id}/file/public-certificate.pdf").status_code == 404
    monkeypatch.setattr("unmask.web.results.can_print", lambda: False)
    assert f"/job/{job.id}/file/public-certificate.pdf" not in browser.get(f"/job/{job.id}").text


def test_a_browser_that_cannot_print_gives_no_file(browser, case, monkeypatch):
    def broken(_):
        raise EngineError("the browser could not print")

    monkeypatch.setattr("unmask.web.results.can_print", lambda: True)
    monkeypatch.setattr("unmask.web.results.to_pdf", broken)
    job = done(browser, case, **{"certificate.html": "<p>certified</p>"})
    assert browser.get(f"/job/{job.id}/file/certificate.pdf").status_code == 404


def test_a_report_without_intruders_is_shown(browser, case):
    job = done(browser, case, **{"report.json": {**REPORT, "intruders": [], "findings": [], "verdict": "inconclusive"}})
    page = browser.get(f"/job/{job.id}").text
    assert "Not shown to be safe" in page and "not tested" in page


def test_the_frontier_is_a_plane_of_links(browser, case):
    job = browser.pretend(case, "explore", {"points.jsonl": lines(POINTS)})
    page = browser.get(f"/job/{job.id}").text
    assert page.count("<circle") == 2 and f'href="{browser.keys.root}/job/{job.id}/point/1"' in page
    assert "A safe masking was found" in page and "limit 9 %" in page
    done(browser, case)
    point = browser.get(f"/job/{job.id}/point/1").text
    assert (
        "Release 2: microaggregation" in point
        and "microaggregation(5)" in point
        and "<td>40 % (95" in point
        and "50 %" in point
    )
    assert browser.get(f"/job/{job.id}/point/2").status_code == 404


def test_a_point_is_made_checked_attacked_and_compared(browser, case):
    roles(browser, case, {"role0": "id", "role2": "confidential"})
    browser.store.save_case(replace(browser.store.case(case.id), quick=True))
    before = done(browser, case)
    job = browser.pretend(case, "explore", {"points.jsonl": lines(POINTS)})
    answer = browser.post(f"/job/{job.id}/attack", {"number": "1"})
    made = browser.store.case(browser.store.job(answer.url.path.split("/")[-1]).case)
    jobs = browser.store.jobs_of(made.id)
    assert [entry.kind for entry in jobs] == ["mask", "check", "assess"]
    assert "--only" not in jobs[2].words and jobs[2].some is False
    plan = tomllib.loads((browser.store.place(jobs[0]) / "plan.toml").read_text())
    assert plan["steps"] == [{"masking": "microaggregation(5)"}] and plan["left_out"] == ["nr", "mail", "old"]
    assert made.released == str(browser.store.private / made.id / "release.csv") and made.original == case.original
    assert made.before == before.id and made.roles["a, b"] == "confidential"
    assert "nr" not in made.roles
    (browser.store.private / made.id / "release.csv").write_text("a\n1\n")
    for name, content in {"report.json": {**REPORT, "verdict": "safe", "findings": []}, "report.html": ""}.items():
        (browser.store.place(jobs[2]) / name).write_text(json.dumps(content))
    browser.store.save_job(replace(jobs[2], state="done", code=0))
    page = browser.get(f"/job/{jobs[2].id}").text
    assert "Before" in page and "<td>unsafe</td><td>safe</td>" in page and "<td>80 %</td><td>80 %</td>" in page
    for name in ("release.csv", "plan.toml", "unmask.toml"):
        assert browser.get(f"/job/{jobs[2].id}/file/{name}").status_code == 200, name


def test_what_protect_found_is_attacked_by_its_plan(browser, case):
    files = {
        "points.jsonl": lines(POINTS),
        "plan.toml": "seed = 1\n",
        "told.txt": "age: noise\nSafe.\nRelease: x.csv.\n",
    }
    job = browser.pretend(case, "protect", files)
    page = browser.get(f"/job/{job.id}").text
    assert "A safe release was found" in page and "age: noise" in page and "Release: x.csv" not in page
    browser.post(f"/job/{job.id}/attack")
    making = next(entry for entry in browser.store.all_jobs() if entry.kind == "mask")
    assert (browser.store.place(making) / "plan.toml").read_text() == "seed = 1\n"


@pytest.mark.parametrize("number", ["2", "-1", "x", ""])
def test_no_release_is_made_of_what_was_not_tried(browser, case, number):
    job = browser.pretend(case, "explore", {"points.jsonl": lines(POINTS)})
    assert browser.post(f"/job/{job.id}/attack", {"number": number}).status_code == 404
    assert len(browser.store.all_cases()) == 1


def test_the_search_keeps_what_must_come_out(browser, case):
    browser.post(f"/case/{case.id}/search", {"way": "explore", "keep": "mean(age)\n\n count by nr \n", "minutes": "5"})
    job = browser.store.latest(case.id, "explore")
    assert browser.store.case(case.id).keep == ("mean(age)", "count by nr")
    assert job.words[-12:-6] == ("--keep", "mean(age)", "--keep", "count by nr", "--budget", "5m")
    assert browser.post(f"/case/{case.id}/search", {"keep": "x\n" * 51}).status_code == 422


def test_a_deleted_case_is_gone(browser, case):
    job = done(browser, case)
    browser.post(f"/case/{case.id}/delete")
    assert browser.get(f"/case/{case.id}/check").status_code == 404
    assert browser.get(f"/job/{job.id}/report").status_code == 404
    assert browser.store.all_jobs() == [] and not list(browser.store.jobs.iterdir())


def test_an_error_of_ours_shows_no_words_of_it(browser, case, monkeypatch):
    def broken(*_):
        raise RuntimeError("a value of the data")

    monkeypatch.setattr("unmask.web.views.seen", broken)
    answer = browser.get(f"/case/{case.id}/check")
    assert answer.status_code == 500 and "a value of the data" not in answer.text and "RuntimeError" in answer.text


def test_two_tabs_work_on_one_case(browser, case):
    """Both tabs have the same cookie; what is chosen last counts, and a job that was asked for stays."""
    first, second = browser.get(f"/case/{case.id}/check"), browser.get(f"/case/{case.id}/audience")
    assert first.status_code == second.status_code == 200
    browser.post(f"/case/{case.id}/run", {"audience": "partner"})
    roles(browser, case, {"role1": "confidential"})
    browser.post(f"/case/{case.id}/run", {"audience": "internal"})
    jobs = [job for job in browser.store.jobs_of(case.id) if job.kind == "assess"]
    assert ["partner" in job.words for job in jobs] == [True, False]
    assert "--confidential" not in jobs[0].words and "--confidential" in jobs[1].words


def test_a_plane_keeps_everything_inside():
    drawn = plane([{**POINTS[0], "risk": 1.0, "utility": 1.0}, {**POINTS[0], "risk": 0.0, "utility": -0.1}], 0.09)
    for dot in drawn.dots:
        assert drawn.left <= dot.x <= drawn.right and drawn.top <= dot.y <= drawn.bottom
    assert plane([], None).dots == ()


def test_a_table_of_many_columns_has_its_roles(browser, files):
    case = browser.choose(*files)
    columns = [{**CHECKED["columns"][1], "name": f"column {number}"} for number in range(1500)]
    known = {entry["name"]: "quasi" for entry in columns}
    browser.pretend(case, "check", {"check.json": {**CHECKED, "columns": columns, "roles": known}})
    chosen = {f"role{number}": "confidential" for number in range(1500)}
    browser.post(f"/case/{case.id}/roles", {**chosen, **{f"kind{number}": "" for number in range(1500)}})
    assert set(browser.store.case(case.id).roles.values()) == {"confidential"}


def test_a_masking_in_short():
    assert in_short("chain([rank_swap(share=0.2, columns=[a, c]), dates(year), dates(month)])") == "rank swap, dates"
    assert in_short("") == "the table as it is"
