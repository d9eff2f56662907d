"""``python -m unmask`` is the command line."""

from unmask.cli.app import main

if __name__ == "__main__":
    main()
