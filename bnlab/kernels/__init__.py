"""Floor 0: pure functions on arrays, compiled by numba. No validation, no printing, no globals."""
