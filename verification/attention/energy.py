r"""The energy of attention rises along every solution, and densities that repeat themselves keep doing so.

.. math:: \mathcal E = \frac1{2\beta}\iint e^{\beta\langle x,y\rangle}\,d\rho\,d\rho, \qquad
          \frac{d\mathcal E}{dt} = \frac1\kappa\int |v|^2\,d\rho \quad\text{or}\quad
          \frac1\kappa\int Z\,|v|^2\,d\rho, \quad Z = K*\rho,

without normalisation and for softmax attention. With the modes :math:`I_k(\beta)` of K on the circle both sides are
sums over the moments of the density.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, Trajectory

from ..circle.dynamics import IDENTITY, NODES, PRECISE, WEIGHTS, bump, start
from ..claims import Evidence, at_least, claim, compare, worst
from ..measures import EPS, Floats
from ..tools import Tools
from .growth import DEGREES, growth
from .laws import COUPLING, attention, beta_of, is_softmax, on_circle, steepest

PANELS = 6
FOLDS = (2, 3)
# Rounding grows by this exponent at most while symmetric densities are followed, and their own moments change.
EXPONENT, CHANGED = 3.0, 1e-6
TOKENS = np.array([0.0, 0.1, 0.35])

Complexes = NDArray[np.complex128]


def modes_of_kernel(beta: float, count: int) -> Floats:
    """Return the modes I_k(beta) of exp(beta cos), k below a count."""
    from scipy.special import iv

    return np.asarray(iv(np.arange(count), abs(beta)) * np.sign(beta) ** np.arange(count))


def energies(problem: Equation, moments: Complexes) -> Floats:
    """Return the energy of densities by their moments (T, n)."""
    beta = beta_of(problem)
    modes = modes_of_kernel(beta, moments.shape[1])
    modes[1:] *= 2.0
    return np.asarray(np.abs(moments) ** 2 @ modes / (2.0 * beta))


def rises(problem: Equation, moments: Complexes) -> Floats:
    """Return the right-hand sides of the identity, by sums over equal angles, from the moments (T, n)."""
    beta, count = beta_of(problem), moments.shape[1]
    points, modes = 8 * count, modes_of_kernel(beta_of(problem), count)
    density, mean, slope = (
        np.fft.irfft(factor * moments, points) * points for factor in (1.0, modes, 1j * np.arange(count) * modes)
    )
    # The velocity per unit of the coupling, and what it is weighted with.
    velocity = slope / (beta * mean) if is_softmax(problem) else slope / beta
    weight = mean if is_softmax(problem) else 1.0
    return np.asarray(problem.fixed_coupling * np.mean(density * weight * velocity**2, axis=1))


@claim(
    "attention.energy",
    "the energy rises by the square of the velocity",
    statement=(
        "The mean of exp(beta <x,y>)/(2 beta) rises at the rate int |v|^2 rho/kappa without normalisation, and at "
        "int Z |v|^2 rho/kappa, Z = exp(beta <x,y>)*rho, for softmax."
    ),
    assumptions="no noise; the circle",
    source="derivative along the flow; Geshkovski, Letrouit, Polyanskiy, Rigollet (2023); Gauss's rule over time",
    hypotheses=on_circle,
    needs=(),
)
def energy(problem: Equation, tools: Tools) -> Evidence:
    """Integrate the right-hand side along an evolution and compare with the rise of the energy."""
    coupled = problem.at(coupling=COUPLING)
    until = 1.0 / max(abs(growth(coupled, degree)) for degree in DEGREES)
    half = 0.5 * until / PANELS
    times = (half * (1 + NODES) + 2 * half * np.arange(PANELS)[:, np.newaxis]).ravel()
    found = tools.evolve(coupled, start(), until, times=[0.0, *times, until], tolerance=PRECISE)
    moments = found.cosine - 1j * found.sine
    rates = rises(coupled, moments)
    rise = float(np.diff(energies(coupled, moments)[[0, -1]])[0])
    integral = float(half * np.tile(WEIGHTS, PANELS) @ rates[1:-1])
    evidence = [compare(rise, integral, IDENTITY * (1 + abs(rise)), f"rise of the energy until time {until:.6g}")]
    if not is_softmax(coupled):
        evidence += _recorded(coupled, found, rates, rise)
    return worst(evidence)


def _recorded(problem: Equation, found: Trajectory, rates: Floats, rise: float) -> Iterator[Evidence]:
    """Yield the evidence that the trajectory reports these energies."""
    gap, falls = (found.observable(name) for name in ("energy_gap", "energy_dissipation"))
    scale = problem.fixed_coupling
    yield compare(float(gap[0] - gap[-1]), scale * rise, IDENTITY * (1 + scale * abs(rise)), "fall of the gap")
    error, size = float(np.abs(falls - scale * rates).max()), float(np.abs(falls).max())
    yield compare(error, 0.0, IDENTITY * (1 + size), "largest error of the dissipation reported")


@claim(
    "attention.symmetry",
    "densities that repeat themselves never leave r = 0",
    statement=(
        "A density that is the same after a rotation by 2 pi/k, k >= 2, on spheres the same on both sides of the "
        "equator, keeps this and with it r = 0, however strongly it is attracted to a cluster."
    ),
    assumptions="no noise; rounding is amplified by exp(3) at most",
    source="uniqueness of solutions; why rates need R_0 > 0 in arXiv:2504.14697",
    hypotheses=attention,
    needs=(),
)
def symmetry(problem: Equation, tools: Tools) -> Evidence:
    """Compare the first moment of evolutions and of tokens on the circle with zero, and see that others change."""
    coupled = problem.at(coupling=COUPLING)
    until = EXPONENT / steepest(coupled)
    found: list[Evidence] = []
    for fold in FOLDS if problem.domain.turns else FOLDS[:1]:
        found += _densities(coupled, fold, until, tools)
        if problem.domain.turns:
            found += _tokens(coupled, fold, until, tools)
    return worst(found)


def _densities(problem: Equation, fold: int, until: float, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of all images of a bump, on spheres of a density that is even about the equator."""
    moments = np.zeros(8 * fold + 1, dtype=complex)
    moments[::fold] = bump(2.0, 0.4)[:9] if problem.domain.turns else 0.01 ** np.arange(9)
    found = tools.evolve(problem, (moments.real, -moments.imag), until, times=4, full=problem.domain.turns)
    sizes = np.hypot(found.cosine, found.sine)
    bound = 64 * EPS * np.exp(EXPONENT)
    yield compare(float(sizes[:, 1].max()), 0.0, bound, f"first moment of a density of symmetry {fold}")
    change = float(np.abs(sizes[-1] - sizes[0])[fold])
    yield at_least(change, CHANGED, 0.0, f"change of the moment of degree {fold}")


def _tokens(problem: Equation, fold: int, until: float, tools: Tools) -> Iterator[Evidence]:
    """Yield the evidence of tokens and all their images."""
    angles = (TOKENS + 2 * np.pi * np.arange(fold)[:, np.newaxis] / fold).ravel()
    found = tools.simulate(problem, angles.size, until, 1, initial=angles, times=1, degrees=fold)
    sizes = np.hypot(found.cosine[0], found.sine[0])
    # Every step rounds angles and velocities of the size of the steepest slope.
    bound = 64 * EPS * np.exp(EXPONENT) * (1 + until / found.step) ** 0.5
    yield compare(float(sizes[-1, 1]), 0.0, bound, f"first moment of tokens of symmetry {fold}")
    change = float(np.abs(sizes[-1] - sizes[0])[fold])
    yield at_least(change, CHANGED, 0.0, f"change of the moment of degree {fold} of tokens")
