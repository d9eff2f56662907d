"""Which form a file of unmask is in, and what each form looks like.

Every file that unmask writes for later says its kind and version (`"schema": "unmask-report/2"`). A file of a version
that can be read is read, any other is refused by name (`check_form`). The JSON Schema of each kind is a file of this
folder (`load_schema`); `docs/schemas.py` makes those that follow from the code.
"""

from unmask.schemas.forms import FORMS, KEY, check_form, load_schema

__all__ = ["FORMS", "KEY", "check_form", "load_schema"]
