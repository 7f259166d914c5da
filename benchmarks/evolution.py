"""Time evolutions of the reference problem: python benchmarks/evolution.py --to report.md."""

import argparse

from script import one_thread, parser, publish


def arguments() -> argparse.Namespace:
    options = parser(__doc__)
    options.add_argument("--plain", action="store_true", help="also time plain integrations of the same equation")
    return options.parse_args()


def main() -> None:
    options = arguments()
    one_thread()
    from evolution_rows import all_rows, measure, report

    rows = all_rows(options.plain)
    measure(rows, options.rounds)
    text = report(rows, options.rounds)
    publish(text, options.to)


if __name__ == "__main__":
    main()
