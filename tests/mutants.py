"""Change one thing at a place that decides a number, and see whether a test fails: a mutation run of our own.

`make mutants` (or ``python tests/mutants.py --help``) draws mutants of evidence/, tables/, study/ and of the judged
half of every measure (what `assess` runs and what that calls in the same file), and runs the tests that guard the
file in a child process that has the changed functions in its memory: no file is touched. The survivors are listed;
those that are argued in docs/mutants.md are known, others make the run fail. Pictures, facts, messages and progress
are left out: no policy judges them. With ``--rows FILE`` each result is written as it comes, and a later run goes on
with the mutants that are not in the file yet.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import os
import random
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "mutants.md"
SOURCE = Path("src/unmask")
WHOLE = ("evidence", "tables", "study")  # rooms that are mutated whole
MEASURES = ("linkage", "graph", "max_knowledge", "groups", "disclosure")
JUDGED_TOO = (  # files without a measure that decide a judged number
    "linkage/result.py", "linkage/channel/linking.py", "linkage/channel/posterior.py",
    "linkage/channel/result.py", "linkage/likelihood/posterior.py", "max_knowledge/evidence.py",
    "max_knowledge/compare.py", "disclosure/denoise.py", "disclosure/roc.py",
)  # fmt: skip
ASKED_BY = {  # words of the twins' names, where they are not the file's
    "attribute_test": "attribute", "result": "nearest or one_to_one", "roc": "membership", "denoise": "intervals",
    "copies": "copies or copy", "evidence": "dictionary or permuted",
    "compare": "dictionary or permuted",
}  # fmt: skip
ELSEWHERE = {  # tests of files that have no test file of their own name
    "disclosure/roc.py": "tests/disclosure/test_membership.py",
    "evidence/roc.py": "tests/disclosure/test_membership.py", "evidence/known.py": "tests/linkage/test_channel.py",
    "tables/pairing.py": "tests/tables/test_release.py",
    "tables/scenario.py": "tests/linkage/test_knowledge_curve.py", "study/displace.py": "tests/masking/test_places.py",
    "tables/earlier.py": "tests/publications/test_earlier.py", "tables/folder.py": "tests/test_resume.py",
    "tables/naming.py": "tests/intake/test_identifiers.py", "tables/shapes.py": "tests/intake/test_identifiers.py",
    "tables/days.py": "tests/tables/test_understand.py", "tables/gaps.py": "tests/tables/test_understand.py",
    "tables/words.py": "tests/tables/test_understand.py", "tables/digits.py": "tests/tables/test_roles.py",
}  # fmt: skip
QUICK = "not (slow or peers or casc or browser)"
NOT_JUDGED = {  # what is shown, how far it is, and which stream of random numbers is drawn from
    "Fact", "Figure", "Series", "Observation", "progress", "part", "tell", "silent", "check_memory", "dataclass",
    "default_rng",
}  # fmt: skip
COMPARE = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mod: ast.FloorDiv,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any",
    "floor": "ceil", "ceil": "floor", "argmax": "argmin", "argmin": "argmax", "fmax": "fmin", "nanmax": "nanmin",
    "mean": "sum", "is_null": "is_not_null", "wilson": None,
}  # fmt: skip
WORDS = {"left": "right", "right": "left", "own": "original", "average": "dense"}


@dataclass(frozen=True)
class Mutant:
    """One change: which text of which file becomes what."""

    path: str  # within the root
    function: str
    line: int
    start: int
    end: int
    before: str
    after: str
    nth: int = 1  # of equal changes in one function, from the end

    @property
    def key(self) -> str:
        """Name the mutant as docs/mutants.md does."""
        short = [" ".join(text.split()) for text in (self.before, self.after)]
        again = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.path.removeprefix('src/unmask/')} {self.function}: {short[0]} -> {short[1]}{again}"


# --- making mutants ---------------------------------------------------------------------------------------------------


class Finder(ast.NodeVisitor):
    """Collect every change of one file that is asked for."""

    def __init__(self, path: str, text: str, wanted: set[str] | None) -> None:
        self.path, self.text, self.wanted = path, text, wanted
        self.lines = [0]
        for line in text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line.encode()))
        self.inside: list[str] = []
        self.found: list[Mutant] = []

    def offset(self, line: int, column: int) -> int:
        return self.lines[line - 1] + column

    def add(self, node: ast.expr, changed: ast.expr) -> None:
        self.put(node, ast.unparse(ast.fix_missing_locations(changed)))

    def put(self, node: ast.expr, after: str) -> None:
        if not self.inside:
            return  # constants of a module are budgets, or are pinned by tests of their own
        start, end = self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)
        before = self.text.encode()[start:end].decode()
        self.found.append(Mutant(self.path, ".".join(self.inside), node.lineno, start, end, before, f"({after})"))

    # what is not judged

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        told = ast.unparse(node.returns) if node.returns else ""
        if "Figure" in told or "Fact" in told or node.name in {"__str__", "__repr__", "_notes", "_told"}:
            return
        if self.wanted is not None and not self.inside and node.name not in self.wanted:
            return
        self.inside.append(node.name)
        for child in node.body:
            self.visit(child)
        self.inside.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if self.wanted is not None and not self.inside and node.name not in self.wanted:
            return
        self.inside.append(node.name)
        for child in node.body:
            if isinstance(child, ast.FunctionDef):
                keep, self.wanted = self.wanted, None
                self.visit(child)
                self.wanted = keep
        self.inside.pop()

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave messages alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave sentences alone."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        names = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(node.body)}
        if not names & NOT_JUDGED:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in NOT_JUDGED or name.endswith("Error") or name == "cast":
            return
        other = NAMES.get(name)
        if other is not None:
            func = (
                ast.Name(other, ast.Load())
                if isinstance(node.func, ast.Name)
                else ast.Attribute(node.func.value, other, ast.Load())
            )
            self.put(node.func, ast.unparse(func))
        self.generic_visit(node)

    # what is

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for other in COMPARE.get(type(operator), ()):
                ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                self.add(node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = ARITHMETIC.get(type(node.op))
        text = isinstance(node.left, ast.JoinedStr | ast.Constant) and isinstance(getattr(node.left, "value", ""), str)
        if other is not None and not text:
            self.add(node, ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.add(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.Invert | ast.USub):
            self.put(node, ast.unparse(node.operand))
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.add(node, ast.IfExp(node.test, node.orelse, node.body))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.add(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
            self.put(node.value, ast.unparse(ast.Tuple(node.value.elts[::-1], ast.Load())))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.put(node, str(not value))
        elif isinstance(value, int):
            self.put(node, str(value + 1))
            if value > 0:
                self.put(node, str(value - 1))
        elif isinstance(value, float):
            self.put(node, repr(value * 2 if value else 1.0))
            if value:
                self.put(node, repr(value / 2))
        elif value in WORDS:
            self.put(node, repr(WORDS[value]))


def judged_half(tree: ast.Module) -> set[str]:
    """The run function of a measure and every function and class of the file that it reaches."""
    tops = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    reached = {
        name
        for name, node in tops.items()
        if any("measure" in ast.unparse(decorator)[:8] for decorator in node.decorator_list)
    }
    waiting = list(reached)
    while waiting:
        named = {getattr(n, "id", None) for n in ast.walk(tops[waiting.pop()])}
        new = (named & set(tops)) - reached
        reached |= new
        waiting += sorted(new)
    return reached


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file."""
    text = (ROOT / path).read_text()
    tree = ast.parse(text)
    room = path.relative_to(SOURCE).parts[0]
    whole = room in WHOLE or path.relative_to(SOURCE).as_posix() in JUDGED_TOO
    finder = Finder(path.as_posix(), text, None if whole else judged_half(tree))
    finder.visit(tree)
    seen: Counter[str] = Counter(mutant.key for mutant in finder.found)
    found = []
    for mutant in finder.found:
        found.append(replace(mutant, nth=seen[mutant.key]))
        seen[mutant.key] -= 1
    for mutant in found:
        compile(
            changed(text.encode(), mutant), mutant.path, "exec"
        )  # a mutant that is no program would count as killed
    return found


