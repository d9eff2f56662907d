"""WHERE: the same attack on this machine or where the data lives."""
