"""One module a lab, and `board` with what they share. Needs the `lab` extra."""