def changed(text: bytes, mutant: Mutant) -> bytes:
    """The program with the mutant in it."""
    return text[: mutant.start] + mutant.after.encode() + text[mutant.end :]


def files() -> list[Path]:
    """Every file of the rooms that are mutated whole, and every file with a measure."""
    chosen = []
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        inner = path.relative_to(ROOT / SOURCE)
        measure = inner.parts[0] in MEASURES and "\n@measure(" in path.read_text()
        if path.name != "__init__.py" and (inner.parts[0] in WHOLE or measure or inner.as_posix() in JUDGED_TOO):
            chosen.append(path.relative_to(ROOT))
    return chosen


# --- the tests that guard a file --------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """Test files or folders, and words of the tests to run of them (all, where there are none)."""

    paths: tuple[str, ...]
    words: str = ""


@cache
def guards(path: Path) -> tuple[Asked, ...]:
    """Tests to ask first, and tests to ask of who survives them: paths that exist, and words of the tests' names."""
    inner = path.relative_to(SOURCE)
    room, stem = inner.parts[0], inner.parts[1] if len(inner.parts) > 2 else inner.stem
    named = ELSEWHERE.get(inner.as_posix(), f"tests/{room}/test_{stem}.py")
    own = (named,) if (ROOT / named).exists() else ()
    whole = (f"tests/{room}",)
    if room in WHOLE:
        return Asked(own or whole), Asked((*whole, "tests/judged/test_groups.py", "tests/disclosure/test_values.py"))
    if room == "graph":
        return Asked(("tests/judged/test_outside.py",), "graph"), Asked(("tests/graph/test_graph.py",))
    sides = ("outside", "disclosure") if room == "disclosure" else (room,)
    judged = tuple(f"tests/judged/test_{side}.py" for side in sides)
    return Asked(judged, ASKED_BY.get(stem, stem)), Asked(own or (*judged, *whole))


