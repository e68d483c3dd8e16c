"""Beal (2003), chapter 6: structures with hidden variables."""
