"""A step of the reference problem in nanoseconds a particle, and what of it no scheme can do without.

The noisy transformer at beta = 4, twice the critical coupling, unit noise, steps of 0.003 from a broad cluster.
"""

import functools
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from rows import cpu
from tables import table

from meanfield import Circle, McKeanVlasov, Transformer, critical_coupling
from solvers import EulerMaruyama, MomentDrift, WeakSecondOrder, simulate
from solvers.bases.transforms import backend_name
from solvers.execution.compiling import available
from solvers.execution.provenance import version
from solvers.particles.clouds import MomentCloud, in_cells
from solvers.particles.compiled import CompiledKernel
from solvers.particles.drift import truncation
from solvers.particles.kernels import BLOCK, ArrayKernel
from solvers.particles.stepping import advance

STEP = 0.003
TARGETS = {("euler-maruyama", "numpy"): 45.0, ("euler-maruyama", "numba"): 11.0}
COLUMNS = (
    "scheme",
    "kernel",
    "particles",
    "ns/particle-step",
    "random numbers ns",
    "moments ns",
    "time/both",
    "target ns",
)


@dataclass
class Row:
    """A scheme on a kernel, with the shortest CPU times of a step and of its parts, in nanoseconds a particle."""

    scheme: Any
    kernel: Any
    particles: int
    step: Callable[[], None]
    numbers: Callable[[], None]
    moments: Callable[[], None]
    times: dict[str, float]

    def once(self, work: int) -> None:
        """Time the step and its parts once, repeated to so many particle-steps."""
        repeats = max(1, work // self.particles)
        for name in ("step", "numbers", "moments"):
            seconds = cpu(functools.partial(_repeated, getattr(self, name), repeats))
            self.times[name] = min(self.times[name], 1e9 * seconds / repeats / self.particles)


def problem() -> McKeanVlasov:
    """Return the reference problem."""
    free = McKeanVlasov(Circle(), Transformer(4.0))
    return free.at(coupling=2.0 * critical_coupling(free))


def all_rows(sizes: list[int]) -> list[Row]:
    """Return every row; each function runs once here, so that nothing is timed cold or compiled."""
    kernels = [ArrayKernel, *([CompiledKernel] if available() else [])]
    schemes = (EulerMaruyama(), WeakSecondOrder())
    rows = [_row(scheme, kind, count) for scheme in schemes for kind in kernels for count in sizes]
    for row in rows:
        row.step(), row.numbers(), row.moments()
    return rows


def measure(rows: list[Row], rounds: int, work: int) -> None:
    """Time all rows in turn, round after round, so that a slow moment of the machine meets all alike."""
    for _ in range(rounds):
        for row in rows:
            row.once(work)


def whole_runs() -> list[tuple[str, float]]:
    """Time 10^6 particles for 1000 Euler-Maruyama steps, sampling and everything else included."""
    runs = []
    for kernel in ("numpy", *(["numba"] if available() else [])):
        run = functools.partial(
            simulate, problem(), 10**6, 1000 * STEP, 1, step=STEP, scheme=EulerMaruyama(), kernel=kernel
        )
        runs.append((f"10^6 particles, 1000 steps, {kernel}", cpu(run)))
    return runs


def report(rows: list[Row], rounds: int, runs: list[tuple[str, float]]) -> str:
    """Return the report as Markdown."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    libraries = f"numpy {np.__version__}, {backend_name()}" + _numba_version()
    lines = [
        f"# Particles with meanfield {version()}",
        "",
        f"{datetime.now(tz=UTC):%Y-%m-%d}, {machine}, {libraries}.",
        f"CPU time, one thread, minimum of {rounds} interleaved rounds.",
        "",
        *table(COLUMNS, [cells(row) for row in rows]),
    ]
    if runs:
        lines += ["", *table(("run", "seconds"), [(name, f"{seconds:.1f}") for name, seconds in runs])]
    return "\n".join(lines)


def cells(row: Row) -> tuple[str, ...]:
    """Return the entries of one row."""
    times = row.times
    target = TARGETS.get((row.scheme.name, row.kernel.name))
    return (
        row.scheme.name,
        row.kernel.name,
        str(row.particles),
        f"{times['step']:.1f}",
        f"{times['numbers']:.1f}",
        f"{times['moments']:.1f}",
        f"{times['step'] / (times['numbers'] + times['moments']):.2f}",
        "" if target is None else f"<= {target:g}",
    )


def _row(scheme: Any, kind: Any, count: int) -> Row:
    modes = truncation(problem(), MomentDrift(), 6)
    kernel = kind(modes.cells)
    generator = np.random.Generator(np.random.SFC64(1))
    positions = in_cells(generator.vonmises(0.0, 1.0, count), modes.cells)
    cloud = MomentCloud(problem(), modes, 6, positions, generator, kernel)
    sums = np.zeros((4, modes.cells))
    return Row(
        scheme=scheme,
        kernel=kernel,
        particles=count,
        step=functools.partial(advance, scheme, cloud, STEP),
        numbers=functools.partial(_numbers(kernel), generator, np.empty(BLOCK), count),
        moments=functools.partial(kernel.deposit, positions, sums),
        times=dict.fromkeys(("step", "numbers", "moments"), float("inf")),
    )


def _numbers(kernel: Any) -> Callable[..., None]:
    return _drawn if kernel.name == "numpy" else _compiled()


@functools.cache
def _compiled() -> Callable[..., None]:
    import numba

    return numba.njit(_filled)


def _drawn(generator: np.random.Generator, block: Any, count: int) -> None:
    for start in range(0, count, block.size):
        generator.standard_normal(out=block[: min(block.size, count - start)])


def _filled(generator: Any, block: Any, count: int) -> None:
    for start in range(0, count, block.size):
        for index in range(min(block.size, count - start)):
            block[index] = generator.standard_normal()


def _repeated(task: Callable[[], None], repeats: int) -> None:
    for _ in range(repeats):
        task()


def _numba_version() -> str:
    if not available():
        return ", without numba"
    import numba

    return f", numba {numba.__version__}"
