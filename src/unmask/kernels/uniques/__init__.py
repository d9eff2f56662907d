"""Sets of attributes: minimal sample uniques and counts of every set."""
