"""LINK: find people's records in the release."""
