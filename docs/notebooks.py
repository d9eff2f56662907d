"""Run the tutorial notebooks cell by cell and put their output in; ``--check`` (the default) fails where it differs.

A notebook is JSON with cells: this runs them as Jupyter would, without Jupyter. What is compared is text; HTML is what
a result shows of the same, and its pictures may differ by a pixel.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "notebooks"


def run(source: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell; return what it printed and what its last line is."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), space)  # noqa: S102 - our own notebooks
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), space)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the output of every cell, run from the first to the last in an empty folder."""
    space: dict[str, Any] = {"__name__": "__main__"}
    cells, here = [], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for cell in notebook["cells"]:
                outputs = run("".join(cell["source"]), space) if cell["cell_type"] == "code" else None
                cells.append(cell if outputs is None else {**cell, "outputs": outputs})
        finally:
            os.chdir(here)
    return {**notebook, "cells": cells}


def text(notebook: dict[str, Any]) -> list[list[str]]:
    """What the cells say, without pictures."""
    shown = [cell.get("outputs", []) for cell in notebook["cells"]]
    return [["".join(out.get("text") or out["data"]["text/plain"]) for out in outputs] for outputs in shown]


def main(words: list[str]) -> int:
    """Run all notebooks, or those that are named."""
    names, stale = [word for word in words if not word.startswith("--")], []
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        old = json.loads(path.read_text(encoding="utf-8"))
        new = executed(old)
        if "--write" in words:
            path.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        elif text(old) != text(new):
            stale.append(path.name)
    if stale:
        sys.stderr.write(f"stale: {', '.join(stale)}; run: python docs/notebooks.py --write\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
