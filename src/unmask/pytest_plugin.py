"""For tests of a data pipeline: the fixture ``assert_safe`` fails a test whose release is not shown to be safe.

Installed with unmask, pytest finds it by itself::

    def test_release(assert_safe):
        assert_safe("original.parquet", "release.parquet", id="patient", policy="partner")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from unmask import Assessment, Policy

MOST = 8  # findings that a failure names


def check_safe(
    original: object,
    released: object,
    *,
    policy: Policy | str | Path | None = None,
    only: Iterable[str] | None = None,
    skip: Iterable[str] = (),
    seed: int = 0,
    **roles: Any,  # noqa: ANN401 - those of Release
) -> Assessment:
    """Assess a release and raise AssertionError, with the findings that stand in the way, unless it is safe.

    ``roles`` are those of `unmask.Release`: id, quasi, confidential, synthetic ..
    """
    from unmask import Release, assess  # noqa: PLC0415 - pytest starts without them
    from unmask.evidence import name_of  # noqa: PLC0415

    __tracebackhide__ = True  # the message says it all

    assessment = assess(Release(original, released, **roles), policy=policy, only=only, skip=skip, seed=seed)
    if assessment.verdict == "safe":
        return assessment
    bad = [f for f in assessment.findings if f.outcome in {"against", "inconclusive", "could not run"}]
    lines = [f"  {name_of(one.key)} ({one.key}): {one.claim.rstrip('.')}: {one.reason}." for one in bad[:MOST]]
    lines += [f"  and {len(bad) - MOST} more"] if len(bad) > MOST else []
    raise AssertionError("\n".join([f"the release is {assessment.verdict}: {assessment.reason}", *lines]))


@pytest.fixture
def assert_safe() -> Callable[..., Assessment]:
    """Call it with the original, the release, a policy and roles; it returns the assessment where that is safe."""
    return check_safe
