"""The three calls of the lab on an MPI pool: mpiexec -n 3 python -m mpi4py.futures ranks.py

Prints a line of JSON: the fingerprint, the number of workers, and the seconds that a second time
takes, when all workers have loaded what they need.
"""

import json
import time


def main() -> None:
    """Make the calls on all workers of the pool."""
    from mpi4py.futures import MPIPoolExecutor

    from bnlab.labs.scaling_out.places import three_calls, wine

    with MPIPoolExecutor(backoff=1e-5) as executor:
        three_calls(wine(), executor)
        begun = time.perf_counter()
        found = three_calls(wine(), executor)
        seconds = time.perf_counter() - begun
        told = {"fingerprint": found, "workers": executor.num_workers, "seconds": seconds}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