def functions_of(module: ModuleType) -> Iterator[FunctionType]:
    """Every function and method that a module defines, out of whatever wraps it."""
    own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    for value in [*own, *(member for entry in own if isinstance(entry, type) for member in vars(entry).values())]:
        inner = (
            getattr(value, "fget", None) or getattr(value, "__func__", None) or getattr(value, "func", None) or value
        )
        inner = inspect.unwrap(inner) if callable(inner) else inner
        if isinstance(inner, FunctionType):
            yield inner


def codes_of(code: CodeType) -> dict[str, CodeType]:
    """The code of every function and method of a program, by its qualified name."""
    found = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= {inner.co_qualname: inner, **codes_of(inner)}
    return found


def transplant(mutant: Mutant) -> list[tuple[FunctionType, CodeType]]:
    """Give the loaded functions of a file the changed program; which of them are others now, and what they were."""
    module = importlib.import_module(mutant.path.removeprefix("src/").removesuffix(".py").replace("/", "."))
    text = (ROOT / mutant.path).read_bytes()
    if text[mutant.start : mutant.end].decode() != mutant.before:
        raise SystemExit(f"{mutant.path} was changed during the run")
    codes, before = codes_of(compile(changed(text, mutant), mutant.path, "exec")), []
    for function in functions_of(module):
        new, old = codes.get(function.__qualname__), function.__code__
        if new is None or len(new.co_freevars) != len(old.co_freevars):
            continue
        if (new.co_code, new.co_consts, new.co_names) != (old.co_code, old.co_consts, old.co_names):
            before.append((function, old))
            function.__code__ = new
    return before


def forget() -> None:
    """Empty the caches of our functions: they may hold what another mutant said."""
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] == "unmask"]:
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


class Row(NamedTuple):
    """What became of one mutant."""

    result: str  # "killed" or "survives"; "spoiled" or "nowhere" where it could not be told
    by: str = ""  # the test that failed


