"""Time a particle-step beside its random numbers and moments, on the circle and on spheres.

python benchmarks/particles.py --to report.md
"""

import argparse

from script import one_thread, parser, publish


def arguments() -> argparse.Namespace:
    options = parser(__doc__)
    options.add_argument("--particles", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="sizes")
    options.add_argument("--work", type=int, default=2**21, help="particle-steps in one measurement")
    options.add_argument(
        "--whole", action="store_true", help="also time the whole of 10^6 particles for 1000 steps"
    )
    return options.parse_args()


def main() -> None:
    options = arguments()
    one_thread()
    from particle_rows import all_rows, measure, report, whole_runs
    from sphere_particle_rows import sphere_report

    rows = all_rows(options.particles)
    measure(rows, options.rounds, options.work)
    text = report(rows, options.rounds, whole_runs() if options.whole else [])
    text += "\n\n" + sphere_report(options.particles, options.rounds, options.work)
    publish(text, options.to)


if __name__ == "__main__":
    main()
