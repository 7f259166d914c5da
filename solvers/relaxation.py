r"""How fast the equation relaxes to a stable state: the spectral gap beside what an evolution shows.

A small perturbation of a stable state decays, up to a rotation of the state, like the slowest eigenfunction,

.. math:: \rho(t) = \rho_\infty + \epsilon\, e^{-\mu t} u + O(\epsilon^2 e^{-2\mu t}) + O(e^{-\mu' t}),

so that distances that are linear in the perturbation (L2, W1, W2) decay at the gap :math:`\mu` and the relative
entropy, which is quadratic, at :math:`2\mu`. To see :math:`\mu` alone, a generic perturbation evolves, and what is
left of it is brought back to size, until faster modes are gone and it keeps its shape; then it evolves once more
and is fitted where neither the quadratic terms nor rounding matter. Nothing of the spectrum enters but the time
scale.
"""

import math
import time
from collections.abc import Callable
from typing import overload

import numpy as np

from meanfield import ComputationFailed, InvalidInput, McKeanVlasov, Relaxation, Spectrum, State, growth_rates
from meanfield.relaxations import NORMS, RateFit
from meanfield.transport import Density, l2_distance, relative_entropy, wasserstein1, wasserstein2

from .bases import EPS, Floats
from .circle.linearisation import UNIFORM
from .circle.rotation import Complexes, nearest_angle, turned
from .evolution.march import March
from .evolution.system import system_for
from .geometry import geometry_of
from .provenance import provenance
from .stationary import stationary_states

Watch = Callable[[float, float, str], None]

LARGEST_DEGREE = 2**17
# Size of the first perturbation, how far it decays, and the size of the second.
GENERIC = 1e-2
FORGETTING = math.log(1e4)
SMALL = 1e-4
# Rounds of this, until what is left has kept its shape.
MOST_ROUNDS = 10
SAME_SHAPE = 1e-5
# The second decays by this; it is fitted where it has decayed by the first of these and not by the second.
DECAY = math.log(1e5)
WINDOW = (1e-1, 1e-4)
SAMPLES = 49
FEWEST = 16
# Largest relative change of the density in the second, where it is not below this share of its maximum.
POSITIVE = 0.2
VACUUM = 1e-8
TOLERANCE = 1e-12
# Relative error of a fitted rate by that of the integration.
INTEGRATION = 32.0 * TOLERANCE
# Degrees of the generic perturbation.
STIRRED = 8
# Rates slower than this share of the diffusion rate take too long to be seen in an evolution.
SLOWEST = 1e-5
DISTANCES = {"L2": l2_distance, "W1": wasserstein1, "W2": wasserstein2, "relative entropy": relative_entropy}


@overload
def contraction_rate(subject: State) -> float: ...


@overload
def contraction_rate(
    subject: McKeanVlasov, *, state: State | None = None, watch: Watch | None = None
) -> Relaxation: ...


def contraction_rate(
    subject: McKeanVlasov | State, *, state: State | None = None, watch: Watch | None = None
) -> Relaxation | float:
    """Return the exponential rate at which densities contract to a stable state, rotation excluded.

    Parameters
    ----------
    subject
        An equation with its coupling: the spectral gap, the closed form and the rate that an evolution shows, side
        by side. A stationary state: its spectral gap alone, cheap, and negative where the state is unstable.
    state
        The stable state to relax to; by default the minimiser of the free energy.
    watch
        Called with the distances computed, how many there will be, and the name of the distance.

    Returns
    -------
    Relaxation or float
        In units of 1/time. The evolution starts at a small perturbation of the state. L2, W1 and W2 distances
        decay at the gap, the relative entropy at twice the gap; each is fitted on its own, least over rotations.

    Raises
    ------
    InvalidInput
        If the coupling is free or the state given is not stable.
    ComputationFailed
        If no stable state is known, or the state cannot be resolved.

    Examples
    --------
    >>> from meanfield import Circle, Kuramoto, McKeanVlasov
    >>> found = contraction_rate(McKeanVlasov(Circle(), Kuramoto(), coupling=3.0))
    >>> round(found.gap, 6), found.theory, round(found.fit("L2").rate, 4)
    (1.081332, None, 1.0813)
    """
    if isinstance(subject, State):
        return geometry_of(subject.problem).spectrum(subject).slowest_rate
    started = time.process_time()
    target = _stable_state(subject) if state is None else state
    found = geometry_of(target.problem).spectrum(target)
    if found.unstable or found.slowest_rate <= 0.0:
        raise InvalidInput(
            f"the {found.state.label or 'given'} state is not stable, its slowest rate being "
            f"{found.slowest_rate:.6g}: nothing relaxes to it; give a stable state"
        )
    times, distances, warnings = _decay(found, watch)
    return Relaxation(
        problem=subject,
        state=found.state,
        gap=found.slowest_rate,
        gap_error=max(found.error, EPS * found.slowest_rate),
        theory=closed_form(found.state),
        fits=tuple(_fitted(name, times, values) for name, values in zip(NORMS, distances, strict=True)),
        time=times,
        distances=distances,
        warnings=tuple(warnings),
        provenance=provenance(subject, {"tolerance": TOLERANCE}, time.process_time() - started),
    )


