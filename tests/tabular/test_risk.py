import json

import numpy as np
import polars as pl
import pytest

import unmask
from command_line import run, shell
from naive import tabular as naive
from unmask.errors import ParameterError, TableError
from unmask.report.deciding import by_question
from unmask.report.reading import read_report
from unmask.tabular import Reading, report_tables, table_risk

SQUARE = pl.DataFrame(
    {"sex": ["f", "f", "m", "m"], "ill": ["no", "yes", "no", "yes"], "count": [12, 0, 9, 3]}
)  # every woman is well


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "town": rng.choice(list("ABCDEF"), n),
        "ill": rng.choice(["no", "flu", "hiv"], n, p=[0.8, 0.15, 0.05]),
    })  # fmt: skip


def counted(table, *by):
    return table.group_by(by).len("count").sort(by)


def test_a_group_with_one_value_left_is_learnt_and_counted_exactly():
    risk = table_risk([SQUARE], confidential="ill")
    assert (risk.people, risk.learnt, risk.surprising) == (24, (12, 12), (0, 0))
    assert risk.commonest == pytest.approx(21 / 24)


def test_the_rare_value_of_a_group_is_the_surprise():
    turned = SQUARE.with_columns(count=pl.Series([0, 2, 19, 3]))  # both women are ill
    assert table_risk([turned], confidential="ill").surprising == (2, 2)


def test_what_is_learnt_is_that_of_all_fillings():
    table = pl.DataFrame({
        "sex": ["f", "f", "m", "m", "Total", "Total", "Total"], "ill": ["no", "yes", "no", "yes", "no", "yes", "Total"],
        "n": ["x", "0", "2", "x", "4", "1", "5"],
    })  # fmt: skip
    risk = table_risk([table], confidential="ill")
    dense = risk.cells.covers.toarray()
    published = [(np.flatnonzero(dense[i]), risk.cells.low[i], risk.cells.high[i]) for i in range(dense.shape[0])]
    ways = naive.fillings(4, [one for one in published if one[2] < np.inf], most=5)
    known = naive.learnt(ways, [[[0], [1]], [[2], [3]]])  # by sex: no, yes
    assert risk.learnt == naive.ends(ways, sorted(known)) == (2, 2)


def test_sizes_are_the_most_that_a_cell_can_have_and_follow_from_withheld_cells_too():
    risk = table_risk([pl.DataFrame({"town": ["A", "B", "C", "Total"], "n": ["x", "40", "60", "103"]})])
    assert sorted(np.unique(risk.sizes(), return_counts=True)[1].tolist()) == [3, 40, 60]
    assert (risk.n_withheld, risk.n_recomputed) == (1, 1)


def test_two_tables_tell_more_together_than_each_by_itself():
    young = pl.DataFrame({"age": ["15-19", "20-29"], "n": [40, 50]})
    younger = pl.DataFrame({"age": ["15-18", "19-29"], "n": [38, 52]})
    alone = [int((table_risk([one]).sizes() < 11).sum()) for one in (young, younger)]
    assert alone == [0, 0]
    assert int((table_risk([young, younger]).sizes() < 11).sum()) == 2


def test_the_original_counts_and_tables_of_others_are_refused():
    table = people()
    tables = [counted(table, "sex", "town", "ill"), counted(table, "town")]
    with_truth = table_risk(tables, confidential="ill", original=table)
    assert with_truth.learnt == table_risk(tables, confidential="ill").learnt
    with pytest.raises(TableError, match="do not agree with the original"):
        table_risk(tables, confidential="ill", original=people(seed=2))
    with pytest.raises(TableError, match="lacks dimensions"):
        table_risk(tables, original=table.drop("town"))


