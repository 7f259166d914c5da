"""The states of a list of problems and the CPU time they take, in one process for each tree that is timed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tables import heading, table

# Milliseconds of CPU time that a user should not wait longer than.
TARGETS = {"circle, Transformer 5": 60.0}
TARGET = 1000.0
RATES = "--rates"
# Drawn once from the uniform distribution on (-1, 1).
RANDOM = (0.024, 0.901, -0.712, 0.897, -0.376, -0.153, 0.655, -0.181)
ATTRACTING = (-1.0, -0.9, -0.8, -0.9, -0.7, -0.8, -0.6, -0.9)
MIXED = (-1.0, -1.5, 0.7, -2.0, -1.0, 0.5, -1.0, -2.0)


@dataclass
class Row:
    """A problem in a tree: its first call and the shortest later one in seconds, and the states found."""

    problem: str
    tree: str
    first: float
    seconds: float
    states: int


def catalogue(rates: bool = False) -> dict[str, Callable[[], object]]:
    """Return the problems by name, each as a function that solves it, with the rates of its states or without."""
    from meanfield import (
        Circle,
        CosineSeries,
        GegenbauerSeries,
        KellerSegel,
        McKeanVlasov,
        Sphere,
        State,
        Transformer,
        critical_coupling,
    )
    from solvers import stationary_states

    def solving(
        domain: object, potential: object, relative: float, confinement: object = None
    ) -> Callable[[], object]:
        coupling = relative * float(critical_coupling(McKeanVlasov(domain, potential)))
        problem = McKeanVlasov(domain, potential, coupling=coupling, confinement=confinement)
        return lambda: with_rates(stationary_states(problem)) if rates else stationary_states(problem, rates=False)

    def with_rates(states: Sequence[State]) -> Sequence[State]:
        for state in states:
            _ = state.slowest_rate
        return states

    circle, sphere = Circle(), Sphere(3)
    single = {degree: GegenbauerSeries((0.0,) * (degree - 1) + (-1.0,)) for degree in range(1, 9)}
    return {
        "circle, Transformer 5": solving(circle, Transformer(beta=5.0), 0.95),
        "circle, eight random terms": solving(circle, CosineSeries(RANDOM), 1.5),
        "circle, eight terms in a field": solving(circle, CosineSeries(RANDOM), 1.5, CosineSeries((0.3, -0.2))),
        "circle, eight strong terms": solving(circle, CosineSeries(MIXED), 1.6),
        "circle, eight strong terms in a field": solving(
            circle, CosineSeries(MIXED), 1.6, CosineSeries((0.3, -0.2))
        ),
        "circle, Keller-Segel": solving(circle, KellerSegel(), 1.5),
        "sphere, Transformer 3": solving(sphere, Transformer(beta=3.0), 2.5),
        **{f"sphere, degree {degree}": solving(sphere, series, 1.2) for degree, series in single.items()},
        "sphere, degree 4 in a field": solving(sphere, single[4], 1.3, GegenbauerSeries((0.0, 0.2))),
        "sphere, degree 8 in a field": solving(sphere, single[8], 1.3, GegenbauerSeries((0.0, 0.2))),
        "sphere, degrees to 4": solving(sphere, GegenbauerSeries(MIXED[:4]), 1.6),
        "sphere, degrees to 4 in a field": solving(
            sphere, GegenbauerSeries(MIXED[:4]), 1.6, GegenbauerSeries((0.3, -0.4))
        ),
        "sphere, degrees to 6": solving(sphere, GegenbauerSeries(MIXED[:6]), 1.6),
        "sphere, degrees to 8, all attract": solving(sphere, GegenbauerSeries(ATTRACTING), 1.2),
        "sphere, degrees to 8": solving(sphere, GegenbauerSeries(MIXED), 1.6),
    }


def names() -> list[str]:
    """Return the names of the problems."""
    return list(catalogue())


def measured(problems: list[str], trees: list[Path], rounds: int, rates: bool = False) -> list[Row]:
    """Return the rows of all problems in all trees, timed in turn so that a slow moment meets all alike."""
    workers = [_worker(tree, rates) for tree in trees]
    rows = []
    for problem in problems:
        times = [[_timed(worker, problem) for worker in workers] for _ in range(rounds + 1)]
        for place, tree in enumerate(trees):
            seconds, counts = zip(*(turn[place] for turn in times), strict=True)
            rows.append(Row(problem, tree.name, seconds[0], min(seconds[1:]), counts[0]))
    for worker in workers:
        worker.communicate()
    return rows


def _worker(tree: Path, rates: bool) -> subprocess.Popen[str]:
    """Return a process that solves the problems it is told with the packages of a tree."""
    return subprocess.Popen(
        [sys.executable, __file__, *([RATES] if rates else [])],
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _timed(worker: subprocess.Popen[str], problem: str) -> tuple[float, int]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(problem, file=worker.stdin, flush=True)
    seconds, states = worker.stdout.readline().split()
    return float(seconds), int(states)


def report(rows: list[Row], rounds: int) -> str:
    """Return the table of the rows, times in milliseconds."""
    lines = [
        (
            row.problem,
            row.tree,
            str(row.states),
            f"{1e3 * row.first:.0f}",
            f"{1e3 * row.seconds:.0f}",
            f"<= {TARGETS.get(row.problem, TARGET):.0f}",
        )
        for row in rows
    ]
    head = ("problem", "tree", "states", "first ms", "later ms", "target ms")
    return "\n".join([*heading(rounds), *table(head, lines)])


def _serve() -> None:
    """Answer every name of a problem that is read with the CPU seconds it takes and the number of its states."""
    problems = catalogue(rates=RATES in sys.argv)
    for line in sys.stdin:
        started = time.process_time()
        states = problems[line.strip()]()
        print(time.process_time() - started, len(states), flush=True)


if __name__ == "__main__":
    _serve()
