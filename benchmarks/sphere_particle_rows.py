"""A step of particles on spheres in nanoseconds a particle, beside the parts it is made of.

On S^2 the noisy transformer at beta = 4, its drift from the degrees up to 12, which leave about 1e-6 of it out, by
ducc0 and by the harmonics of the package; in four and sixty-four dimensions potentials of few degrees by tensors.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rows import cpu
from tables import table

from meanfield import Kuramoto, MaierSaupe, McKeanVlasov, Sphere, Transformer
from solvers import EulerMaruyama, MomentDrift, VonMises, WeakSecondOrder
from solvers.bases.spherical import ducc
from solvers.particles.sphere.setting import SphereSetting, sphere_setting
from solvers.particles.stepping import advance

STEP = 0.003
DEGREE = 12
TARGET = 160.0
# Own harmonics take microseconds a particle; more of them tell nothing new.
LARGEST_NUMPY = 10**5
COLUMNS = (
    "potential",
    "dimension",
    "degree",
    "kernel",
    "particles",
    "euler-maruyama ns",
    "weak-second-order ns",
    "moments ns",
    "noise ns",
    "target ns (euler-maruyama)",
)
PARTS = ("euler", "second", "moments", "noise")


@dataclass
class Row:
    """A problem and a kernel, with the shortest CPU times of a step and of its parts, in nanoseconds a particle."""

    setting: SphereSetting
    particles: int
    parts: dict[str, Callable[[], None]]
    times: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, float("inf")))

    def once(self, work: int) -> None:
        """Time every part once, repeated to so many particle-steps."""
        repeats = max(1, work // self.particles)
        for name, part in self.parts.items():
            seconds = cpu(functools.partial(_repeated, part, repeats))
            self.times[name] = min(self.times[name], 1e9 * seconds / repeats / self.particles)


def sphere_report(sizes: list[int], rounds: int, work: int) -> str:
    """Time all rows in turn, round after round, and return their table."""
    rows = list(_rows(sizes))
    for _ in range(rounds):
        for row in rows:
            row.once(work if row.setting.kernel == "ducc0" else work // 8)
    head = ["## On spheres", ""]
    if ducc() is None:
        head += ["Without ducc0.", ""]
    return "\n".join([*head, *table(COLUMNS, [_cells(row) for row in rows])])


def _rows(sizes: list[int]) -> Any:
    ordinary = McKeanVlasov(Sphere(3), Transformer(4.0), coupling=0.5)
    drift = MomentDrift(tolerance=4e-7, largest_degree=DEGREE)
    for kernel in (["ducc0"] if ducc() is not None else []) + ["numpy"]:
        for count in sizes:
            if kernel == "ducc0" or count <= LARGEST_NUMPY:
                yield _row(sphere_setting(ordinary, drift, 6, count).with_kernel(kernel, 1.0), count)
    for potential, dimension in ((MaierSaupe(), 4), (Kuramoto(), 64)):
        of = McKeanVlasov(Sphere(dimension), potential, coupling=1.0)
        yield _row(sphere_setting(of, MomentDrift(), 2, 10**4).with_kernel("numpy", 1.0), 10**4)


def _row(setting: SphereSetting, count: int) -> Row:
    generator = np.random.Generator(np.random.SFC64(1))
    start = setting.starts(VonMises(0.0, 1.0), count, 1).each[0]
    cloud = setting.cloud(setting.placed(start, count, generator), generator)
    field_of, noise = setting.field(), np.empty((setting.dimension, 4096))
    parts: dict[str, Callable[[], None]] = {
        "euler": functools.partial(advance, EulerMaruyama(), cloud, STEP),
        "second": functools.partial(advance, WeakSecondOrder(), cloud, STEP),
        "moments": functools.partial(field_of.gather, cloud.positions),
        "noise": functools.partial(_drawn, generator, noise, count),
    }
    for part in parts.values():
        part()
    return Row(setting, count, parts)


def _cells(row: Row) -> tuple[str, ...]:
    setting = row.setting
    return (
        setting.problem.potential.name,
        str(setting.dimension),
        str(setting.significant.degree),
        setting.kernel,
        str(row.particles),
        *(f"{row.times[name]:.1f}" for name in PARTS),
        f"<= {TARGET:g}" if setting.kernel == "ducc0" else "",
    )


def _drawn(generator: np.random.Generator, block: Any, count: int) -> None:
    for _ in range(0, count, block.shape[1]):
        generator.standard_normal(out=block)


def _repeated(task: Callable[[], None], repeats: int) -> None:
    for _ in range(repeats):
        task()
