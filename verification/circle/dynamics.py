r"""Evolution in time: free energy falls by its dissipation, mass stays, rotation commutes, the gap is the rate.

.. math:: \frac{dF}{dt} = -\int\rho\,\bigl|\partial_\theta(D\log\rho + \kappa W*\rho)\bigr|^2\,d\theta \le 0 .

All densities start as two bumps of different width, without any symmetry.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import ive

from meanfield import Equation, Logarithmic, Relaxation, Trajectory

from ..claims import FREE_ENERGY, Evidence, Undecided, at_least, claim, compare, worst
from ..hypotheses import anywhere
from ..tools import Tools
from .measures import EPS, RESIDUAL, Floats, unit_coupling
from .properties import repulsive

# Relative coupling: clusters form; where the free energy is unbounded above the critical one, below it.
FACTOR, SAFE_FACTOR = 2.0, 0.5
START_DEGREE = 60
# Times in units of 1/D.
DURATION, LONG = 3.0, 40.0
# The dissipation is integrated by Gauss's rule between these times, short ones while high modes die out.
EDGES = np.concatenate([[0.0, 1e-3, 5e-3, 2e-2, 6e-2], np.arange(0.125, DURATION + 0.01, 0.125)])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
IDENTITY, PRECISE = 1e-8, 1e-11
MASS = 1e-14
RATE = 1e-4
ANGLE = 0.7
EQUIVARIANCE = 1e-11
# A repulsive system forgets at least as fast as diffusion: exp(-12) is 6e-6.
FORGOTTEN, UNIFORM = 12.0, 1e-4


def moving(problem: Equation) -> Equation:
    """Return the problem at a coupling at which densities evolve and do not blow up."""
    collapses = isinstance(problem.potential, Logarithmic) and problem.potential.sign > 0
    return problem.at(coupling=(SAFE_FACTOR if collapses else FACTOR) * unit_coupling(problem))


def bump(concentration: float, angle: float) -> np.ndarray:
    """Return the moments m_k - i s_k of a von Mises density."""
    degrees = np.arange(START_DEGREE + 1)
    sizes = ive(degrees, concentration) / ive(0, concentration)
    return np.asarray(sizes * np.exp(-1j * degrees * angle))


def start(angle: float = 0.0) -> tuple[Floats, Floats]:
    """Return cosine and sine moments of the two bumps, turned by an angle."""
    moments = 0.6 * bump(2.0, 0.7) + 0.4 * bump(5.0, 2.9)
    turned = moments * np.exp(-1j * angle * np.arange(moments.size))
    return np.asarray(turned.real), np.asarray(-turned.imag)


@claim(
    "circle.energy-identity",
    "the free energy falls by its dissipation",
    statement="F(0) - F(t) = int_0^t int rho |d/dtheta (D log rho + kappa W*rho)|^2 along every solution.",
    assumptions="no confinement",
    source="gradient flow of F; dissipation integrated over time by Gauss's rule",
    hypotheses=anywhere,
    needs=FREE_ENERGY,
)
def energy_identity(problem: Equation, tools: Tools) -> Evidence:
    """Integrate the dissipation along a trajectory and compare with the fall of the free energy."""
    half = 0.5 * np.diff(EDGES) / problem.noise
    times = (EDGES[:-1, np.newaxis] / problem.noise + half[:, np.newaxis] * (1 + NODES)).ravel()
    end = DURATION / problem.noise
    found = tools.evolve(moving(problem), start(), end, times=[0.0, *times, end], tolerance=PRECISE)
    integral = float((half[:, np.newaxis] * WEIGHTS).ravel() @ found.dissipation[1:-1])
    fall = float(found.free_energy_gap[0] - found.free_energy_gap[-1])
    text = f"integrated dissipation beside a fall of (F - F_0)/D by {fall:.9g} until time {end:g}"
    return compare(integral, fall, IDENTITY * (1 + abs(fall)), text)


@claim(
    "circle.energy-decrease",
    "the free energy never increases",
    statement="F(rho(t)) is non-increasing in t, and its dissipation is not negative.",
    assumptions="no confinement",
    source="gradient flow of F; beyond rounding of F",
    hypotheses=anywhere,
    needs=FREE_ENERGY,
)
def energy_decrease(problem: Equation, tools: Tools) -> Evidence:
    """Compare the largest increase of the free energy between any two of many times with zero."""
    found = _long_evolution(problem, tools)
    energies = found.free_energy_gap
    rise = float(np.diff(energies).max())
    size = 1 + float(np.abs(energies).max())
    return worst(
        [
            at_least(-rise, 0.0, 64 * EPS * size, f"least fall of (F - F_0)/D between {len(found)} times"),
            at_least(float(found.dissipation.min()), 0.0, 0.0, "least dissipation"),
        ]
    )


@claim(
    "circle.mass",
    "mass stays one and the density positive",
    statement="int rho(t) = 1 and rho(t) >= 0 for all t.",
    assumptions="no confinement",
    source="the equation is in divergence form, with a maximum principle; rho to the accuracy asked for",
    hypotheses=anywhere,
)
def mass(problem: Equation, tools: Tools) -> Evidence:
    """Compare the largest change of the mass, and the smallest value of the density, with zero."""
    found = _long_evolution(problem, tools)
    if found.tolerance is None:
        raise Undecided("the accuracy of the evolution is not known")
    return worst(
        [
            compare(float(np.abs(found.cosine[:, 0] - 1).max()), 0.0, MASS, "change of the mass"),
            compare(found.mass_error, 0.0, MASS, "error of the mass as reported"),
            at_least(float(found.minimum.min()), 0.0, found.tolerance, "smallest value of the density"),
        ]
    )


def _long_evolution(problem: Equation, tools: Tools) -> Trajectory:
    return tools.evolve(moving(problem), start(), LONG / problem.noise, times=400)


@claim(
    "circle.trajectory-rotation",
    "rotation equivariance of trajectories",
    statement="If rho(t) solves the equation, so does rho(t) turned by any angle.",
    assumptions="no confinement",
    source="W depends on differences of angles only",
    hypotheses=anywhere,
)
def trajectory_rotation(problem: Equation, tools: Tools) -> Evidence:
    """Compare the evolutions of a density and of the rotated one, with errors far below the bound."""
    end = 1.0 / problem.noise
    plain, turned = (
        tools.evolve(moving(problem), start(angle), end, times=4, tolerance=RESIDUAL) for angle in (0.0, ANGLE)
    )
    count = min(plain.cosine.shape[1], turned.cosine.shape[1])
    moments = (plain.cosine - 1j * plain.sine)[:, :count] * np.exp(-1j * ANGLE * np.arange(count))
    apart = np.abs(moments - (turned.cosine - 1j * turned.sine)[:, :count]).max()
    text = f"largest difference of moments until time {end:g}, one density turned by {ANGLE}"
    return compare(float(apart), 0.0, EQUIVARIANCE, text)


@claim(
    "circle.relaxation",
    "the spectral gap is the rate of relaxation",
    statement=(
        "A perturbed stable state returns, up to a rotation, with the spectral gap mu: L2, W_1 and W_2 decay like "
        "exp(-mu t), the relative entropy like exp(-2 mu t)."
    ),
    assumptions="no confinement; a stable state",
    source="linearisation, rotation excluded; fitted to evolutions in which nothing of the spectrum enters",
    hypotheses=anywhere,
    needs=FREE_ENERGY,
)
def relaxation(problem: Equation, tools: Tools) -> Evidence:
    """Compare fitted rates with the gap, and the gap with the closed form at the uniform state."""
    return worst(_rates(tools.relaxation(moving(problem))))


def _rates(found: Relaxation) -> Iterator[Evidence]:
    where = f"at the {found.state.label} state, coupling {found.state.coupling:.9g}"
    if found.theory is not None:
        yield compare(found.gap, found.theory, RATE * found.theory, f"spectral gap {where}")
    if found.fit("L2").rate is None:
        raise Undecided(f"no rate was fitted: {'; '.join(found.warnings)}")
    for fit in found.fits:
        if fit.rate is None or fit.error is None:
            continue
        expected = fit.multiple * found.gap
        # Where a density nearly vanishes, W_2 and the entropy lose digits and say how many.
        bound = RATE * expected + (0.0 if fit.norm == "L2" else fit.error)
        yield compare(fit.rate, expected, bound, f"decay rate of {fit.norm} {where}")


@claim(
    "circle.repulsive-relaxation",
    "repulsion leads to the uniform state from anywhere",
    statement="If all w_k >= 0, every density tends to the uniform one as t -> infinity, for every kappa > 0.",
    assumptions="no mode attracts",
    source="F is strictly convex, its only critical point is uniform; checked from three densities",
    hypotheses=repulsive,
    needs=FREE_ENERGY,
)
def repulsive_relaxation(problem: Equation, tools: Tools) -> Evidence:
    """Evolve one, two and three bumps at weak and strong coupling, and compare their ends with uniform."""
    triple = sum(bump(8.0, angle) for angle in (0.1, 2.2, 4.3)) / 3
    starts = {"a sharp bump": bump(20.0, 1.0), "three bumps": triple}
    densities = {name: (moments.real, -moments.imag) for name, moments in starts.items()} | {"two bumps": start()}
    found = []
    for factor in (1.0, 5.0):
        coupled = problem.at(coupling=factor * unit_coupling(problem))
        for name, moments in densities.items():
            last = tools.evolve(coupled, moments, FORGOTTEN / problem.noise, times=20)
            size = float(np.sqrt((last.cosine[-1, 1:] ** 2 + last.sine[-1, 1:] ** 2).sum()))
            text = f"distance of {name} from uniform after {FORGOTTEN:g} times 1/D at {factor:g} unit couplings"
            found.append(compare(size, 0.0, UNIFORM, text))
    return worst(found)
