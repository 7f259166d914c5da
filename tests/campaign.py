"""Random problems against brute force, from minutes to hours.

    python tests/campaign.py                         every subject, one minute each
    python tests/campaign.py resonances --trials 500
    python tests/campaign.py states --minutes 60 --seed 7
    python tests/campaign.py states --seed 7 --first 123 --trials 1        one trial again

Trial i of a seed draws from ``default_rng([seed, i])``, so that every line that is printed can be repeated. Exits with
1 if an answer was wrong and silent, an unexpected exception counted as such.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import campaigns
from tests.campaigns import Finding, Subject, Verdict


def subjects() -> dict[str, Subject]:
    """Return all subjects by name."""
    modules = [import_module(f"tests.campaigns.{module.name}") for module in iter_modules(campaigns.__path__)]
    return {name: subject for module in modules for name, subject in module.SUBJECTS.items()}


def trial(subject: Subject, seed: int, index: int) -> Finding:
    """Return the finding of one trial; an exception that is no answer is a silent error."""
    try:
        return subject(np.random.default_rng([seed, index]))
    except Exception:
        return Finding(Verdict.SILENT, "raised", traceback.format_exc(limit=-4))


def run(name: str, subject: Subject, options: argparse.Namespace) -> Counter[Verdict]:
    """Try a subject until the trials or the minutes are used up, printing what is not right."""
    counts: Counter[Verdict] = Counter()
    started = time.monotonic()
    index = options.first
    while (
        index < options.first + options.trials
        if options.trials
        else time.monotonic() - started < 60.0 * options.minutes
    ):
        finding = trial(subject, options.seed, index)
        counts[finding.verdict] += 1
        if finding.verdict is Verdict.SILENT or (options.verbose and finding.verdict is not Verdict.RIGHT):
            print(f"{name} --seed {options.seed} --first {index} --trials 1: {finding.verdict.value}")
            print(f"    {finding.call}\n    {finding.detail}", flush=True)
        index += 1
    return counts


def main() -> int:
    """Run the subjects asked for and print a table of their counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    available = subjects()
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(available)}; all if none")
    parser.add_argument("--trials", type=int, help="trials a subject; overrides --minutes")
    parser.add_argument("--minutes", type=float, default=1.0, help="minutes a subject (default 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="index of the first trial")
    parser.add_argument("--verbose", action="store_true", help="print refusals and admitted errors too")
    options = parser.parse_args()
    unknown = sorted(set(options.subjects) - set(available))
    if unknown:
        parser.error(f"no subject {unknown[0]!r}; there are {', '.join(available)}")
    table = {name: run(name, available[name], options) for name in options.subjects or available}
    print(f"{'subject':24}{'tried':>8}{'right':>8}{'refused':>9}{'said':>7}{'silent':>8}   seed {options.seed}")
    for name, counts in table.items():
        print(
            f"{name:24}{counts.total():8}"
            + "".join(f"{counts[verdict]:{width}}" for verdict, width in zip(Verdict, (8, 9, 7, 8), strict=True))
        )
    return int(any(counts[Verdict.SILENT] for counts in table.values()))


if __name__ == "__main__":
    sys.exit(main())
