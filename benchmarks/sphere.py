"""Transforms, diagrams and evolutions on spheres: python benchmarks/sphere.py --to report.md."""

import argparse
import os
from pathlib import Path

# Thread counts are read when numpy and FFTW are loaded, so everything else is imported after this.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds; the fastest counts")
    parser.add_argument(
        "--degrees",
        type=int,
        nargs="+",
        default=[31, 63, 127, 255],
        metavar="L",
        help="largest degrees of transforms",
    )
    parser.add_argument("--to", type=Path, help="also write the report to this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    from sphere_rows import all_rows, measure, report

    rows = all_rows(options.degrees)
    measure(rows, options.rounds)
    text = report(rows, options.rounds)
    print(text)
    if options.to is not None:
        options.to.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
