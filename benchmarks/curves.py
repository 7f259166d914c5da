"""Time curves of special points in two parameters: python benchmarks/curves.py."""

from script import one_thread, parser, publish


def main() -> None:
    options = parser(__doc__).parse_args()
    one_thread()
    from curve_rows import report

    publish(report(options.rounds), options.to)


if __name__ == "__main__":
    main()
