"""Time this package beside AUTO-07p in one run: python benchmarks/auto.py."""

from script import one_thread, parser, publish


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--modes", type=int, nargs="+", default=[16, 32], help="unknowns of A and B (16 32)")
    settings = options.parse_args()
    one_thread()
    from auto_rows import report

    publish(report(settings.rounds, settings.modes), settings.to)


if __name__ == "__main__":
    main()
