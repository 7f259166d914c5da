"""The problems on which every claim is tried, and how they are named in a table."""

import math

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Equation,
    External,
    GegenbauerSeries,
    HegselmannKrause,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Potential,
    SoftmaxAttention,
    Sphere,
    Transformer,
)
from meanfield.arguments import checked

RANDOM_SEEDS = (1, 2, 3, 4)
LONGEST_LIST = 4


DIMENSIONS = (3, 4, 8, 16)
BETAS = (0.5, 1.0, 3.0, 9.0)


@checked
def representative_problems(domain: str | None = None) -> tuple[Equation, ...]:
    """Return problems, with free coupling, among which every claim has one that meets its hypotheses.

    Parameters
    ----------
    domain
        What they are for: claims on ``circle``, ``sphere``, ``attention`` or ``curves``, the last two on both
        domains; all if None, no problem if there is no such claim.
    """
    problems = {
        Circle.name: _on_circle,
        Sphere.name: _on_spheres,
        "attention": _of_attention,
        "curves": _with_curves,
    }
    return tuple(problem for name in problems if domain in (None, name) for problem in problems[name]())


def _on_circle() -> tuple[Equation, ...]:
    potentials: tuple[Potential, ...] = (
        Transformer(1.0),
        Transformer(3.0),
        Transformer(5.0),
        Transformer(8.0),
        Kuramoto(),
        HegselmannKrause(2.0),
        Onsager(),
        Logarithmic(1),
        Logarithmic(-1),
        CosineSeries((-1.0, -1.0)),
        CosineSeries((-1.0, -1.0 + 1e-6)),
        CosineSeries((-1.0, -1.5)),
        CosineSeries((0.5, -1.0, -1.0)),
        *(random_potential(seed) for seed in RANDOM_SEEDS),
    )
    unit_noise = [McKeanVlasov(Circle(), potential) for potential in potentials]
    confined = (
        McKeanVlasov(Circle(), Kuramoto(), noise=0.7, confinement=CosineSeries((0.3, -0.2, 0.1))),
        McKeanVlasov(Circle(), Transformer(2.0), confinement=CosineSeries((-0.5,))),
        McKeanVlasov(Circle(), Kuramoto(), noise=0.7, confinement=External.from_coefficients((0.3,), (0.0, 0.2))),
    )
    return (*unit_noise, McKeanVlasov(Circle(), Transformer(4.0), noise=0.3), *confined)


def _on_spheres() -> tuple[Equation, ...]:
    ordinary: tuple[Potential, ...] = (
        MaierSaupe(),
        Onsager(),
        single_degree(3),
        single_degree(4),
        GegenbauerSeries((1.0, 0.3)),
        GegenbauerSeries((-3.0, -6.0)),
        GegenbauerSeries((-3.0, -5.05)),
    )
    placed: list[tuple[int, Potential]] = [
        *((dimension, Transformer(beta)) for dimension in DIMENSIONS for beta in BETAS),
        *((dimension, Kuramoto()) for dimension in (3, 4, 8)),
        *((3, potential) for potential in ordinary),
        (4, MaierSaupe()),
    ]
    unit_noise = [McKeanVlasov(Sphere(dimension), potential) for dimension, potential in placed]
    confined = (
        McKeanVlasov(Sphere(3), Kuramoto(), noise=0.7, confinement=GegenbauerSeries((0.6, -0.2))),
        McKeanVlasov(Sphere(4), Kuramoto(), confinement=GegenbauerSeries((-0.5, 0.2), dimension=4)),
    )
    return (*unit_noise, McKeanVlasov(Sphere(4), Transformer(2.0), noise=0.3), *confined)


