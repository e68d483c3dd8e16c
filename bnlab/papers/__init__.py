"""One package a paper: the thin code behind the pages of notebooks/papers."""
