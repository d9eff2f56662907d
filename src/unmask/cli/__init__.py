"""The command line: the only room that knows typer, TOML, the screen and output files."""
