"""STUDY: what every attack needs of a release, made once and kept."""
