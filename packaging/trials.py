"""Try the package as others get it, each time in a fresh environment, and note what was seen in trials.json.

``python packaging/trials.py package``: wheel and sdist are built and installed, `unmask demo` runs.
``... oldest``: exactly the lower bounds of pyproject.toml, and a chosen set of tests.
``... newest [PYTHON]``: the newest of everything, and the same tests; PYTHON: another interpreter, such as python3.13.
``... pandas2``: the newest of everything but pandas, of which the last 2 is taken.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / "packaging" / "trials.json"
EXTRAS = ("web", "sign", "models")  # that users install; the other extras are ours
BESIDE = ("duckdb", "hypothesis", "jsonschema", "pandas", "pytest", "pyyaml")  # of `dev`: what the chosen tests need
CHOSEN = (  # reading of every format, frames of every kind, attacks, reports, the command line
    "tests/tables",
    "tests/intake",
    "tests/groups/test_anonymity.py",
    "tests/groups/test_uniqueness.py",
    "tests/linkage/test_nearest.py",
    "tests/masking/test_masking_base.py",
    "tests/report/test_document.py",
    "tests/report/test_reading.py",
    "tests/report/test_charts.py",
    "tests/test_assessment.py",
    "tests/cli/test_assess.py",
    "tests/cli/test_verify.py",
    "tests/certificate/test_signature.py",
)
PASSED = re.compile(r"(\d+) passed")


def project() -> dict[str, object]:
    """The [project] table."""
    found: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def requirements(extras: Iterable[str] = (), beside: Iterable[str] = ()) -> list[str]:
    """What is needed: always, for extras, and single packages of `dev`."""
    of = project()
    optional: dict[str, list[str]] = of["optional-dependencies"]  # type: ignore[assignment]
    always: list[str] = of["dependencies"]  # type: ignore[assignment]
    found = [*always, *(line for extra in extras for line in optional[extra])]
    return [*found, *(line for line in optional["dev"] if name_of(line) in set(beside))]


def name_of(requirement: str) -> str:
    """The package of a requirement."""
    return re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0]


def lower_bound(requirement: str) -> str:
    """The oldest version that a requirement allows, as one that allows no other."""
    found = re.search(r">=\s*([\d.]+)", requirement)
    if found is None:
        raise SystemExit(f"{requirement} has no lower bound")
    return f"{name_of(requirement)}=={found[1]}"


class Place:
    """An environment in a folder, made where there is none."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.folder, self.python = folder, folder / "env" / "bin" / "python"
        if not self.python.exists():
            subprocess.run([python, "-m", "venv", folder / "env"], check=True)

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the environment's Python, with nothing of this folder on its path."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        made = subprocess.run(
            [self.python, *words], cwd=self.folder, env=clean, capture_output=True, text=True, check=False
        )
        if check and made.returncode:
            raise SystemExit(
                f"{' '.join(words)} ended with {made.returncode}\n{made.stdout[-4000:]}{made.stderr[-4000:]}"
            )
        return made

    def install(self, *what: str) -> None:
        """Install, and see that what is there fits together."""
        self.run("-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", *what)
        self.run("-m", "pip", "check")

    def versions(self, names: Iterable[str]) -> dict[str, str]:
        """Which versions are there."""
        listed = json.loads(self.run("-m", "pip", "list", "--format", "json", "--disable-pip-version-check").stdout)
        there = {entry["name"].lower().replace("_", "-"): entry["version"] for entry in listed}
        return {name: there[name.lower()] for name in sorted(names) if name.lower() in there}

    def test(self, tests: Iterable[str] = CHOSEN) -> str:
        """Run the chosen tests of this folder on what is installed; the number that passed."""
        paths = [str(ROOT / one) for one in tests]
        words = ["-m", "pytest", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]  # it says -q: once
        made = self.run(*words, f"--rootdir={ROOT}", "-m", "not slow", *paths, check=False)
        told = PASSED.search(made.stdout)
        if made.returncode or told is None:
            raise SystemExit(f"tests fail\n{made.stdout[-6000:]}{made.stderr[-2000:]}")
        print(made.stdout.strip().splitlines()[-1])
        return told[1]


def build(into: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it, with the hatchling that is here."""
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", into, ROOT]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return next(into.glob("*.tar.gz")), next(into.glob("*.whl"))


def package(place: Place) -> dict[str, object]:
    """Install the wheel, which was made from the sdist; run the demo; read what is there."""
    sdist, wheel = build(place.folder / "dist")
    place.install(str(wheel))
    version = place.run("-m", "unmask", "--version").stdout.strip()
    demo = place.run("-m", "unmask", "demo", "-o", "demo", check=False)
    made = sorted(path.name for path in (place.folder / "demo").glob("*"))
    if demo.returncode or "report.html" not in made:
        raise SystemExit(f"the demo ended with {demo.returncode}\n{demo.stdout[-2000:]}{demo.stderr[-2000:]}")
    parts = json.loads(place.run(str(ROOT / "packaging" / "sbom.py"), "--sizes").stdout)
    return {"version": version, "wheel": wheel.stat().st_size, "sdist": sdist.stat().st_size, "parts": parts}


def oldest(place: Place) -> dict[str, object]:
    """Exactly the lower bounds."""
    needed = requirements(EXTRAS, BESIDE)
    place.install(*map(lower_bound, needed), str(ROOT))
    found = place.versions(map(name_of, needed))
    return {"versions": found, "tests": place.test()}


def newest(place: Place, *but: str) -> dict[str, object]:
    """The newest of everything, ``but`` some."""
    needed = requirements(EXTRAS, BESIDE)
    place.install(*needed, *but, str(ROOT))
    return {"versions": place.versions(map(name_of, needed)), "tests": place.test()}


def pandas2(place: Place) -> dict[str, object]:
    """The last pandas 2."""
    return newest(place, "pandas<3")


def note(trial: str, seen: dict[str, object]) -> None:
    """Keep what a trial has shown."""
    before = json.loads(NOTES.read_text(encoding="utf-8")) if NOTES.exists() else {}
    text = json.dumps({**before, trial: seen}, indent=1, sort_keys=True, ensure_ascii=False)
    NOTES.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Make one trial."""
    trials = {"package": package, "oldest": oldest, "newest": newest, "pandas2": pandas2}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("trial", choices=trials)
    parser.add_argument("python", nargs="?", default=sys.executable)
    parser.add_argument("--note", action="store_true", help="note what was seen in packaging/trials.json")
    parser.add_argument("--keep", type=Path, help="where the environment stays, to be used again")
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="unmask-trial-") as folder:
        place = Place(given.keep or Path(folder), given.python)
        python = place.run("-c", "import platform; print(platform.python_version())").stdout.strip()
        seen = {**trials[given.trial](place), "python": python, "on": datetime.now(UTC).date().isoformat()}
    short = ".".join(python.split(".")[:2])
    name = f"newest {short}" if given.trial == "newest" else given.trial
    if given.note:
        note(name, seen)
    print(f"{name}: all is well, with Python {python}, in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
