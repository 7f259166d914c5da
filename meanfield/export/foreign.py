"""The process that reads a netCDF file of unknown origin, from standard input to pickled groups on standard output.

Called with the seconds and the bytes of memory it may take.
"""

import pickle
import sys

from .sealed import contents_of


def main(seconds: int, memory: int) -> None:
    """Read the file within bounds of time and memory and write its groups; any error ends this process."""
    try:
        import resource
    except ImportError:  # pragma: no cover (Windows, where time alone is bounded)
        pass
    else:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    sys.stdout.buffer.write(pickle.dumps(contents_of(sys.stdin.buffer.read())))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
