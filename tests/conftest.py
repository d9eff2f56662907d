from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from reference import BROWSERS, PEERS, REFERENCE

FOLDER = tempfile.mkdtemp(prefix="unmask-tests-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["UNMASK_KEY"] = str(Path(FOLDER) / "key")  # no test reads or writes the key of who runs it
Path(os.environ["UNMASK_KEY"]).write_text("5e" * 32, encoding="ascii")

pytest_plugins = ["engine_fixtures"]  # the engines that counts are tested on

settings.register_profile(
    "unmask", deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unmask")


def pytest_collection_modifyitems(items):
    """Skip, saying why, what needs something that is not here. Under CI nothing may be skipped for that: it fails."""
    reasons = {
        "casc": None
        if (REFERENCE / "golden").is_dir()
        else f"no reference tables at {REFERENCE.resolve()}: set UNMASK_DATA",
        "peers": None if PEERS.exists() else f"no second tools at {PEERS}: make peers, or set UNMASK_PEERS",
        "browser": None if any(map(shutil.which, BROWSERS)) else f"no browser: none of {', '.join(BROWSERS)}",
    }
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker) and not os.environ.get("CI"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True, scope="session")
def _no_helper():
    """Tests share the processors among themselves: a second process for each would only take them from others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unmask.linkage.channel.helper.LEAST", 10**9)
        yield


@pytest.fixture
def files(tmp_path):
    """Eighty patients and a masked release of them, as files."""
    from unmask import datasets, parse_masking

    people = datasets.patients(80, seed=5)
    people.write_csv(tmp_path / "a.csv")
    parse_masking("noise(0.3)").apply(people, 1).write_csv(tmp_path / "b.csv")
    return tmp_path / "a.csv", tmp_path / "b.csv"
