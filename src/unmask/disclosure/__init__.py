"""INFER: what a release tells about people without finding them.

Each function takes a release and returns what an intruder learns of a confidential value, of a person's presence or of
their singularity, beside what they would learn without the person's record: only the difference is disclosure.
"""

from unmask.doors import open_door

__all__ = open_door(__name__)  # noqa: PLE0605 - the stub declares them
