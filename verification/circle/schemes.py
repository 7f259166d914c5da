r"""Particles beside the Markov operator of their scheme, which takes a density one step further exactly.

As N grows the empirical moments after n steps tend to those of

.. math:: c_k' = \int \rho(x)\, E\, e^{-ikX'(x)}\,dx,

X' the scheme's next position from x, its drift :math:`-(\kappa W*\rho + V)'`. Integrals over x are trapezoid sums,
those over noise that enters a drift Gauss-Hermite sums. What remains is the scatter of N particles,
which independent systems measure, and a bias of order 1/N.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from meanfield import Ensemble, Equation, McKeanVlasov
from solvers import EulerMaruyama, LeimkuhlerMatthews, Scheme, WeakSecondOrder
from solvers import schemes as all_schemes

from ..claims import Evidence, Undecided, claim, compare, worst
from ..measures import Floats
from ..statistics import band, student
from ..tools import Tools
from .bands import free
from .dynamics import bump
from .fluctuations import FALSE_ALARM, SEED, smooth
from .measures import unit_coupling

SYSTEMS, PARTICLES, STEPS = 16, 20_000, 12
FREE_SYSTEMS, FREE_PARTICLES, FREE_STEPS = 64, 60_000, 2
FACTOR = 1.2
# In units of 1/D; long enough for the schemes to differ, and for noise to matter more than the start.
STEP = 0.05
START = 0.8
DEGREE, POINTS = 48, 512
NORMALS, NORMAL_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
MODES = (1, 2)


def simulated(problem: Equation) -> str | None:
    """Return the reason why the particles are not simulated, or None; a confinement is no reason."""
    return smooth(McKeanVlasov(problem.domain, problem.potential, noise=problem.noise))


@claim(
    "circle.schemes",
    "particles follow the Markov operator of their scheme",
    statement="The moments of N particles after n steps tend, as N grows, to those of the scheme's own operator.",
    assumptions="smooth potential, with or without confinement; false alarm with probability 1e-4 a moment",
    source="law of large numbers; 16 systems of 20000 particles, 12 steps of every scheme, fixed seed",
    hypotheses=simulated,
)
def schemes(problem: Equation, tools: Tools) -> Evidence:
    """Simulate with each scheme and compare cosines and sines of two degrees with the operator's."""
    coupled = problem.at(coupling=FACTOR * unit_coupling(problem))
    return worst(item for scheme in SCHEMES for item in _measured(coupled, scheme, tools))


@claim(
    "circle.free-particles",
    "noise alone is Brownian motion",
    statement="Without any force E (1/N) sum e^(-ik X_i(t)) = c_k(0) exp(-D k^2 t), for every N and every step.",
    assumptions="no interaction, no confinement; false alarm with probability 1e-4 a moment",
    source="the heat equation; 64 systems of 60000 particles, 2 steps of every scheme, fixed seed",
    hypotheses=free,
)
def free_particles(problem: Equation, tools: Tools) -> Evidence:
    """Compare many particles that start at one angle, driven by noise only, with Brownian motion."""
    angles = np.full(FREE_PARTICLES, START)
    end = 1.0 / problem.noise
    expected = np.exp(-1j * START * np.arange(3) - np.arange(3) ** 2)
    found: list[Evidence] = []
    for scheme in all_schemes(flat=True):
        ensemble = tools.simulate(
            problem.at(coupling=0.0), FREE_PARTICLES, end, SEED, initial=angles,
            step=end / FREE_STEPS, replicas=FREE_SYSTEMS, times=1, degrees=MODES[-1], scheme=scheme,
        )  # fmt: skip
        found += _means(ensemble, expected, scheme.name)
    return worst(found)


def _measured(problem: Equation, scheme: Scheme, tools: Tools) -> Iterator[Evidence]:
    moments = bump(3.0, START)[: DEGREE + 1]
    step, end = STEP / problem.noise, STEPS * STEP / problem.noise
    ensemble = tools.simulate(
        problem, PARTICLES, end, SEED, initial=(moments.real, -moments.imag),
        step=step, replicas=SYSTEMS, times=1, degrees=MODES[-1], scheme=scheme,
    )  # fmt: skip
    if abs(ensemble.step / step - 1) > 1e-9:
        raise Undecided(f"the step was {ensemble.step:g}, not {step:g}")
    expected = SCHEMES[scheme](Operator(problem, step, DEGREE), moments.astype(complex), STEPS)
    yield from _means(ensemble, expected, scheme.name)


