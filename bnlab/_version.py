"""The version of the package, for pyproject.toml, results and people."""

__version__ = "0.1.0"
