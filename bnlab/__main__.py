"""`python -m bnlab` is the command `bnlab`."""

from bnlab.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
