"""Generators of realistic tables for demos, tests and benchmarks, at any n."""