def _of_attention() -> tuple[Equation, ...]:
    unnormalised: list[tuple[Circle | Sphere, float]] = [
        *((Circle(), beta) for beta in (-1.0, -0.1, 0.5, 1.0, 4.0)),
        (Sphere(3), 1.0),
        (Sphere(4), 0.1),
        (Sphere(8), 0.5),
    ]
    normalised: list[tuple[Circle | Sphere, float]] = [
        (Circle(), 1.0),
        (Circle(), 4.0),
        (Sphere(3), 1.0),
        (Sphere(4), 4.0),
    ]
    other_kernels = (
        McKeanVlasov(Circle(), CosineSeries((-1.15, -0.2, -0.05)), noise=0.0),
        McKeanVlasov(Sphere(3), CosineSeries((-1.5, -0.25)), noise=0.0),
        *(McKeanVlasov(domain, convex_kernel(), noise=0.0) for domain in (Circle(), Sphere(3))),
    )
    return (
        *(McKeanVlasov(domain, Transformer(beta), noise=0.0) for domain, beta in unnormalised),
        *other_kernels,
        *(ContinuityEquation(domain, SoftmaxAttention(beta), noise=0.0) for domain, beta in normalised),
        *(ContinuityEquation(Circle(), SoftmaxAttention(beta)) for beta in (0.5, 1.0, 5.0)),
    )


def _with_curves() -> tuple[Equation, ...]:
    placed: tuple[tuple[Circle | Sphere, Potential], ...] = (
        (Circle(), Transformer(3.0)),
        (Circle(), Transformer(8.0)),
        (Circle(), CosineSeries((-1.0, -0.9))),
        (Circle(), CosineSeries((-1.0, -0.4, -0.65))),
        (Sphere(3), Transformer(4.0)),
        (Sphere(3), 0.5 * MaierSaupe() + 0.5 * Onsager()),
        (Sphere(8), Transformer(3.0)),
    )
    return tuple(McKeanVlasov(domain, potential) for domain, potential in placed)


def single_degree(degree: int) -> GegenbauerSeries:
    """Return the potential -P_l on the ordinary sphere, l = degree."""
    return GegenbauerSeries((*(0.0,) * (degree - 1), -1.0))


def convex_kernel() -> CosineSeries:
    """Return W = -phi(cos t), phi increasing and convex, that bends between the angles of a regular pentagon."""
    rise = Polynomial([1.0, -1.0]) ** 14 * Polynomial([1.0, 1.0]) ** 8
    bend = 0.02 + rise / rise.integ(lbnd=-1.0)(1.0)
    phi = (0.05 + bend.integ(lbnd=-1.0)).integ()
    return CosineSeries(tuple((-phi.convert(kind=Chebyshev).coef[1:]).tolist()))


def random_potential(seed: int) -> CosineSeries:
    """Return a random cosine series of mixed decay whose first mode attracts."""
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    modes = np.arange(1, 7)
    decay = generator.uniform(0.5, 3.0)
    weights = generator.normal(size=modes.size) / modes**decay
    weights[0] = -abs(weights[0]) - 0.5
    return CosineSeries(tuple(weights.tolist()))


def short_name(problem: Equation) -> str:
    """Return a short name of a problem for tables, such as ``transformer(beta=5)``."""
    law = problem.law
    described = {name: value for name, value in law.parameters().items() if name != "dimension"}
    parameters = ", ".join(_shown(name, value) for name, value in described.items())
    name = f"{law.name}({parameters})" if parameters else str(law.name)
    dimension = problem.domain.to_dict().get("dimension")
    if dimension is not None:
        name = f"{name}, d={dimension}"
    if problem.confinement is not None:
        name = f"{name}, V={problem.confinement.name}"
    return name if math.isclose(problem.noise, 1.0) else f"{name}, D={problem.noise:g}"


def _shown(name: str, value: object) -> str:
    if name == "terms" and isinstance(value, (list, tuple)):
        return " + ".join(f"{term['factor']:.7g} {term['name']}" for term in value)
    if isinstance(value, (list, tuple)):
        entries = [f"{entry:.7g}" for entry in value[:LONGEST_LIST]]
        return f"{name}=[{', '.join(entries)}{', ...' if len(value) > LONGEST_LIST else ''}]"
    return f"{name}={value:.7g}" if isinstance(value, (int, float)) else f"{name}={value}"
