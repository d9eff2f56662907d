"""Change one thing at a place that decides a number, and see whether a test fails: a mutation run of our own.

`make mutants` (or ``python tests/mutants.py --help``) draws mutants of evidence/, tables/, study/ and of the judged
half of every measure (what `assess` runs and what that calls in the same file), and runs the tests that guard the
file in a child process that has the changed functions in its memory: no file is touched. The survivors are listed;
those that are argued in docs/mutants.md are known, others make the run fail. Pictures, facts, messages and progress
are left out: no policy judges them.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import os
import random
import signal
import sys
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "mutants.md"
SOURCE = Path("src/unmask")
NOWHERE = 99  # what a child says when the change is in no function
WHOLE = ("evidence", "tables", "study")  # rooms that are mutated whole
MEASURES = ("linkage", "graph", "max_knowledge", "groups", "disclosure")
JUDGED_TOO = ("linkage/result.py", "max_knowledge/evidence.py", "max_knowledge/compare.py", "disclosure/roc.py")
ASKED_BY = {  # words of the twins' names, where they are not the file's
    "attribute_test": "attribute", "result": "nearest or one_to_one", "roc": "membership",
    "evidence": "dictionary or permuted", "compare": "dictionary or permuted",
}  # fmt: skip
NOT_JUDGED = {"Fact", "Figure", "Series", "Observation", "progress", "tell", "silent", "check_memory", "dataclass"}
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

    @property
    def key(self) -> str:
        """Name the mutant as docs/mutants.md does."""
        short = [" ".join(text.split()) for text in (self.before, self.after)]
        return f"{self.path.removeprefix('src/unmask/')} {self.function}: {short[0]} -> {short[1]}"


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
        if "Figure" in told or "Fact" in told or node.name in {"__str__", "__repr__"}:
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
    found = {mutant.key: mutant for mutant in finder.found}
    for mutant in found.values():
        compile(
            changed(text.encode(), mutant), mutant.path, "exec"
        )  # a mutant that is no program would count as killed
    return list(found.values())


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


@cache
def guards(path: Path) -> tuple[list[str], list[str]]:
    """Tests to ask first, and tests to ask of who survives them (paths that exist, and -k expressions)."""
    inner = path.relative_to(SOURCE)
    room, stem = inner.parts[0], inner.parent.name if inner.stem == "measure" else inner.stem
    own = [f"tests/{room}/test_{stem}.py"] if (ROOT / f"tests/{room}/test_{stem}.py").exists() else []
    judged = ["tests/judged/test_outside.py", "tests/judged/test_disclosure.py"] if room == "disclosure" else []
    if room in {"linkage", "groups", "max_knowledge"}:
        judged = [f"tests/judged/test_{room}.py"]
    if room in WHOLE:
        more = ["tests/linkage/test_knowledge_curve.py"] if stem == "scenario" else []
        return own or [f"tests/{room}"], [f"tests/{room}", *more, "tests/judged/test_groups.py"]
    if room == "graph":
        return ["tests/judged/test_outside.py", "-k", "graph"], ["tests/graph/test_graph.py"]
    word = ASKED_BY.get(stem, stem)
    return [*judged, "-k", word], [*own, *judged] if own else [*judged, f"tests/{room}"]


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


def transplant(mutant: Mutant) -> bool:
    """Give the loaded functions of a file the changed program; whether any is another one now."""
    module = importlib.import_module(mutant.path.removeprefix("src/").removesuffix(".py").replace("/", "."))
    text = (ROOT / mutant.path).read_bytes()
    if text[mutant.start : mutant.end].decode() != mutant.before:
        raise SystemExit(f"{mutant.path} was changed during the run")
    codes, other = codes_of(compile(changed(text, mutant), mutant.path, "exec")), False
    for function in functions_of(module):
        new = codes.get(function.__qualname__)
        if new is not None and len(new.co_freevars) == len(function.__code__.co_freevars):
            other |= (new.co_code, new.co_consts, new.co_names) != (
                function.__code__.co_code, function.__code__.co_consts, function.__code__.co_names
            )  # fmt: skip
            function.__code__ = new
    return other


def run(mutant: Mutant | None, tests: list[str], limit: float) -> str:
    """Run tests in a child with the mutant in its memory; no file is touched. "passed", "failed" or "late"."""
    child = os.fork()
    if child == 0:
        _test(mutant, tests)
    until = time.monotonic() + limit
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            if code in {NOWHERE, int(pytest.ExitCode.USAGE_ERROR)}:
                raise SystemExit(f"{'not transplanted: ' + mutant.key if mutant else 'pytest does not take'} {tests}")
            return "passed" if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} else "failed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


def _test(mutant: Mutant | None, tests: list[str]) -> NoReturn:
    os.setsid()
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if mutant is not None and not transplant(mutant):
        os._exit(NOWHERE)
    os._exit(int(pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests])))


@cache
def passes(tests: tuple[str, ...]) -> bool:
    """Whether tests pass without a mutant: else they kill nobody."""
    if run(None, list(tests), 3600) != "passed":
        raise SystemExit(f"these fail without any mutant: {' '.join(tests)}")
    return True


def killed(mutant: Mutant, limit: float) -> str | None:
    """Tell how a mutant was killed, or None when every test passes."""
    for tests in filter(None, guards(Path(mutant.path))):
        result = run(mutant, tests, limit)
        if result != "passed" and passes(tuple(tests)):
            return result
    return None


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


def main() -> int:
    """Draw, run and list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=220, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=35.0, help="begin no mutant after so many")
    parser.add_argument("--only", nargs="*", default=[], help="words of paths")
    parser.add_argument("--drawn", action="store_true", help="without those made by hand")
    parser.add_argument("--list", action="store_true", help="only say how many mutants each file has")
    options = parser.parse_args()
    if options.list:
        for path in files():
            say(f"{len(mutants_of(path)):5d}  {path}")
        return 0
    sys.path[0] = str(ROOT / "src")  # in place of tests/: this tree, whatever is installed
    importlib.import_module("unmask.assessment").discover()  # once, for all children
    importlib.import_module("sklearn.ensemble")
    chosen = draw(options.most, options.seed, options.only)
    chosen = chosen if options.drawn else [*by_hand(options.only), *chosen]
    for mutant in chosen:
        guards(Path(mutant.path))  # decided now: the work tree may grow tests during the run
    os.chdir(ROOT)
    begin, page = time.monotonic(), argued()
    tried, known, unknown = 0, [], []
    for mutant in chosen:
        if time.monotonic() - begin > 60 * options.minutes:
            break
        how = killed(mutant, limit=600.0)
        tried += 1
        if how is None:
            (known if f"`{mutant.key}`" in page else unknown).append(mutant)
        mark = how or ("argued" if mutant in known else "SURVIVES")
        say(f"{tried:4d} {mark:8s} {mutant.path}:{mutant.line} {mutant.key.split(': ', 1)[1][:100]}")
    say(f"{tried} mutants of {len(chosen)} drawn, {tried - len(known) - len(unknown)} killed, {len(known)} argued")
    for mutant in unknown:
        say(f"survives: `{mutant.key}` (line {mutant.line})")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