def _means(ensemble: Ensemble, expected: np.ndarray, scheme: str) -> Iterator[Evidence]:
    """Compare cosines and sines at the end, averaged over the systems, with complex moments."""
    if not ensemble.completed.all():
        raise Undecided("not all systems reached the end")
    systems = ensemble.cosine.shape[0]
    for mode in MODES:
        parts = {"cosine": (ensemble.cosine, expected[mode].real), "sine": (ensemble.sine, -expected[mode].imag)}
        for part, (values, exact) in parts.items():
            found = band(values[:, -1, mode])
            # The scatter of N particles shifts means by 1/N; a tenth of the standard error covers it.
            bound = (student(1 - FALSE_ALARM, systems - 1) + 0.1) * float(found.standard_error)
            text = f"{part} {mode} at the end, {scheme}, {systems} systems"
            yield compare(float(found.mean), float(exact), bound, text)


class Operator:
    """The law of infinitely many particles, step by step, in moments c_0..c_K and masses on a grid."""

    def __init__(self, problem: Equation, step: float, degree: int) -> None:
        self.step, self.noise = step, math.sqrt(2 * problem.noise * step) * NORMALS[:, np.newaxis]
        self.angles = 2 * np.pi * np.arange(POINTS) / POINTS
        self.degrees = np.arange(degree + 1, dtype=float)
        self.drift = _drift(problem, self.degrees)
        # The mean of exp(-ik sqrt(2Dh) xi).
        self.spread = np.exp(-problem.noise * step * self.degrees**2)

    def masses(self, c: Floats) -> Floats:
        """Return the masses on the grid of a density with moments c."""
        return (2 * (np.exp(1j * np.outer(self.angles, self.degrees)) @ c).real - 1) / POINTS

    def pushed(self, ends: Floats, masses: Floats) -> Floats:
        """Return the moments of masses moved to positions, (n,) or (noise values, n) averaged over the noise."""
        if ends.ndim == 1:
            return np.asarray(np.exp(-1j * np.outer(self.degrees, ends)) @ masses)
        # One product of (degrees, normals x angles), the noise outermost.
        shares = (NORMAL_WEIGHTS / NORMAL_WEIGHTS.sum())[:, np.newaxis] * masses
        return np.asarray(np.exp(-1j * np.multiply.outer(self.degrees, ends.ravel())) @ shares.ravel())


def _euler(operator: Operator, c: Floats, steps: int) -> Floats:
    for _ in range(steps):
        now = operator.drift(c, operator.angles)
        c = operator.spread * operator.pushed(operator.angles + operator.step * now, operator.masses(c))
    return c


def _platen(operator: Operator, c: Floats, steps: int) -> Floats:
    for _ in range(steps):
        now = operator.drift(c, operator.angles)
        after, masses = operator.angles + operator.step * now, operator.masses(c)
        predicted = operator.spread * operator.pushed(after, masses)
        mean = 0.5 * (now + operator.drift(predicted, after + operator.noise))
        c = operator.pushed(operator.angles + operator.step * mean + operator.noise, masses)
    return c


def _leimkuhler_matthews(operator: Operator, c: Floats, steps: int) -> Floats:
    r"""Return the moments of :math:`X_n = Y_n + \tfrac12\sqrt{2Dh}\,\xi_n` after steps.

    :math:`Y_{n+1} = Y_n + h\,b(X_n) + \sqrt{2Dh}\,\xi_n` with :math:`Y_n` independent of :math:`\xi_n` is a Markov
    chain; it starts at :math:`Y_1 = X_0 + h\,b(X_0) + \sqrt{3/4}\sqrt{2Dh}\,\xi_0`.
    """
    half = operator.spread**0.25
    before = operator.angles + operator.step * operator.drift(c, operator.angles)
    c = half**3 * operator.pushed(before, operator.masses(c))
    for _ in range(steps - 1):
        now = operator.drift(half * c, operator.angles + 0.5 * operator.noise)
        c = operator.pushed(operator.angles + operator.step * now + operator.noise, operator.masses(c))
    return half * c


SCHEMES: dict[Scheme, Callable[[Operator, Floats, int], Floats]] = {
    EulerMaruyama(): _euler,
    WeakSecondOrder(): _platen,
    LeimkuhlerMatthews(): _leimkuhler_matthews,
}


def _drift(problem: Equation, degrees: Floats) -> Callable[[Floats, Floats], Floats]:
    """Return the drift -(kappa W*rho + V)' as a function of moments and positions."""
    weights = np.asarray(problem.potential.multipliers(problem.domain, degrees.size - 1), dtype=float)
    confinement = problem.confinement

    def drift(c: Floats, at: Floats) -> Floats:
        terms = problem.fixed_coupling * weights * degrees * c
        # W*rho = sum w_k Re(c_k e^{ikx}), whose derivative is -sum k w_k Im(c_k e^{ikx}).
        force = np.tensordot(np.exp(1j * np.multiply.outer(at, degrees)), terms, 1).imag
        if confinement is None:
            return np.asarray(force)
        inside = np.mod(at + np.pi, 2 * np.pi) - np.pi
        # Slopes are asked for on [-pi, pi).
        return np.asarray(force - confinement.slope(inside))

    return drift
