"""PROTECT: what to change so that a release becomes safe."""
