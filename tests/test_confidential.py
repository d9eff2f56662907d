"""Canaries in every column, through every command: no file, screen or message holds one unless it was asked for."""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import io
import json
import pickle
import re
import stat
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

import unmask
from canaries import HIGH, LOW, YEAR, leaks, people, search
from command_line import run
from unmask.cli.app import COMMANDS

ROLES = ("--id", "person", "--confidential", "diagnosis,cost")
SOME = ("--only", "nearest,uniqueness,anonymity")
HARD = "laplace(1, [(income, 0, 1000000000)])"


class Place:
    """A home, a folder for temporary files and one for results, all private to the test; and what was said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.said = folder, [], {}
        for name in ("in", "out", "home", "tmp"):
            (folder / name).mkdir()
        table = people()
        masked = unmask.parse_masking("noise(0.3)").apply(table, 1)
        more = people(seed=5)
        visits, draw = pl.concat([table, more]), np.random.default_rng(3)
        for name, one in {
            "o": table, "r": masked, "c": people(60, word="Kifctrl", seed=9), "v": visits,
            "vr": unmask.parse_masking("noise(0.3)").apply(visits, 1),
            "t": table.group_by("town", "diagnosis").len("count").sort("town", "diagnosis"),
            "p": people(40).with_columns(x=LOW + draw.uniform(1, 9e5, 40), y=LOW + draw.uniform(1, 9e5, 40)),
            **self.network(table["person"].to_list()),
        }.items():  # fmt: skip
            one.write_csv(folder / "in" / f"{name}.csv")

    @staticmethod
    def network(ids):
        draw = np.random.default_rng(2)
        pairs = {tuple(sorted(pair)) for pair in draw.integers(0, len(ids), (200, 2)).tolist() if pair[0] != pair[1]}
        ties = pl.DataFrame(sorted(pairs), schema=["a", "b"], orient="row")
        named = {"n": ids, "nr": [f"x{row}" for row in range(len(ids))]}
        made = {
            name: ties.select(pl.col("a", "b").replace_strict(dict(enumerate(names)), return_dtype=pl.String))
            for name, names in named.items()
        }
        return {**made, "nk": pl.DataFrame({"o": ids, "r": named["nr"]})}

    def path(self, name):
        return self.folder / "in" / f"{name}.csv"

    def out(self, name, *, data=False):
        """Where a command writes; ``data``: a release or a hierarchy, which holds values by design."""
        path = self.folder / "out" / name
        self.data += [path] if data else []
        return path

    def call(self, *words, codes=(0, 1, 3)):
        """Run a command here, with its own home, and keep what it said."""
        said = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {"HOME": "home", "TMPDIR": "tmp", "XDG_CACHE_HOME": "home", "TMP": "tmp"}.items():
                patch.setenv(name, str(self.folder / value))
            patch.delenv("UNMASK_KEY", raising=False)
            patch.delenv("XDG_DATA_HOME", raising=False)
            patch.setattr(tempfile, "tempdir", None)
            patch.chdir(self.folder / "out")
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(*words)
        self.said[f"{len(self.said)} {words[0]}"] = said.getvalue()
        assert code in codes, said.getvalue()
        return said.getvalue()

    def judge(self):
        """No canary in what was said or written, no file for others, nothing left behind."""
        assert {name: found for name, text in self.said.items() if (found := leaks(text.encode()))} == {}
        assert search(self.folder / "out", besides=self.data) == {}
        assert search(self.folder / "home") == {} and list((self.folder / "tmp").rglob("*")) == []
        for path in [*(self.folder / "out").rglob("*"), *(self.folder / "home").rglob("key")]:
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), (path, oct(mode))
        assert not list((self.folder / "out").rglob("*.part"))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("canaries"))


@pytest.fixture(scope="module")
def attacked(place):
    """One assessment, with everything that it can write."""
    place.call(
        "assess", place.path("o"), place.path("r"), *ROLES, *SOME, "--control", place.path("c"), "--json", "a.json",
        "--html", "a.html", "--state", "state", "--records", "records.csv", "--fix", "fix.csv", "--junit", "j.xml",
        "--sarif", "s.sarif", "--annotate",
    )  # fmt: skip
    return place


# --- the search itself ----------------------------------------------------------------------------------------------

CANARY = "Zyxid0007"


@pytest.mark.parametrize(
    "hidden",
    [
        CANARY.encode(),
        CANARY.upper().encode(),
        base64.b64encode(b"a row: " + CANARY.encode()),
        html.escape("<Zyxid0007>").replace("Z", "&#90;").encode(),
        json.dumps(CANARY).replace("x", "\\u0078").encode(),
        b"%5Ayxid0007",
        gzip.compress(CANARY.encode(), mtime=0),
        CANARY.encode("utf-16"),
        b"918,000,123",
        b"918'000'123.5",
        b"918000123",
        b"9.180001e+08",
        b"918.4M",
        str(HIGH - 7).encode(),
        f"{YEAR}-03-04".encode(),
        base64.b64encode(np.array([1.0, LOW + 7]).tobytes()),
        base64.b64encode(np.array([1, LOW + 7], dtype=np.int64).tobytes()),
    ],
    ids=lambda hidden: repr(hidden[:24]),
)
def test_a_leak_is_found_however_it_is_written(hidden):
    assert leaks(hidden)
    assert leaks(b'{"told": "' + hidden + b'"}') or hidden.startswith((b"\x1f\x8b", b"\xff\xfe"))


def test_a_leak_in_a_table_or_an_archive_is_found(tmp_path):
    for name in ("a.parquet", "a.xlsx", "a.csv.gz", "a.arrow", "a.csv.zst"):
        unmask.tables.write_table(people(20).select("person", "income"), tmp_path / name)
    np.save(tmp_path / "a.npy", people(20)["income"].to_numpy())
    (tmp_path / "Zyxid").mkdir()
    assert len(search(tmp_path)) == 7


def test_what_is_no_canary_is_not_found():
    assert not leaks(b"a table of 96 rows; 918 of 919 people; 2026-11-17; cut at 918,500,000; 5e5e5e5e9180")


def test_a_planted_leak_fails_the_judgement(tmp_path):
    bad = Place(tmp_path)
    bad.judge()
    leaking = tmp_path / "out" / "state.json"
    leaking.write_text('{"x": "Wubdiag03"}')
    leaking.chmod(0o600)
    with pytest.raises(AssertionError):
        bad.judge()
    leaking.write_text("{}")
    leaking.chmod(0o644)
    with pytest.raises(AssertionError):
        bad.judge()
    leaking.unlink()
    (tmp_path / "tmp" / "left").touch()
    with pytest.raises(AssertionError):
        bad.judge()


# --- the commands ---------------------------------------------------------------------------------------------------


def test_an_assessment_and_what_is_made_of_its_report(attacked):
    attacked.call("person", "a.json", "-o", "persons.csv")
    attacked.call("person", "a.json", "--row", "1", "--chart", "person.svg")
    attacked.call("compare", "a.json", "a.json", "-o", "c.html", "--json", "c.json")
    attacked.call("compare", "a.json", "a.json", "--json", "-")
    attacked.judge()


def test_values_are_shown_when_they_are_asked_for(attacked, tmp_path):
    said = Place(tmp_path).call(
        "assess",
        attacked.path("o"),
        attacked.path("r"),
        *ROLES,
        "--only",
        "nearest",
        "--show-values",
        "--json",
        "v.json",
    )
    assert "Zyxid" in said and leaks((tmp_path / "out" / "v.json").read_bytes()) == {"Zyxid"}


def test_commands_on_tables(place):
    place.call("check", place.path("o"), place.path("r"), *ROLES, "-o", "check.json", "--accept-roles", "roles.toml")
    place.call("fix", place.path("r"), "--quasi", "town,sex,born,income", "--k", "5", "-o",
               place.out("fixed.csv", data=True), "--steps", "steps.csv")  # fmt: skip
    place.call("mask", place.path("o"), "--masking", "noise(0.5)", "-o", place.out("masked.csv", data=True))
    place.call("hierarchy", place.path("o"), "--column", "town", "-o", place.out("towns.csv", data=True))
    place.call("link", place.path("o"), place.path("r"), "--id", "person", "-o", "links.csv")
    place.judge()


WRONG = [
    ("assess", "{o}", "{r}", "--id", "town"),
    ("assess", "{o}", "{bad}", "--id", "person"),
    ("assess", "{bad}"),
    ("assess", "{o}", "{json}"),
    ("assess", "{o}", "{r}", "--quasi", "twon"),
    ("assess", "{o}", "{r}", "--kind", "town=numeric", "--only", "nearest"),
    ("assess", "{o}", "{r}", "--missing", "income=none", "--weight", "diagnosis"),
    ("assess", "{o}", "{r}", "--household", "town", "--weight", "town"),
    ("mask", "{o}", "--masking", "laplace(1, [(town, 0, 1)])", "-o", "never.csv"),
    ("mask", "{o}", "--masking", "laplace(1, [(income, 0, 1)])", "--seed", "x", "-o", "never.csv"),
    ("mask", "{o}", "--plan", "{o}", "-o", "never.csv"),
    ("hierarchy", "{o}", "--column", "town", "--file", "{tree}"),
    ("person", "{json}"),
    ("compare", "{json}", "{json}"),
    ("verify", "{bad}"),
    ("assess", "{o}", "{r}", "--policy", "{toml}"),
    ("assess", "{o}", "{r}", "--config", "{toml}"),
    ("explore", "{o}", "--grid", "{toml}"),
    ("network", "{o}", "{bad}"),
    ("sign", "{json}", "--key", "{bad}"),
    ("fix", "{bad}", "--quasi", "town"),
    ("link", "{o}", "{bad}", "--debug"),
]


@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(words)[:60])
def test_no_message_of_an_error_quotes_a_cell(place, tmp_path, words):
    broken = {
        "bad": "person,town,income\n" + 'Zyxid0001,"Qovtown01,918000123\nZyxid0002,Qovtown02\n',
        "json": '{"person": "Zyxid0001", "income": 918000123, ',
        "tree": "Qovtown01,north\nQovtown01,south\n",
        "toml": 'Wubdiag01 = "Zyxid0001"\ntown = 918000123\n[thresholds\n',
    }
    given = {name: str(place.path(name)) for name in ("o", "r")}
    for name, text in broken.items():
        given[name] = str(tmp_path / f"{name}.{'csv' if name in {'bad', 'tree'} else name}")
        Path(given[name]).write_text(text)
    said = place.call(*(word.format(**given) for word in words), codes=(0, 1, 2, 3))
    assert leaks(said.replace(str(tmp_path), "").encode()) == set(), said
    place.judge()


@pytest.mark.slow
def test_commands_that_search(place):
    words = (place.path("o"), *ROLES)
    place.call("explore", *words, "--masking", "noise(0.5)", "--masking", "microaggregation(5)", "-o", "points.csv",
               "--json", "e.json", "--html", "e.html", "--folder", "explored", "--chart", "e.svg")  # fmt: skip
    place.call("explore", *words, "--glance", "--json", "g.json", "--html", "g.html", "--folder", "glanced")
    place.call("protect", *words, "--policy", "internal", "--budget", "5s", "-o", place.out("safe.csv", data=True),
               "--plan", "plan.toml", "--points", "tried.csv", "--folder", "protected", "--chart", "p.svg")  # fmt: skip
    place.judge()


@pytest.mark.slow
def test_commands_on_other_kinds_of_release(place):
    told = ("--json", "x.json", "--html", "x.html")
    place.call("assess-tables", place.path("t"), "--confidential", "diagnosis", "--original", place.path("o"), *told)
    place.call("network", place.path("n"), place.path("nr"), "--truth", place.path("nk"), "--records", "n.csv", *told)
    place.call("assess", place.path("v"), place.path("vr"), "--id", "person", "--records", "v.csv", *told)
    place.call("assess", place.path("r"), "--confidential", "diagnosis", *SOME, *told)
    place.call("link", place.path("c"), place.path("r"), "-o", "believed.csv", "--chart", "believed.svg")
    place.call("audit", place.path("o"), "--masking", HARD, "--runs", "60", "--json", "audit.json")
    place.call("utility", place.path("o"), place.path("r"), "-o", "utility.json")
    place.judge()


@pytest.mark.slow
def test_commands_on_places_and_networks(place):
    """Places are canaries too. Of a masked network only the key names anybody."""
    places, tied = place.path("p"), place.out("named.csv", data=True)
    place.call("graph", places, places, "--labels", "town,sex", "--original-lonlat", "x,y", "--released-lonlat", "x,y",
               "--planar", "--tolerance", "1", "--truth", "person", "-o", "pairs.csv")  # fmt: skip
    place.call("graph-sweep", places, "--labels", "town,sex", "--lonlat", "x,y", "--planar", "--masking",
               "place_noise(1000)", "--repetitions", "1", "-o", "sweep.csv", "--chart", "sweep.svg")  # fmt: skip
    place.call("mask-network", place.path("n"), "--ends", "a,b", "-o", "unnamed.csv", "--key", tied)
    assert leaks(tied.read_bytes()) == {"Zyxid"}
    place.judge()


@pytest.mark.slow
def test_a_model(place):
    """It learns from canaries, in numbers and in the class that it predicts."""
    table, path = pl.read_csv(place.path("o")), place.folder / "in" / "m.pkl"
    path.write_bytes(pickle.dumps(GaussianNB().fit(table.select("income", "cost").to_numpy(), table["diagnosis"])))
    place.call("assess-model", path, place.path("o"), "--trust", "--control", place.path("c"), "--target", "diagnosis",
               "--ignore", "person,town,sex,born", "--shadows", "8", "--json", "m.json", "--html", "m.html",
               "--records", "m.csv", codes=(0, 1, 2, 3))  # fmt: skip
    assert (place.folder / "out" / "m.html").exists()
    place.judge()


@pytest.mark.slow
def test_an_engine_that_keeps_tables_on_disk(place):
    place.call("assess", place.path("o"), place.path("r"), *ROLES, "--engine", "duckdb", "--memory", "1GB", "--json",
               "duck.json", "--html", "duck.html")  # fmt: skip
    place.judge()


@pytest.mark.slow
def test_other_ways_to_attack(place):
    """Beside an earlier release, a plan alone, with little time, a claim of differential privacy, a synthetic table."""
    both = (place.path("o"), place.path("r"))
    place.call("assess", *both, *ROLES, *SOME, "--with", place.path("r"), "--json", "w.json", "--html", "w.html")
    place.call("assess", *both, *ROLES, "--plan")
    place.call("assess", *both, *ROLES, "--budget", "2s", "--json", "brief.json", "--html", "brief.html")
    place.call("assess", *both, *ROLES, *SOME, "--claim-epsilon", "1", "--json", "dp.json", "--html", "dp.html")
    place.call("assess", *both, "--ignore", "person", "--synthetic", "--control", place.path("c"), "--only",
               "copies,keys,singling", "--json", "syn.json", "--html", "syn.html", "--records", "syn.csv")  # fmt: skip
    place.judge()


def test_every_command_is_called():
    """`serve` starts these commands, and its pages are searched in tests/web; `warmup` and `schema` take no table."""
    called = set(re.findall(r'call\(\s*"([a-z-]+)"', Path(__file__).read_text(encoding="utf-8")))
    assert set(COMMANDS) - called == {"serve", "warmup"}


@pytest.mark.slow
def test_commands_without_a_table_of_yours(place):
    """Nothing of theirs is confidential; their files are private all the same, and nothing is left behind."""
    place.call("measures")
    place.call("schema", "report")
    place.call("selfcheck", "--only", "anonymity")
    place.call("demo", "--n", "40", "-o", "demo")
    place.judge()


@pytest.mark.slow
def test_certificates_signatures_and_verification(attacked):
    attacked.call("assess", attacked.path("o"), attacked.path("r"), *ROLES, "--only", "nearest,uniqueness", "--json",
                  "b.json", "--certificate", "cert.html", "--public-certificate", "public.html")  # fmt: skip
    attacked.call("sign", "--new-key", "key.pem")
    attacked.call("sign", "cert.jsonld", "--key", "key.pem", "--name", "Dr A")
    attacked.call("verify", "cert.jsonld")
    attacked.call("verify", "b.json")
    attacked.judge()
