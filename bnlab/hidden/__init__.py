"""Hidden variables."""
