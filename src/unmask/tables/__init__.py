"""READ: files and frames become a Release, and a Release becomes arrays."""
