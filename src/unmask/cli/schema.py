"""`unmask schema`: the JSON Schema of each kind of file."""

from __future__ import annotations

import json

from unmask.cli.report_options import Schema
from unmask.cli.screen import say
from unmask.schemas import FORMS, load_schema


def run(options: Schema) -> int:
    """Print one, or say which there are."""
    if options.kind is not None:
        say(json.dumps(load_schema(options.kind), indent=1))
        return 0
    for kind, form in FORMS.items():
        read = ", ".join(map(form.name, form.read))
        say(f"{kind:<12}{form.what}; written {form.name()}, read {read}{'' if form.silent is None else ', or unsaid'}")
    return 0
