"""Nearest points of every query, found, listed or only decided about, by a kd-tree."""
