"""INFER: what the release tells about people without finding them."""
