"""Classes of equal keys, counted where the data lives."""
