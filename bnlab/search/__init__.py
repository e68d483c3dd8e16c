"""Search for good structures, one or many."""
