r"""Particles beside the Markov operator of their scheme, which takes a density one step further exactly.

As N grows the empirical moments after n steps tend to those of

.. math:: c_k' = \int \rho(x)\, E\, e^{-ikX'(x)}\,dx,

X' the scheme's next position from x, its drift :math:`-(\kappa W*\rho + V)'`. Integrals over x are trapezoid sums,
those over the noise of the scheme of order two Gauss-Hermite sums. Nothing is left but the scatter of N particles,
which independent systems measure, and a bias of order 1/N.
"""

from collections.abc import Callable, Iterator

import numpy as np

from meanfield import Ensemble, McKeanVlasov
from solvers import EulerMaruyama, WeakSecondOrder
from solvers.particles.schemes import schemes as all_schemes

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
SCHEMES = (EulerMaruyama(), WeakSecondOrder())
NORMALS, NORMAL_WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
MODES = (1, 2)


def simulated(problem: McKeanVlasov) -> str | None:
    """Return the reason why the particles are not simulated; a confinement is no reason."""
    return smooth(McKeanVlasov(problem.domain, problem.potential, noise=problem.noise))


@claim(
    "circle.schemes",
    "particles follow the Markov operator of their scheme",
    statement="The moments of N particles after n steps tend, as N grows, to those of the scheme's own operator.",
    assumptions="smooth potential, with or without confinement; false alarm with probability 1e-4 a moment",
    source="law of large numbers; 16 systems of 20000 particles, 12 steps of every scheme, fixed seed",
    hypotheses=simulated,
)
def schemes(problem: McKeanVlasov, tools: Tools) -> Evidence:
    """Simulate with both schemes and compare cosines and sines of two degrees with the operator's."""
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
def free_particles(problem: McKeanVlasov, tools: Tools) -> Evidence:
    """Simulate many particles that start at one angle and feel noise only."""
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


def _measured(problem: McKeanVlasov, scheme: EulerMaruyama | WeakSecondOrder, tools: Tools) -> Iterator[Evidence]:
    moments = bump(3.0, START)[: DEGREE + 1]
    step, end = STEP / problem.noise, STEPS * STEP / problem.noise
    ensemble = tools.simulate(
        problem, PARTICLES, end, SEED, initial=(moments.real, -moments.imag),
        step=step, replicas=SYSTEMS, times=1, degrees=MODES[-1], scheme=scheme,
    )  # fmt: skip
    if abs(ensemble.step / step - 1) > 1e-9:
        raise Undecided(f"the step was {ensemble.step:g}, not {step:g}")
    yield from _means(ensemble, operated(problem, scheme.weak_order, step, STEPS, moments), scheme.name)


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


def operated(problem: McKeanVlasov, order: int, step: float, steps: int, moments: Floats) -> Floats:
    """Return c_0..c_K after steps of a scheme with infinitely many particles."""
    angles = 2 * np.pi * np.arange(POINTS) / POINTS
    degrees = np.arange(moments.size, dtype=float)
    drift = _drift(problem, degrees)
    spread = np.exp(-problem.noise * step * degrees**2)
    scale = np.sqrt(2 * problem.noise * step)
    c = np.asarray(moments, dtype=complex)
    for _ in range(steps):
        masses = (2 * (np.exp(1j * np.outer(angles, degrees)) @ c).real - 1) / POINTS
        now = drift(c, angles)
        predicted = spread * (np.exp(-1j * np.outer(degrees, angles + step * now)) @ masses)
        if order == 2:
            # One product of (degrees, normals x angles), the noise outermost.
            after = angles + step * now + scale * NORMALS[:, np.newaxis]
            ends = angles + 0.5 * step * (now + drift(predicted, after)) + scale * NORMALS[:, np.newaxis]
            shares = (NORMAL_WEIGHTS / NORMAL_WEIGHTS.sum())[:, np.newaxis] * masses
            predicted = np.exp(-1j * np.multiply.outer(degrees, ends.ravel())) @ shares.ravel()
        c = predicted
    return c


def _drift(problem: McKeanVlasov, degrees: Floats) -> Callable[[Floats, Floats], Floats]:
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
        # V is even; its slope is asked for on [0, pi].
        return np.asarray(force - np.sign(inside) * confinement.slope(np.abs(inside)))

    return drift
