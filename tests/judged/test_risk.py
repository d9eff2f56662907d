"""What the finding about the risks of people says, recomputed person by person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judged.tables import agrees
from naive.above import above
from unmask import Release, assess

CORE = ["anonymity", "channel", "nearest", "one_to_one", "uniqueness"]


@pytest.mark.parametrize(("noise", "profile", "k"), [(0.1, "public", 11), (0.3, "partner", 5), (3.0, "internal", 3)])
def test_people_above_a_risk(noise, profile, k):
    """Those without whom so many of the people of largest risk are not found."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(90, 3))
    tables = (pl.DataFrame(side, schema=["a", "b", "c"]) for side in (x, x + noise * rng.normal(size=x.shape)))
    found = assess(Release(*tables), only=CORE, policy=profile)
    told = {finding.key: finding.estimate for finding in found.findings}
    hits = found.records[found.document.people.measure].to_list()
    assert agrees(told["risk.above"], above(found.risks.tolist(), hits, k, attacks=len(CORE)))
    assert (told["risk.above"].low > 0) == (noise < 1)


def test_it_is_not_told_where_the_best_attack_is_not_known():
    x = pl.DataFrame({"a": np.arange(60.0), "b": np.arange(60.0) % 7})
    assert "risk.above" not in {finding.key for finding in assess(Release(x, x), only=["nearest"]).findings}
