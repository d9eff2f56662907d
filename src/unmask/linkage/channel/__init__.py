"""Channel: the intruder who learns how the release was made."""