def test_order_of_rows_and_tables_changes_nothing():
    table = people()
    hidden = counted(table, "sex", "town", "ill").with_columns(
        count=pl.when(pl.col("count") < 4).then(None).otherwise(pl.col("count"))
    )
    tables = [hidden, counted(table, "town", "ill"), counted(table, "sex", "ill")]
    one = table_risk(tables, confidential="ill")
    other = table_risk([part.sample(fraction=1, shuffle=True, seed=3) for part in tables[::-1]], confidential="ill")
    assert (one.people, one.learnt, one.n_recomputed) == (other.people, other.learnt, other.n_recomputed)
    assert sorted(one.sizes()) == sorted(other.sizes())


def test_amounts_are_judged_by_what_follows_and_by_who_dominates():
    firms = pl.DataFrame({"town": ["A"] * 3 + ["B"] * 3, "amount": [100.0, 5.0, 2.0, 40.0, 41.0, 39.0]})
    table = pl.DataFrame({"town": ["A", "B", "Total"], "amount": [107.0, 120.0, 227.0]})
    risk = table_risk([table], original=firms, reading=Reading(amounts=True))
    assert risk.truth.estimable.tolist() == [True, False, False]  # 2 is less than a tenth of 100
    hidden = table.with_columns(amount=pl.Series(["x", "120", "227"]))
    assert table_risk([hidden], reading=Reading(amounts=True)).n_recomputed == 1
    (reported,) = report_tables(table_risk([table], reading=Reading(amounts=True)))
    assert reported.evidence.outcome == "could not run"


def test_unlisted_combinations_are_withheld_where_the_totals_show_that_they_are_not_empty():
    table = pl.DataFrame({"sex": ["f", "m", "m", "Total"], "ill": ["no", "no", "yes", "Total"], "n": [5, 6, 7, 20]})
    risk = table_risk([table], confidential="ill")
    assert "taken as withheld" in risk.notes[0]
    assert risk.to_frame().filter(sex="f", ill="yes").select("low", "high").row(0) == (2, 2)


def test_verdicts():
    crowds = counted(people(4000), "sex", "ill")
    assert unmask.assess_tables([crowds], confidential="ill").verdict == "safe"
    small = unmask.assess_tables([SQUARE], confidential="ill", policy="partner")
    assert small.verdict == "unsafe"
    assert "3 of 24 people are in cells that must have somebody and can have fewer than 5." in {
        finding.claim for finding in small.findings
    }
    rare = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["no", "yes", "no", "yes"], "count": [0, 40, 900, 60]})
    known = unmask.assess_tables([rare], confidential="ill")
    assert {f.key: f.outcome for f in known.findings}["tables.known"] == "against"


@pytest.mark.parametrize(
    ("options", "words"),
    [({"confidential": "job"}, "no table has the confidential"), ({"p": 1.0}, "p is a share")],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        table_risk([SQUARE], **options)


def test_the_command_line_tells_the_verdict_and_writes_what_follows(tmp_path):
    SQUARE.write_csv(tmp_path / "t.csv")
    done = run("assess-tables", tmp_path / "t.csv", "--confidential", "ill", "--json", tmp_path / "r.json",
               "--html", tmp_path / "r.html", "--cells", tmp_path / "cells.csv")  # fmt: skip
    assert done == 1
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "unsafe"
    assert pl.read_csv(tmp_path / "cells.csv").columns == ["table", "sex", "ill", "low", "high"]
    assert "12 of 24 people have a value of ill" in (tmp_path / "r.html").read_text()
    wrong = shell("assess-tables", tmp_path / "t.csv", "--confidential", "job")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_no_part_of_the_report_contradicts_another(tmp_path):
    """Small cells are singling out and secrets are inference; the certificate and verify answer in words."""
    SQUARE.write_csv(tmp_path / "t.csv")
    assert run("assess-tables", tmp_path / "t.csv", "--confidential", "ill", "-o", tmp_path / "r.json") == 1
    decided = {entry.name: entry.finding for entry in by_question(read_report(tmp_path / "r.json"))}
    assert decided["singling out"].key == "tables.small"
    assert decided["inference"].key.startswith("tables.")
    assert decided["linkability"] is None
    refused = shell("verify", tmp_path / "r.json")
    assert refused.returncode == 2 and "assess-tables" in refused.stderr
