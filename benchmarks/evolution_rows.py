"""Evolutions of the reference problem, timed and compared with a run at the smallest tolerance.

The noisy transformer at beta = 4, twice the critical coupling, unit noise, from (1 + 0.1 cos t)/2 pi, to time 3 in
the middle of the transient and to 34 at rest.
"""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray
from rows import cpu, fft
from tables import table

from meanfield import Circle, McKeanVlasov, Transformer, critical_coupling
from solvers import ETDRK4, LSODA, PerturbedUniform, evolve
from solvers.bases.transforms import backend_name
from solvers.evolution.exponential import coefficients, krogstad_step
from solvers.evolution.march import March
from solvers.evolution.system import EvenSystem
from solvers.execution.provenance import version

START = PerturbedUniform(0.1)
TOLERANCE = 1e-8
DEGREE, MODES = 40, 64
SHORT, LONG = 3.0, 34.0
COLUMNS = ("task", "to time", "modes", "steps", "evaluations", "time ms", "relative error", "target ms")


@dataclass(frozen=True)
class Result:
    """The moments of degree 1 to 40 at the end, and the work done."""

    moments: NDArray[np.float64]
    modes: int
    steps: int | None
    evaluations: int


@dataclass
class Row:
    """A task with its result and its shortest CPU time in seconds."""

    name: str
    until: float
    task: Callable[[], Result]
    result: Result
    target: float | None = None
    backend: str | None = None
    seconds: float = float("inf")

    def once(self) -> None:
        """Time the task once."""
        with fft(self.backend):
            self.seconds = min(self.seconds, cpu(self.task))


def problem() -> McKeanVlasov:
    """Return the reference problem."""
    free = McKeanVlasov(Circle(), Transformer(4.0))
    return free.at(coupling=2.0 * critical_coupling(free))


def whole_call(until: float, times: list[float] | int) -> Result:
    """Make the public call, the record included."""
    trajectory = evolve(problem(), START, until, times=times, tolerance=TOLERANCE)
    moments = trajectory.cosine[-1, 1 : DEGREE + 1]
    return Result(moments, int(trajectory.modes[-1]), trajectory.steps, trajectory.evaluations)


def integrator(until: float, modes: int, method: LSODA | ETDRK4) -> Result:
    """Run an integrator alone, from the set-up of its system to the moments at the end."""
    system = EvenSystem(problem(), modes)
    unknown = np.zeros(modes)
    unknown[0] = 0.5 * START.amplitude
    march = March(system, 0.0, unknown, until, method, TOLERANCE)
    end = march.to(until)
    work = march.counted()
    return Result(end[:DEGREE], march.system.degree, work.steps, work.evaluations)


