"""House rules as tests: imports go one way, nothing prints, starting is light, every file has its test."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

import unmask
from unmask.assessment import choose, discover
from unmask.cli.app import COMMANDS
from unmask.evidence.catalogue import FAMILIES

SOURCE = Path(unmask.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PLAIN_TWINS = {"test_masks.py", "test_splitting.py"}  # compare a function with what it is as plain Python
ROOMS_BELOW = {
    "kernels": set(),
    "tables": set(),
    "evidence": set(),
    "study": {"kernels", "tables"},
    "engines": {"kernels", "study", "tables"},
    "report": {"evidence", "people", "utility"},
    "certificate": {"evidence", "report", "tables"},
    "intake": {"tables", "study", "evidence"},
    "web": {"certificate", "cli", "tables", "evidence", "report"},
    "datasets": set(),
    "schemas": set(),
    "people": {"tables", "study", "evidence", "masking"},
    "publications": {"linkage", "tables", "study", "kernels", "evidence"},
    "protect": {"groups", "tables", "study", "kernels", "evidence", "masking", "utility"},
    **{
        room: {"tables", "study", "kernels", "evidence"}
        for room in (
            "linkage",
            "graph",
            "max_knowledge",
            "groups",
            "disclosure",
            "masking",
            "utility",
            "tabular",
            "networks",
            "persons",
        )
    },
}
KNOWS_ALL = {"cli"}
FOR_ALL = {
    "arrays",
    "discretion",
    "doors",
    "errors",
    "fingerprints",
    "folders",
    "inert",
    "schemas",
    "shares",
    "shown",
    "silence",
    "threads",
}  # no kernel
OF_HTTP = {"starlette", "uvicorn", "python_multipart", "multipart", "anyio", "h11", "websockets", "socketserver"}
READS_MASKINGS = {
    "disclosure/audit.py",
    "disclosure/shadow.py",
    "linkage/transparent/again.py",
    "linkage/transparent/chains.py",
    "linkage/transparent/measure.py",
    "linkage/transparent/makings.py",
}  # who knows the method reads its description


def room(path):
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else None


class Function(NamedTuple):
    name: str
    arguments: list[str]
    first: int  # line of the body, behind signature and docstring; 0: there is none
    last: int


class Parts(NamedTuple):
    """What the rules below ask of a file. Whole trees of all files would take too much room."""

    imports: list[ast.Import | ast.ImportFrom]  # wherever in the file
    calls: set[str]
    functions: list[Function]


@cache
def parts(path):
    """Read a file once for all rules."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    functions = [function_of(node) for node in nodes if isinstance(node, ast.FunctionDef)]
    return Parts([node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)], calls, functions)


def function_of(node):
    given = node.args
    names = [entry.arg for entry in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return Function(node.name, names, body[0].lineno if body else 0, node.end_lineno)


def imported(path):
    """Rooms of ours that a file imports, wherever in the file."""
    found = set()
    for node in parts(path).imports:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""] + [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("unmask.")}
    return found


