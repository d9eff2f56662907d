"""STUDY: what every attack needs of a release, made once and kept.

A `Study` (``as_study`` takes a release or a study) hands out encodings, the matcher and indexes, each made when it is
first asked for and shared by all measures; nobody changes what they are handed.

- ``study``: `Study`, `as_study`;
- ``match``: `Matcher` and `Match`, which records carry what is known of a person, overlapping intervals included;
- ``ask``: `Index`, a space with its tree, and the questions it answers; ``scene`` says who asks for whom;
- ``metric``: from an encoding to a space; ``memory``: what fits, and what is kept.

Its files are imported one by one, since some of them load numba and others need not.
"""
