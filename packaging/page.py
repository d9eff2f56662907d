"""The tables of docs/packaging.md, from pyproject.toml and what the trials have shown: `python packaging/page.py`.

Text between ``<!-- made: name -->`` and ``<!-- end -->`` is replaced; ``--check`` fails where it is something else.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from trials import NOTES, ROOT, name_of, requirements

PAGE = ROOT / "docs" / "packaging.md"
PLACE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SHOWN = ("numba", "numpy", "pandas", "polars", "pyarrow", "scikit-learn", "scipy", "typer")
TRIALS = {"package": "wheel, demo", "oldest": "lower bounds", "pandas2": "pandas 2"}


def megabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 1e6:.1f} MB"


def needed(seen: dict[str, Any]) -> str:
    """Direct dependencies with bound, version, licence and size; then the others."""
    parts = seen["package"]["parts"]
    bounds = {name_of(line): line.removeprefix(name_of(line)) for line in requirements()}
    lines = ["| package | bound | version | licence | size |", "|---|---|---|---|---|"]
    for name in [*bounds, *(name for name in parts if name not in {*bounds, "unmask"})]:
        version, licence, size = parts[name]
        bound = f"`{bounds[name]}`" if name in bounds else "by others"
        lines.append(f"| {name} | {bound} | {version} | {licence} | {megabytes(size)} |")
    return "\n".join(lines) + "\n"


def sizes(seen: dict[str, Any]) -> str:
    """Number and size in a sentence."""
    found, direct = seen["package"], len(requirements())
    others = {name: size for name, (_, _, size) in found["parts"].items() if name != "unmask"}
    return (
        f"The wheel has {megabytes(found['wheel'])}, the sdist {megabytes(found['sdist'])}; installed, unmask itself "
        f"has {megabytes(found['parts']['unmask'][2])}. It needs {direct} packages directly and {len(others)} in all, "
        f"which take {megabytes(sum(others.values()))} (seen on {found['on']}, Python {found['python']}).\n"
    )


def tried(seen: dict[str, Any]) -> str:
    """What was tried, with which versions, and how many tests passed."""
    lines = [f"| trial | Python | {' | '.join(SHOWN)} | tests passed |", "|---" * (len(SHOWN) + 3) + "|"]
    for name, one in seen.items():
        versions = one.get("versions") or {part: entry[0] for part, entry in one["parts"].items()}
        cells = [versions.get(part, "-") for part in SHOWN]
        words = TRIALS.get(name, "newest of everything")
        lines.append(f"| {words} | {one['python']} | {' | '.join(cells)} | {one.get('tests', 'demo, pip check')} |")
    return "\n".join(lines) + "\n"


def made(text: str) -> str:
    """The page with its tables as they are now."""
    seen = json.loads(NOTES.read_text(encoding="utf-8"))
    tables = {"needed": needed, "sizes": sizes, "tried": tried}
    return PLACE.sub(lambda found: f"{found[1]}{tables[found[2]](seen)}{found[3]}", text)


def main() -> int:
    """Write the page, or compare."""
    before = PAGE.read_text(encoding="utf-8")
    after = made(before)
    if "--check" in sys.argv:
        return int(after != before)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