class Trial:
    """A pytest plugin that collects once and then runs the tests for each mutant until one fails.

    The test that failed must pass again once the mutant is gone, else something was left behind by another mutant, or
    the test fails by itself: "spoiled", and the child ends.
    """

    def __init__(self, mutants: list[Mutant], told: IO[str]) -> None:
        self.mutants, self.told = mutants, told
        self.failed = False

    def say(self, *words: str) -> None:
        self.told.write("\t".join(words) + "\n")
        self.told.flush()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            self.say("spoiled", "collection")
            return True
        for mutant in self.mutants:
            before = transplant(mutant)
            if not before:
                self.say("nowhere", mutant.key)
                return True
            forget()
            killer = self.first_failure(session.items)
            for function, code in before:
                function.__code__ = code
            forget()
            if killer is not None and self.first_failure([killer]) is not None:
                self.say("spoiled", killer.nodeid)
                return True
            self.say("survives" if killer is None else "killed", killer.nodeid if killer else "")
        return True

    def first_failure(self, items: list[pytest.Item]) -> pytest.Item | None:
        for item in items:
            self.failed = False
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.failed:
                return item
        return None


def run(mutants: list[Mutant], tests: Asked, limit: float) -> list[Row]:
    """What becomes of mutants under some tests, in one child; shorter than the list where the child was stopped.

    No file is touched. A mutant for which nothing is said for so many seconds is killed by never ending.
    """
    with tempfile.NamedTemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            _test(mutants, tests, told)
        rows, since, done = [], time.monotonic(), 0
        while not done and time.monotonic() < since + limit:
            time.sleep(0.05)
            done = os.waitpid(child, os.WNOHANG)[0]
            heard = Path(told.name).read_text().splitlines()
            if len(heard) > len(rows):
                since = time.monotonic()
                rows = [Row(*line.split("\t")) for line in heard]
        if not done:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            rows.append(Row("killed", "by never ending"))
        return rows


def _test(mutants: list[Mutant], tests: Asked, told: IO[str]) -> NoReturn:
    os.setsid()
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    words = f"({tests.words}) and not spark" if tests.words else "not spark"
    how = ["-q", "--no-header", "--assert=plain", "-p", "no:cacheprovider", "-m", QUICK, "-k", words]
    os._exit(int(pytest.main([*how, *tests.paths], plugins=[Trial(mutants, told)])))


def outcomes(mutants: list[Mutant], limit: float, *, quick: bool) -> Iterator[tuple[Mutant, Row]]:
    """What becomes of the mutants of one file: all by the first tests, survivors by the others, if not quick."""
    every = guards(Path(mutants[0].path))
    for tests in every[:1] if quick else every:
        alive, waiting = [], list(mutants)
        while waiting:
            rows = [row for row in run(waiting, tests, limit) if row.result in {"killed", "survives"}]
            if not rows:
                raise SystemExit(f"these tests fail without any mutant, or it is in no function: {waiting[0]} {tests}")
            decided = list(zip(waiting, rows, strict=False))
            yield from (pair for pair in decided if pair[1].result == "killed")
            alive += [mutant for mutant, row in decided if row.result == "survives"]
            waiting = waiting[len(rows) :]
        mutants = alive
    yield from ((mutant, Row("survives")) for mutant in mutants)


# --- the run ----------------------------------------------------------------------------------------------------------


def draw(most: int, seed: int, only: list[str]) -> list[Mutant]:
    """Draw mutants, from each file by turns, in an order that the seed decides."""
    lot = random.Random(seed)  # noqa: S311 - no secret
    piles = []
    for path in files():
        if only and not any(word in path.as_posix() for word in only):
            continue
        pile = mutants_of(path)
        lot.shuffle(pile)
        piles.append(pile)
    lot.shuffle(piles)
    chosen: list[Mutant] = []
    while len(chosen) < most and any(piles):
        chosen += [pile.pop() for pile in piles if pile]
    return chosen[:most]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def by_hand(only: list[str]) -> list[Mutant]:
    """The mutants of tests/mutants.toml; a text that is no longer there, or there twice, is an error."""
    made = []
    for entry in tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["mutant"]:
        path = SOURCE / entry["file"]
        text = (ROOT / path).read_text()
        if text.count(entry["before"]) != 1:
            raise SystemExit(f"{path} does not hold once: {entry['before']}")
        start = len(text[: text.index(entry["before"])].encode())
        end, line = start + len(entry["before"].encode()), text[: text.index(entry["before"])].count("\n") + 1
        if not only or any(word in path.as_posix() for word in only):
            made.append(Mutant(path.as_posix(), "by hand", line, start, end, entry["before"], entry["after"]))
    return made