def plain(until: float, modes: int, method: str) -> Result:
    """Integrate with solve_ivp as one would write it down: np.convolve, no Jacobian."""
    from scipy.integrate import solve_ivp

    k = np.arange(1, modes + 1)
    equation = problem()
    strengths = -equation.coupling * equation.potential.multipliers(equation.domain, modes)[1:].astype(float) / 2.0

    def derivative(_: float, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        density = np.concatenate([moments[::-1], [1.0], moments])
        slope = k * strengths * moments
        products = np.convolve(np.concatenate([-slope[::-1], [0.0], slope]), density)
        return -(k**2) * moments + k * products[2 * modes + 1 : 3 * modes + 1]

    begin = np.zeros(modes)
    begin[0] = 0.5 * START.amplitude
    solved = solve_ivp(derivative, (0.0, until), begin, method, rtol=TOLERANCE, atol=1e-2 * TOLERANCE)
    return Result(solved.y[:DEGREE, -1], modes, solved.t.size - 1, solved.nfev)


def all_rows(with_plain: bool) -> list[Row]:
    """Return every row, run once so that nothing is timed cold."""
    rows = []
    for until, target in ((SHORT, 10.0), (LONG, 25.0)):
        rows.append(_row("evolve, the end", until, partial(whole_call, until, [until]), target))
        rows.append(_row("evolve, 100 times", until, partial(whole_call, until, 100)))
        for method in (LSODA(), ETDRK4()):
            rows.append(_row(f"{method.name} alone", until, partial(integrator, until, MODES, method)))
    slower = partial(integrator, SHORT, MODES, ETDRK4())
    rows.append(_row("adaptive ETDRK4 alone, scipy.fft", SHORT, slower, backend="scipy"))
    if with_plain:
        for method in ("LSODA", "BDF", "Radau"):
            rows.append(_row(f"plain {method}, np.convolve", SHORT, partial(plain, SHORT, MODES, method)))
    return rows


def measure(rows: list[Row], rounds: int) -> None:
    """Time all rows in turn, round after round, so that a slow moment of the machine meets all alike."""
    for _ in range(rounds):
        for row in rows:
            row.once()


def report(rows: list[Row], rounds: int) -> str:
    """Return the report as Markdown."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    libraries = f"numpy {np.__version__}, scipy {scipy.__version__}, {backend_name()}"
    exact = {until: whole_reference(until) for until in (SHORT, LONG)}
    return "\n".join(
        [
            f"# Evolution with meanfield {version()}",
            "",
            f"{datetime.now(tz=UTC):%Y-%m-%d}, {machine}, {libraries}.",
            f"CPU time, one thread, minimum of {rounds} interleaved rounds; tolerance {TOLERANCE:g}.",
            "",
            *table(COLUMNS, [cells(row, exact[row.until]) for row in rows]),
            "",
            *table(("ratio", "value", "target"), ratios(rows)),
        ]
    )


def whole_reference(until: float) -> NDArray[np.float64]:
    """Return the moments by the smallest tolerance."""
    trajectory = evolve(problem(), START, until, times=[until], tolerance=1e-12)
    return np.asarray(trajectory.cosine[-1, 1 : DEGREE + 1])


def cells(row: Row, exact: NDArray[np.float64]) -> tuple[str, ...]:
    """Return the entries of one row."""
    result = row.result
    error = float(np.linalg.norm(result.moments - exact) / np.linalg.norm(exact))
    return (
        row.name,
        f"{row.until:g}",
        str(result.modes),
        "" if result.steps is None else str(result.steps),
        str(result.evaluations),
        f"{1e3 * row.seconds:.2f}",
        f"{error:.1e}",
        "" if row.target is None else f"<= {row.target:g}",
    )


def ratios(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return the ratios, which carry over from one machine to another."""
    step, terms = step_and_terms()
    found = {(row.name, row.until): row for row in rows}
    scipy_row = next(row for row in rows if row.backend == "scipy")
    own, best = found["adaptive ETDRK4 alone", SHORT], found["evolve, the end", SHORT]
    lines = [
        ("a step of ETDRK4, us", f"{1e6 * step:.1f}", "<= 22"),
        ("a step of ETDRK4 / four nonlinear terms", f"{step / terms:.2f}", ""),
        ("ETDRK4: scipy.fft / pyfftw", f"{scipy_row.seconds / own.seconds:.2f}", ">= 2"),
    ]
    for row in rows:
        if row.name.startswith("plain"):
            lines.append((f"{row.name} / evolve", f"{row.seconds / best.seconds:.1f}", ""))
    return lines


def step_and_terms(repeats: int = 2000) -> tuple[float, float]:
    """Return the CPU seconds of a step of ETDRK4 and of four nonlinear terms, the shortest of five in turn."""
    system = EvenSystem(problem(), MODES)
    unknown = 0.5 ** np.arange(1.0, MODES + 1.0)
    weights, nonlinear = coefficients(system.linear, 1e-3), system.nonlinear(unknown)

    def steps() -> None:
        for _ in range(repeats):
            krogstad_step(system, 0.0, 1e-3, unknown, nonlinear, weights)

    def terms() -> None:
        for _ in range(4 * repeats):
            system.nonlinear(unknown)

    times = [(cpu(steps), cpu(terms)) for _ in range(5)]
    return min(step for step, _ in times) / repeats, min(term for _, term in times) / repeats


def _row(
    name: str, until: float, task: Callable[[], Result], target: float | None = None, backend: str | None = None
) -> Row:
    with fft(backend):
        return Row(name, until, task, task(), target, backend)
