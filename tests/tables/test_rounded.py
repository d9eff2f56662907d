"""Rounded and cut-off numbers are recognised; noise is neither, however small the numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.intake.containing import containing

DRAW = np.random.default_rng(4)
KNOWN = DRAW.uniform(15, 40, 300).round(1)


@pytest.mark.parametrize("step", [0.5, 2.0, 10.0])
def test_rounding_is_recognised_with_its_step(step):
    found = containing(KNOWN, np.round(KNOWN / step) * step)
    assert found is not None and found.words == f"numbers are rounded to multiples of {step:g}"
    assert found.own.all()


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_noise_is_no_rounding(scale):
    """Small numbers are nearly nothing beside a wide step, and no multiples of it."""
    known = KNOWN * scale
    noisy = (known + DRAW.normal(0, 3 * scale, known.size)).round(4)
    assert containing(known, noisy) is None


@pytest.mark.parametrize("step", [10.0, 0.5])
def test_a_number_that_is_off_the_grid_is_found_wherever_it_stands(step):
    """The first numbers are looked at before all; one beyond them decides as much."""
    known = np.random.default_rng(3).normal(0, 500, 3000)
    published = np.round(known / step) * step
    assert containing(known, published).words.endswith(f"{step:g}")
    published[-1] += 0.3 * step
    found = containing(known, published)
    assert found is None or not found.words.endswith(f"multiples of {step:g}")
