"""INFER: what a release tells about people without finding them."""
