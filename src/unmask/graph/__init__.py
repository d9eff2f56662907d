"""GRAPH: published distances give people away."""
