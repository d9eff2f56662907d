from __future__ import annotations

import pytest

from reference import REFERENCE


def pytest_collection_modifyitems(items):
    """Skip what needs the reference tables where they are missing."""
    if not (REFERENCE / "golden").is_dir():
        for item in items:
            if item.get_closest_marker("casc"):
                item.add_marker(pytest.mark.skip(reason="no reference tables: set UNMASK_DATA"))
