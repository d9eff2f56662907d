"""The one-to-one matching of least total distance, with a proof over all pairs."""
