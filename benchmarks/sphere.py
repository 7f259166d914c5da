"""Transforms, diagrams and evolutions on spheres: python benchmarks/sphere.py --to report.md."""

import argparse

from script import one_thread, parser, publish


def arguments() -> argparse.Namespace:
    options = parser(__doc__, rounds=5)
    options.add_argument(
        "--degrees",
        type=int,
        nargs="+",
        default=[31, 63, 127, 255],
        metavar="L",
        help="largest degrees of transforms",
    )
    return options.parse_args()


def main() -> None:
    options = arguments()
    one_thread()
    from sphere_rows import all_rows, measure, report

    rows = all_rows(options.degrees)
    measure(rows, options.rounds)
    text = report(rows, options.rounds)
    publish(text, options.to)


if __name__ == "__main__":
    main()
