from __future__ import annotations

import pytest
from demo_report import make


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The report of the demo, made once for every test of this folder."""
    return make(tmp_path_factory.mktemp("demo"))
