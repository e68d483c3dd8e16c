"""Search for single good structures."""

from bnlab.search.trees import chow_liu

__all__ = ["chow_liu"]
