"""Real people's rows in a coarse synthetic table: what other people's rows would show too must not make it safe."""

import numpy as np
import polars as pl
import pytest

from unmask import Release, assess


def drawn(rng, n):
    """Sex, and four columns of few categories: about seven rows of ten equal somebody else's."""
    sex, region = rng.integers(0, 2, n), rng.choice(6, n, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    school = (region + rng.choice(4, n, p=[0.6, 0.2, 0.1, 0.1])) % 8
    home, work = rng.choice(5, n, p=[0.4, 0.3, 0.15, 0.1, 0.05]), sex * 2 + rng.integers(0, 4, n)
    return pl.DataFrame(
        {
            name: [f"{name}{k}" for k in values]
            for name, values in zip("srchw", (sex, region, school, home, work), strict=True)
        }
    )


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_table_of_real_rows_is_not_safe_because_rows_are_common(share, outside):
    rng = np.random.default_rng(0)
    original, control, fresh = (drawn(rng, 800) for _ in range(3))
    real = int(share * 800)
    made = pl.concat([original.sample(real, seed=0), fresh.head(800 - real)]).sample(fraction=1, shuffle=True, seed=1)
    release = Release(original, made, synthetic=True, control=control if outside else None)
    found = {f.key: f for f in assess(release, only=["copies"], utility="none").findings}
    assert found["copies.exact"].outcome != "for"
    assert found["copies.unique"].outcome != "for"
    if not outside:
        assert found["copies.exact"].estimate.value > 0.05
