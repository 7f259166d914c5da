"""Time a particle-step beside its random numbers and moments, on the circle and on spheres.

python benchmarks/particles.py --to report.md
"""

import argparse
import os
from pathlib import Path

# Thread counts are read when numpy and FFTW are loaded, so everything else is imported after this.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds; the fastest counts")
    parser.add_argument("--particles", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="sizes")
    parser.add_argument("--work", type=int, default=2**21, help="particle-steps in one measurement")
    parser.add_argument("--whole", action="store_true", help="also time the whole of 10^6 particles for 1000 steps")
    parser.add_argument("--to", type=Path, help="also write the report to this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    from particle_rows import all_rows, measure, report, whole_runs
    from sphere_particle_rows import sphere_report

    rows = all_rows(options.particles)
    measure(rows, options.rounds, options.work)
    text = report(rows, options.rounds, whole_runs() if options.whole else [])
    text += "\n\n" + sphere_report(options.particles, options.rounds, options.work)
    print(text)
    if options.to is not None:
        options.to.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
