"""What is timed on spheres: a round trip of harmonics, a diagram beside that of the circle, evolutions on S^2.

Each row is a function without arguments that returns what it should, and the error of that.
"""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray
from rows import cpu
from tables import table

from meanfield import Circle, McKeanVlasov, Sphere, Transformer, critical_coupling
from solvers import ETDRK4, VonMises, bifurcation_diagram, evolve
from solvers.bases import SphericalTransform
from solvers.bases.spherical import ducc
from solvers.bases.transforms import backend_name
from solvers.evolution.sphere.zonal import ZonalSystem
from solvers.execution.provenance import version

COLUMNS = ("task", "size", "time ms", "relative error", "target ms")
# The evolution of the report: from a density about the pole towards the state of one cluster.
UNTIL, START = 1.0, VonMises(0.0, 0.5)
DEGREE = 40
# The tolerance is that of the moments step by step; the error at the end is a tenth of it.
FULL_TOLERANCE = 1e-3
# Degrees of the integration alone, with which others have been timed.
ALONE = 48


@dataclass
class Row:
    """A task, its size in words, its error and its shortest CPU time in seconds."""

    name: str
    size: str
    task: Callable[[], object]
    error: float
    target: float | None = None
    seconds: float = float("inf")

    def once(self) -> None:
        """Time the task once."""
        self.seconds = min(self.seconds, cpu(self.task))


def all_rows(degrees: list[int]) -> list[Row]:
    """Return every row, run once so that nothing is timed cold."""
    backends = ("numpy", "ducc0") if ducc() is not None else ("numpy",)
    transforms = [transform_row(degree, backend) for degree in degrees for backend in backends]
    return [*transforms, *diagram_rows(), *evolution_rows()]


def transform_row(degree: int, backend: str) -> Row:
    """Return the round trip of random moments up to a degree."""
    transform = SphericalTransform(degree, backend=backend)
    generator = np.random.default_rng(1)
    cosine, sine = generator.standard_normal((2, transform.degrees.size))
    sine[transform.orders == 0] = 0.0

    def round_trip() -> NDArray[np.float64]:
        values = transform.synthesise(transform.multiplicities * cosine, transform.multiplicities * sine)
        return np.array(transform.analyse(values))

    error = float(np.abs(round_trip() - [cosine, sine]).max() / np.abs(cosine).max())
    return Row(f"round trip of harmonics, {backend}", f"degree {degree}", round_trip, error)


def diagram_rows() -> list[Row]:
    """Return the diagram of the transformer at beta = 3 on S^2, zonal branches only, and at 5 on the circle."""
    rows = []
    for domain, beta, relative, fold in (
        (Circle(), 5.0, (0.5, 3.0), 0.89701509340337279),
        (Sphere(3), 3.0, (0.5, 3.0), 1.20844752878 / 1.33761959098),
        (Sphere(16), 3.0, (0.5, 3.0), None),
    ):
        task = partial(
            bifurcation_diagram, McKeanVlasov(domain, Transformer(beta)), relative=relative, depth=1, rates=False
        )
        diagram = task()
        points = sum(len(branch) for branch in diagram.branches[1:])
        found = diagram.events("fold")[0].relative_coupling
        error = 0.0 if fold is None else abs(found - fold) / fold
        name = domain.name if isinstance(domain, Circle) else f"S^{domain.dimension - 1}"
        rows.append(Row(f"diagram, {name}, beta = {beta:g}", f"{points} points", task, error))
    return rows


def evolution_rows() -> list[Row]:
    """Return evolutions to time one at twice the critical coupling: about the axis, and on all of S^2."""
    free = McKeanVlasov(Sphere(3), Transformer(4.0))
    problem = free.at(coupling=2.0 * critical_coupling(free))
    exact = _moments(evolve(problem, START, UNTIL, times=[UNTIL], tolerance=1e-12))
    zonal = partial(evolve, problem, START, UNTIL, times=[UNTIL], tolerance=1e-8)
    full = partial(
        evolve, problem, START, UNTIL, times=[UNTIL], tolerance=FULL_TOLERANCE, method=ETDRK4(), full=True
    )
    rows = [alone_row(problem)]
    for name, task, target in (("evolve, about an axis", zonal, None), ("evolve, on all of S^2", full, 60.0)):
        trajectory = task()
        error = float(np.linalg.norm(_moments(trajectory) - exact) / np.linalg.norm(exact))
        rows.append(Row(name, f"degree {int(trajectory.modes[-1])}", task, error, target))
    return rows


def alone_row(problem: McKeanVlasov) -> Row:
    """Return the integration alone, without records, at a fixed degree; its error is that in time."""
    from scipy.integrate import solve_ivp

    start = np.asarray(evolve(problem, START, 1e-9, times=[1e-9]).cosine[0, 1:])
    begin = np.zeros(ALONE)
    begin[: min(ALONE, start.size)] = start[:ALONE]

    def integrated(tolerance: float = 1e-8) -> NDArray[np.float64]:
        system = ZonalSystem(problem, ALONE)
        solved = solve_ivp(
            system.derivative,
            (0.0, UNTIL),
            begin,
            "LSODA",
            jac=system.jacobian,
            rtol=tolerance,
            atol=1e-2 * tolerance,
            t_eval=[UNTIL],
        )
        return np.asarray(solved.y[:, -1])

    exact = integrated(1e-12)
    error = float(np.linalg.norm(integrated() - exact) / np.linalg.norm(exact))
    return Row("LSODA alone, about an axis", f"degree {ALONE}", integrated, error, 5.0)


def _moments(trajectory: object) -> NDArray[np.float64]:
    """Return the zonal moments at the end, of degree 1 to 40."""
    degrees = np.arange(1, DEGREE + 1)
    places = degrees if trajectory.layout == "degree" else degrees * (degrees + 1) // 2
    moments = np.zeros(DEGREE)
    there = places < trajectory.cosine.shape[1]
    moments[there] = trajectory.cosine[-1, places[there]]
    return moments


def measure(rows: list[Row], rounds: int) -> None:
    """Time all rows in turn, round after round, so that a slow moment of the machine meets all alike."""
    for _ in range(rounds):
        for row in rows:
            row.once()


def report(rows: list[Row], rounds: int) -> str:
    """Return the report as Markdown."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    library = ducc()
    harmonics = "" if library is None else f", ducc0 {library.__version__}"
    libraries = f"numpy {np.__version__}, scipy {scipy.__version__}, {backend_name()}{harmonics}"
    body = [
        (
            row.name,
            row.size,
            f"{1e3 * row.seconds:.3g}",
            f"{row.error:.1e}",
            "" if row.target is None else f"<= {row.target:g}",
        )
        for row in rows
    ]
    return "\n".join(
        [
            f"# Spheres with meanfield {version()}",
            "",
            f"{datetime.now(tz=UTC):%Y-%m-%d}, {machine}, {libraries}.",
            f"CPU time, one thread, minimum of {rounds} interleaved rounds.",
            "",
            *table(COLUMNS, body),
        ]
    )
