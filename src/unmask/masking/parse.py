"""Maskings by name: `parse_masking("microaggregation(5, method=univariate)")`.

The text is read as one call, never run: numbers, words, quoted text, lists, and, for `reverse_map`, another masking.
"""

from __future__ import annotations

import ast
import re
from dataclasses import MISSING, fields
from typing import Any, TypeVar, overload

from unmask.errors import ParameterError, check_name
from unmask.masking.base import MASKINGS, Masking
from unmask.masking.spelling import with_quotes

M = TypeVar("M", bound=Masking)
DATE = re.compile(r"(?<!['\"\d])\d{4}-\d{1,2}-\d{1,2}")


@overload
def parse_masking(text: str) -> Masking: ...
@overload
def parse_masking(text: str, only: type[M]) -> M: ...
def parse_masking(text: str, only: type[Masking] = Masking) -> Masking:
    """Return the masking that a text such as "noise(0.5)" or "rank_swap(share=0.05, columns=[age])" describes.

    ``only``: refuse others than those of this kind, with the names of these.
    """
    try:
        node = ast.parse(with_quotes(text.strip()), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ParameterError(
            "cannot read this masking", got=repr(text), allowed='a name and its parameters, such as "noise(0.5)"',
            hint=_quotes(text),
        ) from error  # fmt: skip
    return _masking(node, text, only)


def _quotes(text: str) -> str | None:
    return "put dates in quotes, such as age('2026-11-16', columns=[born])" if DATE.search(text) else None


def signature(kind: type[Masking]) -> str:
    """Write how a masking is called, for messages and help."""
    by_name = {f.name: "..." if f.default is MISSING else f.default for f in fields(kind)}
    needed = [f.name for f in fields(kind) if f.default is MISSING and not f.kw_only]
    shown = [name if name in needed else f"{name}={value}" for name, value in by_name.items()]
    return f"{kind.family}({', '.join(shown)})"


def _masking(node: ast.expr, text: str, only: type[Masking] = Masking) -> Masking:
    """Build the masking of a call; a bare name is a call without parameters."""
    call = ast.Call(func=node, args=[], keywords=[]) if isinstance(node, ast.Name) else node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ParameterError(
            "cannot read this masking", got=repr(text), allowed='a name and its parameters, such as "noise(0.5)"'
        )
    name = call.func.id
    known = sorted(family for family, kind in MASKINGS.items() if issubclass(kind, only))
    check_name(name, known, "this masking cannot be used here" if name in MASKINGS else "no such masking")
    kind = MASKINGS[name]
    arguments = [_value(argument, text) for argument in call.args]
    options = {keyword.arg: _value(keyword.value, text) for keyword in call.keywords if keyword.arg is not None}
    arguments, options = kind.former(arguments, options)
    _check_names(kind, len(arguments), options)
    return kind(*arguments, **options)


def _check_names(kind: type[Masking], positional: int, options: dict[str, Any]) -> None:
    """Refuse parameters that the masking does not have, twice the same, or missing ones."""
    names = [field.name for field in fields(kind)]
    for name in options:
        check_name(name, names, f"{kind.family} has no such parameter: {signature(kind)}")
    placed = [field.name for field in fields(kind) if not field.kw_only]
    twice = [name for name in placed[:positional] if name in options]
    absent = [
        field.name
        for field in fields(kind)
        if field.default is MISSING
        and field.default_factory is MISSING
        and field.name not in {*placed[:positional], *options}
    ]
    if positional > len(placed) or twice or absent:
        problem = f"{absent[0]} is missing" if absent else f"{twice[0]} twice" if twice else f"{positional} parameters"
        raise ParameterError(f"{kind.family} is called wrongly", got=problem, allowed=signature(kind))


def _value(node: ast.expr, text: str) -> Any:  # noqa: ANN401
    """Read a number, a word, a quoted text, a list of these, or another masking."""
    if isinstance(node, ast.Call):
        return _masking(node, text)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(part, text) for part in node.elts)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise ParameterError(
            "cannot read a parameter of this masking", got=repr(text), allowed="numbers, words, quoted text, lists",
            hint=_quotes(text),
        ) from error  # fmt: skip