@pytest.mark.parametrize("path", [path for path in FILES if room(path)], ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    own = room(path)
    knows = {"masking"} if path.relative_to(SOURCE).as_posix() in READS_MASKINGS else set()
    if own in KNOWS_ALL:
        return
    allowed = ROOMS_BELOW[own] | {own} | knows | (set() if own == "kernels" else FOR_ALL)
    assert {name for name in imported(path) if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()} <= allowed


INNER = {"inner", "inlined", "machine"}


def compiled(node):
    """How a function is compiled: kernel, lean, inner, inlined, machine, another decorator's name, or None."""
    names = [d.id for d in getattr(node, "decorator_list", []) if isinstance(d, ast.Name)]
    return names[0] if names else None


def module_of(path):
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def inner_functions():
    """(module, name) of everything that Python must not call: it has no wrapper, and the call would crash."""
    found = {
        (module_of(path), node.name)
        for path in SOURCE.glob("kernels/**/*.py")
        for node in ast.parse(path.read_text()).body
        if compiled(node) in INNER
    }
    assert len(found) > 50  # the rule looks where the kernels are
    return found


def calls_in(node):
    """Names and module.names that a piece of code reads."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    dotted = {
        f"{n.value.id}.{n.attr}"
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
    }
    return names | dotted


@pytest.mark.parametrize("path", [*FILES, *sorted(Path(__file__).parent.rglob("*.py"))], ids=lambda path: path.name)
def test_python_does_not_call_inner_kernels(path):
    tree = ast.parse(path.read_text())
    known = {name for home, name in inner_functions() if SOURCE in path.parents and home == module_of(path)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unmask.kernels"):
            for alias in node.names:
                name, here = alias.asname or alias.name, f"{node.module}.{alias.name}"
                known |= {name for home, n in inner_functions() if n == alias.name and home.startswith(node.module)}
                known |= {f"{name}.{n}" for home, n in inner_functions() if home == here}
    for node in tree.body:
        own = compiled(node) in {"kernel", "lean"} | INNER or any(
            isinstance(d, ast.Attribute) and d.attr == "njit" for d in getattr(node, "decorator_list", [])
        )
        if not own and not isinstance(node, ast.Import | ast.ImportFrom) and path.name not in PLAIN_TWINS:
            assert not calls_in(node) & known, getattr(node, "name", node)


def test_only_one_file_knows_duckdb():
    assert [path.name for path in FILES if 'import_module("duckdb")' in path.read_text()] == ["duck.py"]
    assert not [path for path in FILES if re.search(r"^\s*(import|from) duckdb", path.read_text(), re.MULTILINE)]


def test_only_one_file_knows_spark():
    users = [path.name for path in FILES if "pyspark" in path.read_text()]
    assert users in ([], ["spark.py"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_web_knows_http(path):
    names = {
        name.split(".")[0]
        for node in parts(path).imports
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    assert room(path) == "web" or not names & OF_HTTP
    assert room(path) in {"web", "cli"} or "web" not in imported(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_prints_logs_or_calls_home(path):
    imports = parts(path).imports
    assert not parts(path).calls & {"print", "eval", "exec"}
    modules = {alias.name.split(".")[0] for node in imports if isinstance(node, ast.Import) for alias in node.names}
    modules |= {(node.module or "").split(".")[0] for node in imports if isinstance(node, ast.ImportFrom)}
    assert not modules & {"logging", "socket", "urllib", "http", "requests", "ftplib", "smtplib"}


def modules_after(code):
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


def test_starting_is_light():
    heavy = {"numba", "sklearn", "altair", "pyspark", "pandas", "scipy", "duckdb"}
    assert not modules_after("import unmask") & (heavy | {"polars", "numpy"})
    assert not modules_after("import unmask.cli.app") & (heavy | {"polars", "numpy"})
    assert not modules_after("import unmask; unmask.Release; unmask.assess; unmask.group_risk") & {
        "altair",
        "pyspark",
        "sklearn",
    }


def test_public_names_are_there():
    for name in unmask.__all__:
        assert getattr(unmask, name) is not None
    import_module("unmask.assessment")  # importing the file must not hide the function
    assert callable(unmask.assess)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        unmask.nothing  # noqa: B018


def test_the_graph_attack_is_public_and_loads_when_asked():
    names = ("Coordinates", "GraphLinkage", "NoiseTolerance", "Relative", "link_graph")
    assert set(names) <= set(unmask.__all__)
    assert "unmask.graph.attack" not in modules_after("import unmask")
    assert "unmask.graph.attack" in modules_after("import unmask; unmask.link_graph")
    graph = import_module("unmask.graph")
    assert all(getattr(unmask, name) is getattr(graph, name) for name in names)


@pytest.mark.parametrize("name", discover())
def test_a_measure_has_one_name(name):
    """Its file (or folder), its test file, the prefix of its keys and its --only name; its page: tests/test_docs.py."""
    measure = discover()[name]
    home = Path(sys.modules[measure.run.__module__].__file__)
    assert name in {home.stem, home.parent.name}
    assert home.stem in {name, "measure"}
    assert (SOURCE.parents[1] / "tests" / room(home) / f"test_{name}.py").exists()
    assert {key.split(".")[0] for key in measure.keys} == {name}
    assert [chosen.name for chosen in choose(discover(), [name], ())] == [name]
    assert measure.page == f"docs/measures/{name}.md"


def test_the_catalogue_is_the_register():
    """The light table that the help and policies read: the same names, families, needs and aliases."""
    found = {m.name: (m.family, m.needs, m.aliases) for m in discover().values()}
    listed = {
        name: (family, entry.needs, entry.aliases)
        for family, measures in FAMILIES.items()
        for name, entry in measures.items()
    }
    assert found == listed, "a measure is listed in evidence/catalogue.py"
    spellings = [word for m in discover().values() for word in (m.name, *m.aliases)]
    assert len(spellings) == len(set(spellings))  # a word means one measure


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_light(command):
    code = (
        f"import sys; sys.argv = ['unmask', '{command}', '--help']\nfrom unmask.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass"
    )
    assert not modules_after(code) & {"numba", "polars", "numpy", "scipy", "sklearn", "altair", "rich.table"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_intruder_is_they(path):
    """One word for the one who attacks, in everything that people read; Mr Scrooge may stay himself."""
    text = path.read_text().replace("knows his value", "")
    others = r"\b(?:he|she|his|hers?|him(?:self)?|attackers?|adversar(?:y|ies))\b"
    assert not re.findall(others, text, flags=re.IGNORECASE), path.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_original_comes_before_the_release(path):
    for function in parts(path).functions:
        both = [name for name in function.arguments if name in {"original", "released"}]
        assert both in ([], ["original"], ["released"], ["original", "released"]), function.name


def test_no_file_has_grown_too_large():
    assert not [path.name for path in FILES if len(path.read_text().splitlines()) > 400]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_function_does_too_much(path):
    """At most 40 lines, signature and docstring aside."""
    lines = path.read_text().splitlines()
    for function in parts(path).functions:
        code = lines[function.first - 1 : function.last] if function.first else []
        assert sum(bool(line.strip()) for line in code) <= 40, function.name


def homes():
    """Where the names of each lazy door live, by its stub."""
    stubs = {module_of(path): ast.parse(path.read_text()).body for path in SOURCE.rglob("__init__.pyi")}
    return {
        room: {alias.name: node.module for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
        for room, body in stubs.items()
    }


def test_no_file_waits_for_itself():
    """Plain imports for types are safe as long as nothing, read in whatever order, needs itself to be read first."""
    files, doors = {module_of(path): path for path in FILES}, homes()

    def home(module, name):
        if doors.get(module, {}).get(name, module) != module:
            return home(doors[module][name], name)
        return f"{module}.{name}" if f"{module}.{name}" in files else module

    needs = {
        module: {
            home(node.module, alias.name)
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unmask")
            for alias in node.names
        }
        for module, path in files.items()
    }
    done = set()
    while ready := {module for module in files if module not in done and needs[module] <= done | {module}}:
        done |= ready
    assert set(files) == done, f"in a circle, or behind one: {sorted(set(files) - done)[:8]}"
