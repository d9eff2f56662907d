"""Run the examples of the documentation and hold what the pages show against what comes out.

A page shows its examples in four ways, all of them plain Markdown:

- a ``python`` block runs, together with the blocks above it, and the ``text`` block below it is what it printed;
- a ``console`` block holds commands after ``$ `` and, below each, what the command printed;
- a comment ``<!-- picture: expression -->`` stands above an image: the expression, a `Figure` of a measure or a
  finished SVG text, is drawn into ``images/``;
- a block below ``<!-- not run -->`` is only read.

``--check`` (the default) says what differs and fails; ``--write`` puts what came out into the pages.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
FENCE = re.compile(r"^```([^`]*)$")
PICTURE = re.compile(r"^<!-- picture: (.+) -->$")
SKIP = "<!-- not run -->"
SECONDS = 120  # that one command may take
DAY = re.compile(
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page: a fenced block with its language, a picture with its expression, or prose."""

    kind: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the lines as they stand in the page."""
        if self.kind in {"prose", "picture"}:
            return "\n".join(self.lines)
        return "\n".join([f"```{self.kind.removeprefix('fence:')}", *self.lines, "```"])


def split(page: str) -> list[Block]:
    """Cut a page into prose, fenced blocks and pictures."""
    blocks: list[Block] = []
    prose: list[str] = []
    lines = page.split("\n")
    at = 0
    while at < len(lines):
        fence, picture = FENCE.match(lines[at]), PICTURE.match(lines[at])
        if fence and not (prose and prose[-1] == SKIP):
            end = lines.index("```", at + 1)
            blocks += [Block("prose", tuple(prose)), Block(f"fence:{fence[1]}", tuple(lines[at + 1 : end]))]
            prose, at = [], end + 1
        elif fence:
            end = lines.index("```", at + 1)
            prose, at = prose + lines[at : end + 1], end + 1
        elif picture:
            end = at + 1
            while end < len(lines) and lines[end].startswith(("![", "*")):
                end += 1
            blocks += [Block("prose", tuple(prose)), Block("picture", tuple(lines[at:end]))]
            prose, at = [], end
        else:
            prose.append(lines[at])
            at += 1
    return [block for block in [*blocks, Block("prose", tuple(prose))] if block.lines or block.kind != "prose"]


def dated(printed: list[str], shown: tuple[str, ...]) -> list[str]:
    """What was printed, with the day that the page shows in the place of today's: else a page would hold for a day."""
    day = DAY.search("\n".join(shown))
    if day is None:
        return printed
    now = datetime.now(UTC)
    for moment in (now, now - timedelta(minutes=10)):  # it may have been printed before midnight
        printed = [line.replace(f"{moment.day} {moment:%B %Y}", day[0]) for line in printed]
    return printed


