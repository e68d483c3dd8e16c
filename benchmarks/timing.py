"""What benchmarks of searches share: processor time, and a line for each figure."""

import statistics
import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Median processor time after one run that compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def report(what: str, took: float, note: str = "") -> None:
    print(f"{what:<52}{1e3 * took:>12.1f} ms   {note}", flush=True)
