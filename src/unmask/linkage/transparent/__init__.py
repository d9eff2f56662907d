"""The intruder who knows how the release was made."""
