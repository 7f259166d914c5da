"""Time evolutions of the reference problem: python benchmarks/evolution.py --to report.md."""

import argparse
import os
from pathlib import Path

# Thread counts are read when numpy and FFTW are loaded, so everything else is imported after this.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds; the fastest counts")
    parser.add_argument("--plain", action="store_true", help="also time plain integrations of the same equation")
    parser.add_argument("--to", type=Path, help="also write the report to this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    from evolution_rows import all_rows, measure, report

    rows = all_rows(options.plain)
    measure(rows, options.rounds)
    text = report(rows, options.rounds)
    print(text)
    if options.to is not None:
        options.to.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