def argued() -> str:
    """What the page says of survivors."""
    return PAGE.read_text() if PAGE.exists() else ""


def read_rows(path: Path | None) -> dict[str, Row]:
    """What became of each mutant in the pieces run so far, by key; the last word counts."""
    if path is None or not path.exists():
        return {}
    rows = map(json.loads, path.read_text().splitlines())
    return {row["mutant"]: Row(row["result"], row["by"]) for row in rows}


def write_row(path: Path | None, key: str, row: Row) -> None:
    """Add one result to the file."""
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps({"mutant": key, **row._asdict()}) + "\n")


def table(rows: dict[str, Row]) -> str:
    """Tried, killed and survived by room, as docs/mutants.md has it."""
    page, rooms = argued(), sorted({key.split("/")[0] for key in rows})
    lines = ["| room | tried | killed | argued | open |", "|---|---|---|---|---|"]
    for room in [*rooms, ""]:
        mine = {key: row for key, row in rows.items() if key.startswith(room)}
        alive = [key for key, row in mine.items() if row.result == "survives"]
        known = sum(f"`{key}`" in page for key in alive)
        name = f"`{room}/`" if room else "all"
        lines.append(f"| {name} | {len(mine)} | {len(mine) - len(alive)} | {known} | {len(alive) - known} |")
    return "\n".join(lines)


def options_of() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=220, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=35.0, help="begin no file after so many")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for the tests of one mutant")
    parser.add_argument("--only", nargs="*", default=[], help="words of paths")
    parser.add_argument("--drawn", action="store_true", help="without those made by hand")
    parser.add_argument("--quick", action="store_true", help="ask only the tests that are nearest to a file")
    parser.add_argument("--rows", type=Path, help="file of results to go on with")
    parser.add_argument("--again", action="store_true", help="only those that survive in the file of results")
    parser.add_argument("--list", action="store_true", help="only say how many mutants each file has")
    return parser.parse_args()


def chosen_of(options: argparse.Namespace, rows: dict[str, Row]) -> list[Mutant]:
    """The mutants to run: those that the file of results does not have, or those that survive in it."""
    if options.again:
        every = [*by_hand(options.only), *draw(10**6, options.seed, options.only)]
        return [mutant for mutant in every if mutant.key in rows and rows[mutant.key].result == "survives"]
    drawn = draw(options.most, options.seed, options.only)
    chosen = drawn if options.drawn else [*by_hand(options.only), *drawn]
    return [mutant for mutant in chosen if mutant.key not in rows]


def main() -> int:
    """Draw, run and list."""
    options = options_of()
    if options.list:
        for path in files():
            say(f"{len(mutants_of(path)):5d}  {path}")
        return 0
    sys.path[0] = str(ROOT / "src")  # in place of tests/: this tree, whatever is installed
    importlib.import_module("unmask.assessment").discover()  # once, for all children
    importlib.import_module("sklearn.ensemble")
    rows = read_rows(options.rows)
    chosen = chosen_of(options, rows)
    for mutant in chosen:
        guards(Path(mutant.path))  # decided now: the work tree may grow tests during the run
    os.chdir(ROOT)
    begin = time.monotonic()
    for path in dict.fromkeys(mutant.path for mutant in chosen):
        mine = [mutant for mutant in chosen if mutant.path == path]
        for mutant, row in outcomes(mine, options.limit, quick=options.quick):
            rows[mutant.key] = row
            write_row(options.rows, mutant.key, row)
            say(f"{len(rows):4d} {row.result:8s} {mutant.path}:{mutant.line} {mutant.key.split(': ', 1)[1][:100]}")
        if time.monotonic() - begin > 60 * options.minutes:
            break
    return summary(rows)


def summary(rows: dict[str, Row]) -> int:
    """Say how many there were of each kind and who survives; 1 if somebody does who is not argued."""
    say(table(rows))
    page = argued()
    unknown = [key for key, row in rows.items() if row.result == "survives" and f"`{key}`" not in page]
    for key in unknown:
        say(f"survives: `{key}`")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
