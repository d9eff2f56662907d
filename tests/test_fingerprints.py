"""What a report tells of the original: nothing that lets anybody but its steward try values until they fit."""

from __future__ import annotations

import hashlib
import json
import stat

import pytest

import unmask
from unmask.fingerprints import checksum, fingerprints, is_kept, is_same, kept_checksum, key_file, make_key, of_one_key

PLAIN = hashlib.sha256(b"a table").hexdigest()
OTHER = hashlib.sha256(b"another").hexdigest()


@pytest.fixture(autouse=True)
def key(tmp_path, monkeypatch):
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "kept" / "key"))
    make_key()


def one(sha256=PLAIN, name="original"):
    return fingerprints({name: {"path": "a.csv", "sha256": sha256, "rows": 3}})[name]


def test_the_steward_knows_a_table_again_and_nobody_else(tmp_path, monkeypatch):
    told = one()
    assert PLAIN not in str(told) and told["rows"] == 3
    assert is_same(told, PLAIN) is True and is_same(told, OTHER) is False
    assert one() == told and one(OTHER)["keyed"] != told["keyed"]
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "another"))
    assert is_same(told, PLAIN) is None  # no key
    make_key()
    assert is_same(told, PLAIN) is None  # not the key
    assert one()["keyed"] != told["keyed"]


def test_what_is_published_keeps_its_plain_checksum():
    for name in ("released", "released network", "model", "table 2", "second"):
        assert one(name=name) == {"path": "a.csv", "sha256": PLAIN, "rows": 3}
    for name in ("original", "control", "population", "original network", "distances"):
        assert one(name=name)["sha256"] is None


def test_a_key_is_made_once_and_for_its_owner():
    before = key_file().read_text()
    make_key()
    assert key_file().read_text() == before and len(before.strip()) == 64
    assert stat.S_IMODE(key_file().stat().st_mode) == 0o600


def test_without_a_key_there_is_no_fingerprint(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "file" / "key"))
    make_key()  # cannot be written: no error
    assert one() == {"path": "a.csv", "sha256": None, "rows": 3, "keyed": None}
    (tmp_path / "broken").write_text("no key")
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "broken"))
    assert one()["keyed"] is None


def test_the_key_is_looked_for_in_the_folder_of_the_users_data(tmp_path, monkeypatch):
    monkeypatch.delenv("UNMASK_KEY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert key_file() == tmp_path / "unmask" / "key"


def test_no_report_holds_the_checksum_of_the_original(tmp_path, files):
    plain = {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("a.csv", "b.csv")}
    found = unmask.assess(unmask.Release(tmp_path / "a.csv", tmp_path / "b.csv"), only=["uniqueness"])
    found.write_json(tmp_path / "r.json")
    found.write_html(tmp_path / "r.html")
    for report in ("r.json", "r.html"):
        text = (tmp_path / report).read_text()
        assert plain["a.csv"] not in text and plain["b.csv"] in text
    assert unmask.verify(tmp_path / "r.json").same
    kept = json.loads((tmp_path / "r.json").read_text())["manifest"]["inputs"]["original"]
    assert is_same(kept, plain["a.csv"])


def test_verify_says_that_the_original_is_another_file(tmp_path, files):
    found = unmask.assess(unmask.Release(tmp_path / "a.csv", tmp_path / "b.csv"), only=["uniqueness"])
    found.write_json(tmp_path / "r.json")
    with (tmp_path / "a.csv").open("a") as file:
        file.write("\n")
    told = unmask.verify(tmp_path / "r.json").differences
    assert "the original table is not the same file" in told


def test_no_kind_of_report_holds_a_plain_checksum_of_what_is_confidential():
    visits, ties = unmask.datasets.visits(80), unmask.datasets.friends(80)
    people = visits.unique("patient").select("sex")
    counts = people.group_by("sex").len("count").sort("sex")
    told = [
        unmask.assess_persons(unmask.Persons(visits, visits, id="patient")).document,
        unmask.assess_network(unmask.Network(ties, ties)).document,
        unmask.assess_tables([counts], original=people).document,
    ]
    for document in told:
        kept = [name for name, source in document.manifest.inputs.items() if source["sha256"]]
        assert kept and all(name.startswith(("released", "table ")) for name in kept), kept
        assert any(source.get("keyed") for source in document.manifest.inputs.values()), document.manifest.inputs


@pytest.mark.parametrize("keyed", [True, False])
def test_a_folder_of_kept_work_knows_its_table_again_and_tells_nobody(tmp_path, monkeypatch, keyed):
    if not keyed:
        monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "no key"))
    told = kept_checksum(tmp_path, PLAIN)
    assert PLAIN not in told and hashlib.sha256(PLAIN.encode()).hexdigest() not in told
    assert kept_checksum(tmp_path, PLAIN) == told and is_kept(tmp_path, told, PLAIN)
    assert not is_kept(tmp_path, told, OTHER) and is_kept(tmp_path, PLAIN, PLAIN)  # of an earlier version
    own = tmp_path / ".key"
    assert own.exists() is not keyed
    if not keyed:
        assert stat.S_IMODE(own.stat().st_mode) == 0o600
        make_key()  # a key of the steward that came later
        assert is_kept(tmp_path, told, PLAIN)


def test_checksums_are_compared_under_one_key_only(tmp_path, monkeypatch):
    one = checksum(b"risks")
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "none"))
    assert checksum(b"risks") is None and not of_one_key("", "") and of_one_key(one, one)
    make_key()
    assert not of_one_key(one, checksum(b"risks"))


def test_nothing_that_is_written_lets_a_blanked_cell_be_tried(tmp_path, monkeypatch):
    """With the key of another, the true value gives other checksums than those of the steward, as any value does."""
    people = unmask.datasets.census(40).select("wages", "interest")
    masked = unmask.parse_masking("noise(0.3)").apply(people, 1)

    def written(folder):
        found = unmask.assess(unmask.Release(people, masked), only=["uniqueness"], resume=tmp_path / folder / "state")
        unmask.explore(people, ["noise(0.5)"], glance=True, folder=tmp_path / folder / "tried")
        names = {path.name for path in (tmp_path / folder / "state").glob("*.json")}
        kept = json.loads((tmp_path / folder / "tried" / "explore.json").read_text())["table"]
        keyed = found.document.manifest.inputs["original"]["keyed"]
        return names, kept, keyed, found.document.digest.partition("+")

    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    ours, again = written("a"), written("b")
    assert ours == again  # the steward knows everything again
    monkeypatch.setenv("UNMASK_KEY", str(tmp_path / "of another" / "key"))
    make_key()
    (tmp_path / "c").mkdir()
    theirs = written("c")
    assert ours[0].isdisjoint(theirs[0]) and ours[1] != theirs[1] and ours[2] != theirs[2]
    assert ours[3][0] == theirs[3][0] and ours[3][2] != theirs[3][2]  # what is told is told; risks are under the key
