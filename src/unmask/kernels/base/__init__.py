"""What every kernel builds on: compiling, threads, spaces, groups of equal rows, bits."""
