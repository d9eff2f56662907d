"""Risk in the population that the release was drawn from."""