def closed_form(state: State) -> float | None:
    """Return the closed form of the contraction rate where there is one: at the uniform state."""
    uniform = state.symmetry == 0 and state.problem.confinement is None
    return uniform_rate(state.problem) if uniform else None


def uniform_rate(problem: McKeanVlasov) -> float:
    """Return min_k D k^2 (1 - lambda_k), the decay rate to the uniform state over all modes.

    Raises
    ------
    InvalidInput
        If the coupling is free, the problem has a confinement or the coupling is too large to tell.
    """
    degree = 16
    while degree <= LARGEST_DEGREE:
        slowest = -float(growth_rates(problem, degree)[1:].max())
        tail = problem.potential.tail_bound(problem.domain, degree)
        drift = float(abs(problem.fixed_coupling) * tail / (2 * problem.noise))
        # Every mode beyond decays at least this fast.
        if problem.noise * (degree + 1) ** 2 * (1 - drift) >= slowest and drift < 1:
            return slowest
        degree *= 2
    raise InvalidInput(f"modes beyond {LARGEST_DEGREE} are critical at coupling {problem.fixed_coupling:g}")


def _stable_state(problem: McKeanVlasov) -> State:
    states = stationary_states(problem, rates=False)
    minimiser = next((state for state in states if state.minimiser), None)
    if minimiser is None:
        raise ComputationFailed(
            f"no minimiser of the free energy is known at coupling {float(problem.fixed_coupling):g}; "
            "give the stable state to relax to (state=...)"
        )
    return minimiser


def _decay(found: Spectrum, watch: Watch | None) -> tuple[Floats, Floats, list[str]]:
    """Return times and distances of the evolution that shows the slowest mode."""
    gap, problem = found.slowest_rate, found.state.problem
    if gap < SLOWEST * problem.noise:
        text = (
            f"the gap, {gap:.3g}, is so small beside the noise that an evolution of {DECAY / gap:.2g} units of "
            "time would be needed to see it; no rate was fitted"
        )
        return np.zeros(0), np.zeros((len(NORMS), 0)), [text]
    target = found.state.cosine - 1j * found.state.sine
    movable = problem.confinement is None
    left = _slowest(problem, target, FORGETTING / gap)
    times = np.linspace(0.0, DECAY / gap, SAMPLES)
    start = _padded(target, left.size) + left * _scale(left, target)
    path = _evolved(problem, start, times)
    goal = _density(target)
    rows = [_density(_aligned(moments, target, movable)) for moments in path]
    distances = np.full((len(NORMS), times.size), np.nan)
    warnings = []
    for index, name in enumerate(NORMS):
        try:
            for point, row in enumerate(rows):
                if watch is not None:
                    watch(index * len(rows) + point, distances.size, name)
                distances[index, point] = DISTANCES[name](row, goal)
        except ComputationFailed as error:
            warnings.append(f"no rate was fitted in {name}: {error}")
    return times, distances, warnings


def _slowest(problem: McKeanVlasov, target: Complexes, duration: float) -> Complexes:
    """Return what is left of a generic perturbation: its slowest part, evolved and made larger in turn."""
    movable = problem.confinement is None
    start, before = _stirred(target), np.zeros(1, dtype=complex)
    for _ in range(MOST_ROUNDS):
        evolved = _evolved(problem, start, np.array([0.0, duration]))[-1]
        left = _aligned(evolved, target, movable) - _padded(target, evolved.size)
        left /= np.abs(left).max()
        size = max(left.size, before.size)
        if np.abs(_padded(left, size) - _padded(before, size)).max() <= SAME_SHAPE:
            break
        start, before = _padded(target, left.size) + left * _scale(left, target), left
    return left