class Page:
    """A page that is being run: its names, its folder, and the blocks that came out."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Begin with nothing run."""
        self.path, self.folder = path, folder
        self.names: dict[str, Any] = {"__name__": "__docs__", "findings": _findings}
        self.out: list[Block] = []
        self.pictures: dict[Path, str] = {}

    def run(self, text: str) -> str:
        """Run every block in order and return the page as it ought to be."""
        blocks = split(text)
        for number, block in enumerate(blocks):
            before = blocks[number - 1] if number else None
            if block.kind == "fence:text" and before is not None and before.kind == "fence:python":
                continue  # the old output: replaced below
            if block.kind == "fence:python":
                self.out.append(block)
                printed = self.python("\n".join(block.lines))
                if printed:
                    self.out.append(Block("fence:text", tuple(printed.split("\n"))))
            elif block.kind == "fence:console":
                self.out.append(Block(block.kind, tuple(dated(self.console(block.lines), block.lines))))
            elif block.kind == "picture":
                self.out.append(Block(block.kind, tuple(self.picture(block.lines))))
            else:
                self.out.append(block)
        return "\n".join(block.text for block in self.out)

    def python(self, code: str) -> str:
        """Run Python in the page's names, and return what it printed."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.chdir(self.folder):
            exec(compile(code, str(self.path), "exec"), self.names)  # noqa: S102 - our own pages
        return printed.getvalue().rstrip("\n")

    def console(self, lines: tuple[str, ...]) -> list[str]:
        """Run each command, and return the commands with what they printed."""
        shown: list[str] = []
        place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        surroundings = {**os.environ, "PATH": place, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
        for command in _commands(lines):
            done = subprocess.run(  # noqa: S603 - our own pages
                ["/bin/bash", "-c", command.replace(" \\\n", " ")],
                cwd=self.folder,
                env=surroundings,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            if done.returncode not in {0, 1, 3}:  # 1 and 3 are verdicts
                raise RuntimeError(f"{command!r} ended with {done.returncode}:\n{done.stderr}")
            printed = [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")] if done.stdout.strip() else []
            shown += [*f"$ {command}".split("\n"), *printed]
        return shown

    def picture(self, lines: tuple[str, ...]) -> list[str]:
        """Draw the figure that the expression names, and return the image with its texts."""
        from unmask.report import draw  # noqa: PLC0415 - pulls altair

        expression = PICTURE.match(lines[0])
        with contextlib.chdir(self.folder):
            found = eval(expression[1], self.names)  # type: ignore[index]  # noqa: S307 - our own pages
        svg = found if isinstance(found, str) else draw(found)
        alt, caption = (
            ("", [line for line in lines[1:] if line.startswith("*")])
            if isinstance(found, str)
            else (found.alt, [f"*{found.title}* {found.caption}"])
        )
        if isinstance(found, str):
            alt = (re.search(r'aria-label="([^"]*)"', svg) or ["", ""])[1]
        number = len(self.pictures) + 1
        part = self.path.relative_to(DOCS).with_suffix("")
        target = DOCS / "images" / part.parent / (part.name + (f"-{number}" if number > 1 else "") + ".svg")
        data = svg if isinstance(found, str) else json.dumps(_rounded(asdict(found)))
        self.pictures[target] = f"{svg}\n<!-- data {hashlib.sha256(data.encode()).hexdigest()[:16]} -->\n"
        link = os.path.relpath(target, self.path.parent).replace(os.sep, "/")
        return [lines[0], f"![{_plain(alt)}]({link})", *([] if not caption else list(caption))]


def _findings(assessment: Any) -> str:  # noqa: ANN401 - an Assessment
    """Draw every rate with its interval, limit and blind guess: for measures without a picture of their own."""
    from unmask.report.charts import findings_chart  # noqa: PLC0415 - pulls altair

    return findings_chart(assessment.document.findings) or ""


def _plain(alt: str) -> str:
    return alt.replace("[", "(").replace("]", ")").replace("\n", " ")


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Round to five digits: the last bits of a number differ between processors, and no picture shows them."""
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _commands(lines: tuple[str, ...]) -> list[str]:
    commands: list[str] = []
    open_ = False
    for line in lines:
        if line.startswith("$ "):
            commands.append(line[2:])
        elif open_:
            commands[-1] += "\n" + line
        open_ = line.endswith("\\") and (open_ or line.startswith("$ "))
    return commands


def pages(names: list[str]) -> list[Path]:
    """Return the pages with something to run, or the named ones; a name of none of them is refused."""
    every = sorted(path for path in DOCS.rglob("*.md") if "papers" not in path.parts)
    run = [path for path in every if any(block.kind != "prose" for block in split(path.read_text(encoding="utf-8")))]
    known = {name: path for path in run for name in (path.stem, str(path.relative_to(DOCS)))}
    unknown = [name for name in names if name not in known]
    if unknown:
        allowed = ", ".join(path.stem for path in run)
        sys.stderr.write(f"no page with examples: {', '.join(unknown)}\nallowed: {allowed}\n")
        raise SystemExit(2)
    return sorted({known[name] for name in names}) or run


def _data(svg: str) -> str:
    return (re.search(r"<!-- data (\w+) -->", svg) or ["", ""])[1]


def main() -> int:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else "")
    parser.add_argument(
        "names", nargs="*", help="pages, such as nearest or tutorial/hospital.md; all when none is named"
    )
    parser.add_argument("--write", action="store_true", help="put what comes out into the pages")
    options = parser.parse_args()
    failed = 0
    for path in pages(options.names):
        begun, old = time.perf_counter(), path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            page = Page(path, Path(folder))
            try:
                new = page.run(old)
            except Exception:  # noqa: BLE001 - the other pages are still worth knowing about
                failed += 1
                sys.stdout.write(f"{path.relative_to(DOCS)} could not run\n{traceback.format_exc()}\n")
                continue
        stale = [
            target
            for target, svg in page.pictures.items()
            if not target.exists() or _data(target.read_text(encoding="utf-8")) != _data(svg)
        ]
        if options.write:
            for target in stale:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(page.pictures[target], encoding="utf-8")
            if new != old:
                path.write_text(new, encoding="utf-8")
        elif new != old or stale:
            failed += 1
            shown = str(path.relative_to(DOCS))
            sys.stdout.writelines(
                difflib.unified_diff(
                    old.splitlines(keepends=True), new.splitlines(keepends=True), shown, "what came out"
                )
            )
            sys.stdout.writelines(f"{shown}: {target.relative_to(DOCS)} shows other data\n" for target in stale)
        sys.stdout.write(f"{path.relative_to(DOCS)} {time.perf_counter() - begun:.1f} s\n")
        sys.stdout.flush()
    if failed:
        sys.stdout.write(f"{failed} pages show what does not come out: python docs/examples.py --write, and look\n")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
