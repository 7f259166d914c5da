"""Time the continuation against its bare kernel and a dense reference: python benchmarks/run.py --to report.md."""

import argparse

from script import one_thread, parser, publish


def arguments() -> argparse.Namespace:
    options = parser(__doc__)
    options.add_argument("--modes", type=int, nargs="+", default=[16, 32, 64, 128, 512], help="moments to resolve")
    options.add_argument("--profile", action="store_true", help="list where tasks A and B spend their time instead")
    return options.parse_args()


def main() -> None:
    options = arguments()
    one_thread()
    from rows import all_rows, measure, profiled
    from tables import report

    if options.profile:
        print(profiled())
        return
    rows = all_rows(options.modes)
    measure(rows, options.rounds)
    text = report(rows, options.rounds)
    publish(text, options.to)


if __name__ == "__main__":
    main()
