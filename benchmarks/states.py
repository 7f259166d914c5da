"""Time `stationary_states` on a list of problems, beside another tree if given: python benchmarks/states.py."""

import argparse
from pathlib import Path

from script import one_thread, parser, publish


def arguments() -> argparse.Namespace:
    options = parser(__doc__, rounds=3)
    options.add_argument("--beside", type=Path, help="root of another tree of this package, timed in turn")
    options.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="problems whose names start so")
    options.add_argument("--rates", action="store_true", help="read the slowest rate of each state as well")
    return options.parse_args()


def main() -> None:
    options = arguments()
    one_thread()
    from state_rows import measured, names, report

    chosen = [name for name in names() if name.startswith(tuple(options.only))]
    trees = [Path(__file__).resolve().parent.parent, *([options.beside] if options.beside else [])]
    publish(report(measured(chosen, trees, options.rounds, options.rates), options.rounds), options.to)


if __name__ == "__main__":
    main()