def _stirred(target: Complexes) -> Complexes:
    """Return rho (1 + eps g), g with cosines and sines of many degrees, of mass one."""
    size = target.size + STIRRED
    full = np.zeros(2 * size + 1, dtype=complex)
    full[size : size + target.size] = target
    full[size - target.size + 1 : size + 1] = target[::-1].conj()
    factor = np.zeros(2 * STIRRED + 1, dtype=complex)
    degrees = np.arange(1, STIRRED + 1)
    # Irrational phases, so that no symmetry is kept.
    factor[STIRRED + degrees] = np.exp(1j * degrees**2 * math.sqrt(2.0)) / degrees
    factor[:STIRRED] = factor[:STIRRED:-1].conj()
    factor *= GENERIC / np.abs(factor).sum()
    factor[STIRRED] = 1.0
    product = np.convolve(full, factor, mode="same")[size:]
    return np.asarray(product / product[0].real)


def _scale(left: Complexes, target: Complexes) -> float:
    """Return the factor that makes a deviation small in its moments, and smaller than the density."""
    nodes = 8 * left.size
    change = np.fft.irfft(left, nodes, norm="forward")
    density = np.fft.irfft(_padded(target, left.size), nodes, norm="forward")
    felt = density > VACUUM * density.max()
    steepest = float(np.abs(change[felt] / density[felt]).max())
    return min(SMALL / float(np.abs(left).max()), POSITIVE / steepest)


def _evolved(problem: McKeanVlasov, moments: Complexes, times: Floats) -> list[Complexes]:
    """Return the moments at times that begin with the start."""
    cosine, sine = moments.real.copy(), -moments.imag
    system = system_for(problem, cosine, sine, moments.size - 1)
    march = March(system, 0.0, system.pack(cosine, sine), float(times[-1]), None, TOLERANCE)
    path = [moments]
    for instant in times[1:]:
        unknown = march.to(float(instant)).copy()
        m, s = march.system.unpack(unknown)
        path.append(m - 1j * s)
    return path


def _aligned(moments: Complexes, target: Complexes, movable: bool) -> Complexes:
    """Turn a density to where it is nearest to the target; rotation is no relaxation."""
    if not movable or np.abs(target[1:]).max(initial=0.0) <= UNIFORM:
        return moments
    return turned(moments, nearest_angle(moments, target))


def _padded(moments: Complexes, size: int) -> Complexes:
    padded = np.zeros(max(size, moments.size), dtype=complex)
    padded[: moments.size] = moments
    return padded


def _density(moments: Complexes) -> Density:
    return Density(moments.real.copy(), -moments.imag)


def _fitted(name: str, times: Floats, values: Floats) -> RateFit:
    """Fit a straight line to the logarithm, and compare the halves of the window for its error."""
    multiple = NORMS[name]
    inside = np.zeros(values.size, dtype=bool)
    if values.size and np.isfinite(values).all() and values[0] > 0.0:
        share = values / values[0]
        inside = (share <= WINDOW[0] ** multiple) & (share >= WINDOW[1] ** multiple)
    if np.count_nonzero(inside) < FEWEST:
        return RateFit(name, multiple, None, None, None)
    chosen, logarithms = times[inside], np.log(values[inside])
    rate, scatter = _line(chosen, logarithms)
    middle = chosen.size // 2
    halves = [_line(chosen[part], logarithms[part])[0] for part in (slice(middle), slice(middle, None))]
    error = math.hypot(scatter, 0.5 * (halves[1] - halves[0])) + INTEGRATION * rate
    return RateFit(name, multiple, rate, error, (float(chosen[0]), float(chosen[-1])))


def _line(times: Floats, logarithms: Floats) -> tuple[float, float]:
    """Return minus the slope of the regression line and its standard error."""
    centred = times - times.mean()
    square = float(centred @ centred)
    slope = float(centred @ logarithms) / square
    residuals = logarithms - logarithms.mean() - slope * centred
    return -slope, math.sqrt(float(residuals @ residuals) / ((times.size - 2) * square))
