"""How names of columns stand in a masking that is written as text, and how such a text becomes one that can be read.

A masking is read as a call of Python, in which some words mean something else (`class`, `from`) and letters that can be
written in two ways become one of them. Columns may be called so all the same.
"""

from __future__ import annotations

import io
import keyword
import tokenize
import unicodedata


def quoted(name: str) -> str:
    """A name as maskings are written: bare where it is read as it stands, else in quotes."""
    plain = name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
    return name if plain else repr(name)


def written(value: object) -> str:
    """A parameter as maskings are written."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple):
        return f"[{', '.join(written(part) for part in value)}]"
    return str(value)


def with_quotes(text: str) -> str:
    """A masking in which names that Python would read otherwise are in quotes; unchanged where it cannot be read."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    for token in reversed(found):
        if token.type == tokenize.NAME and token.start[0] == 1 and token.string not in {"None", "True", "False"}:
            text = f"{text[: token.start[1]]}{quoted(token.string)}{text[token.end[1] :]}"
    return text
