"""``python -m unmask`` is the command line."""

from unmask.cli import main

if __name__ == "__main__":
    main()
