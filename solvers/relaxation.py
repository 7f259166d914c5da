r"""Contraction rates to a stable state: the spectral gap, closed forms and fits to an evolution.

A small perturbation of a stable state decays, modulo a rotation of the state, like the slowest eigenfunction,

.. math:: \rho(t) = \rho_\infty + \epsilon\, e^{-\mu t} u + O(\epsilon^2 e^{-2\mu t}) + O(e^{-\mu' t}),

so that distances that are linear in the perturbation (L2, W1, W2) decay at the gap :math:`\mu` and the relative
entropy, which is quadratic, at :math:`2\mu`. Where not all densities can be followed, on spheres, :math:`\mu` is
the slowest rate among those that are, see :mod:`.evolution.neighbourhood`. To see :math:`\mu` alone, a generic
perturbation evolves and is rescaled to its first size, until faster modes have decayed and it keeps its shape; then
it evolves once more and is fitted. The perturbation is kept relative to its size and so small that quadratic terms
and rounding do not matter. Nothing of the spectrum enters but the time scale: the densities are taken forward by
the moment equations, see :class:`.evolution.deviations.DeviationPaths`.

The remainder of other modes, about as slow, falsifies the fit of each distance differently: they are orthogonal
in none of them. So the same evolution is decomposed into modes as a whole, by the linear map that takes each
density to the next, and a fit is as wrong as it differs from the slowest of these, whose own error is that of
rounding, the share of modes that are too small to be told apart, and the difference from what the second evolution
below shows.

Errors of the integrator and quadratic terms are seen in a second evolution, of the opposite deviation and coarser:
the quadratic terms change their sign there, and the other errors their size. Where two decays differ by
:math:`\max_i|\delta_i|` in the logarithm, their regression lines differ by
:math:`\max_i|\delta_i| \sum_i|t_i-\bar t|/\sum_i(t_i-\bar t)^2` at most.
"""

import cmath
import math
import time
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed, Equation, InvalidInput, Relaxation, State, growth_rates
from meanfield.arguments import checked
from meanfield.equations import Capability, require
from meanfield.records import NORMS, Contraction, RateFit

from .bases import EPS, Floats
from .contraction import contraction_to_a_point
from .domains import solvers_of
from .evolution.neighbourhood import DECAY, Complexes, Neighbourhood, padded
from .execution.provenance import provenance
from .execution.threads import one_thread
from .execution.watching import Watch
from .spectra import known_gap, spectral_gap, spectrum
from .stationary import stationary_states


class Seen(NamedTuple):
    """A rate measured in an evolution, and its error."""

    rate: float
    error: float


LARGEST_DEGREE = 2**17
# Intervals of the times that are fitted over which a perturbation decays before it is looked at, by about 1e4.
FORGETTING = 39
# Rounds of this, until what is left has kept its shape.
MOST_ROUNDS = 10
# The last evolution is fitted where it has decayed by the first of these and not by the second.
WINDOW = (1e-1, 1e-4)
SAMPLES = 49
FEWEST = 16
# Modes in a decomposition, at most, and singular values above the error of the evolution that are believed.
MOST_MODES = 4
BELIEVED = 16.0
# Imaginary part of a factor, relative to it, beyond which it is no mode that decays.
OSCILLATING = 1e-6
# Largest relative change of the density in those after the first.
POSITIVE = 0.2
# Rates slower than this share of the diffusion rate take too long to be seen in an evolution.
SLOWEST = 1e-5


@overload
def contraction_rate(subject: State) -> float: ...


@overload
def contraction_rate(
    subject: Equation,
    *,
    state: State | None = None,
    watch: Watch | None = None,
    initial: Any = None,
    quantity: str | None = None,
) -> Relaxation | Contraction: ...


@checked
@one_thread()
def contraction_rate(
    subject: Equation | State,
    *,
    state: State | None = None,
    watch: Watch | None = None,
    initial: Any = None,
    quantity: str | None = None,
) -> Relaxation | Contraction | float:
    """Return the exponential rate at which densities contract to a stable state, rotation excluded, or to a point.

    Parameters
    ----------
    subject
        An equation with its coupling: the spectral gap, the closed form and the rate that an evolution shows, side
        by side. A stationary state: its spectral gap alone, cheap, and negative where the state is unstable.
    state
        The stable state to relax to; by default the minimiser of the free energy.
    watch
        Called with the part of the distances that is computed, the whole, and the name of the distance.
    initial
        Without noise, the density that collapses, in any form that :func:`~solvers.evolve` takes; a function of one
        angle may have jumps. By default (1 + 0.6 cos t + 0.3 sin 2t) / 2 pi on the circle, and the uniform density
        times 1 + 0.6 cos t on spheres.
    quantity
        Without noise, what contracts: ``"1 - r"`` (default), ``"W1"``, ``"W2"``, ``"energy gap"`` or
        ``"support diameter"``.

    Returns
    -------
    Relaxation, Contraction or float
        Without noise a :class:`~meanfield.Contraction`: the rate of the mean field in the quantity, and which of
        the exponents at the cluster and at the separatrix governs it. With noise, in units of 1/time. The
        evolution starts at a small perturbation of the state. L2, W1 and W2 distances decay at the gap, the
        relative entropy at twice the gap; each is fitted on its own, least over rotations. On a sphere the
        evolution is that of zonal densities, and the distances W1 and W2 are those of the polar angle. On the
        ordinary sphere all densities are followed where others than zonal ones are the slowest and that is
        affordable; see ``followed`` and ``followed_rate`` of the record.

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
        return spectral_gap(subject)
    if subject.noise == 0:
        if state is not None:
            raise InvalidInput("without noise densities contract to a point, not to a state; leave state=... out")
        if watch is not None:
            raise InvalidInput("watch belongs to relaxation at noise > 0; leave it out without noise")
        return contraction_to_a_point(subject, initial, quantity)
    for name, value in (("initial", initial), ("quantity", quantity)):
        if value is not None:
            raise InvalidInput(f"{name} belongs to contraction without noise, noise=0; leave it out at noise > 0")
    return _relaxation(subject, state, watch)


def _relaxation(subject: Equation, state: State | None, watch: Watch | None) -> Relaxation:
    started = time.process_time()
    require(subject, Capability.GIBBS_MAP, "contraction rates to a stationary state")
    if state is None:
        require(subject, Capability.FREE_ENERGY, "contraction rates without a state to relax to (state=...)")
    target = _stable_state(subject) if state is None else state
    found = spectrum(target)
    if known_gap(found) <= 0.0:
        raise InvalidInput(
            f"the {found.state.label or 'given'} state is not stable, its slowest rate being "
            f"{known_gap(found):.6g}, known to {found.error:.1g}: nothing relaxes to it; give a stable state"
        )
    about = solvers_of(target.problem).neighbourhood(found)
    times, distances, opposite, seen, warnings = _decay(about, watch)
    return Relaxation(
        problem=subject,
        state=found.state,
        gap=found.slowest_rate,
        gap_error=max(found.error, EPS * found.slowest_rate),
        theory=closed_form(found.state),
        fits=tuple(
            _fitted(name, times, values, others, seen)
            for name, values, others in zip(about.norms, distances, opposite, strict=True)
        ),
        time=times,
        distances=distances,
        followed=about.densities,
        followed_rate=None if math.isnan(about.rate) else about.rate,
        warnings=(*about.warnings, *warnings),
        provenance=provenance(subject, {"tolerance": about.tolerance}, time.process_time() - started),
    )


def closed_form(state: State) -> float | None:
    """Return the closed form of the contraction rate at the uniform state, None at other states."""
    uniform = state.symmetry == 0 and state.problem.confinement is None
    return uniform_rate(state.problem) if uniform else None


def uniform_rate(problem: Equation) -> float:
    """Return min_k D k (k + d - 2) (1 - lambda_k), the decay rate to the uniform state over all degrees.

    Raises
    ------
    InvalidInput
        If the coupling is free, the problem has a confinement or the coupling is too large to tell.
    """
    domain, degree = problem.domain, 16
    while degree <= LARGEST_DEGREE:
        slowest = -float(growth_rates(problem, degree)[1:].max())
        tail = problem.potential.tail_bound(domain, degree)
        drift = float(abs(problem.fixed_coupling) * tail / (domain.multiplicity(degree + 1) * problem.noise))
        # Every mode beyond decays at least this fast.
        free = -domain.laplacian_eigenvalue(degree + 1)
        if problem.noise * free * (1 - drift) >= slowest and drift < 1:
            return slowest
        degree *= 2
    raise InvalidInput(f"modes beyond {LARGEST_DEGREE} are critical at coupling {problem.fixed_coupling:g}")


def _stable_state(problem: Equation) -> State:
    states = stationary_states(problem, rates=False)
    minimiser = next((state for state in states if state.minimiser), None)
    if minimiser is None:
        raise ComputationFailed(
            f"no minimiser of the free energy is known at coupling {float(problem.fixed_coupling):g}: "
            f"{states[0].minimiser_reason}; give the stable state to relax to (state=...)"
        )
    return minimiser


def _decay(about: Neighbourhood, watch: Watch | None) -> tuple[Floats, Floats, Floats, Seen | None, list[str]]:
    """Return times and distances of an evolution that shows the slowest mode, and the rate of that mode in it.

    The second distances are those of the opposite deviation, evolved less accurately.
    """
    rate, noise, norms = about.rate, about.problem.noise, about.norms
    nothing = np.zeros(0), *np.zeros((2, len(norms), 0)), None
    if about.hopeless:
        return *nothing, [f"no rate was fitted: {about.hopeless}"]
    if rate < SLOWEST * noise:
        text = (
            f"the gap, {rate:.3g}, is so small beside the noise that an evolution of {DECAY / rate:.2g} units of "
            "time would be needed to see it; no rate was fitted"
        )
        return *nothing, [text]
    times = np.linspace(0.0, DECAY / rate, SAMPLES)
    try:
        retained, change = _slowest(about, times[: FORGETTING + 1])
        start = _made_small(about, retained)
        path = [about.modulo_rotation(deviation) for deviation in about.evolved(start, times)]
        opposite = [about.modulo_rotation(deviation) for deviation in about.evolved(-start, times, coarser=True)]
    except ComputationFailed as error:
        return *nothing, [f"no rate was fitted: {error}"]
    accuracy = _apart(path, opposite)
    seen, other = (_slowest_seen(each, times, rate, accuracy) for each in (path, opposite))
    if seen is not None:
        apart = math.inf if other is None else abs(seen.rate - other.rate)
        seen = Seen(seen.rate, seen.error + apart + about.rounding) if apart < math.inf else None
    warnings = []
    if change > about.same_shape:
        warnings.append(
            f"after {MOST_ROUNDS} rounds the perturbation was still changing its shape by {change:.1g}; others "
            "are about as slow, and the errors of the fitted rates allow for them"
        )
    if seen is None:
        warnings.append("no rate was fitted: the evolution shows no mode that decays alone")
    forth, complaints = _measured(about, path, watch, 0.0)
    # What the opposite deviation makes of the fit needs its distances where they are fitted only.
    back, fitted = np.full_like(forth, np.nan), _fitted_places(about, forth)
    back[:, fitted], others = _measured(about, [opposite[place] for place in fitted], watch, 1.0)
    return times, forth, back, seen, [*warnings, *dict.fromkeys([*complaints, *others])]


def _fitted_places(about: Neighbourhood, distances: Floats) -> list[int]:
    """Return the indices of the times at which at least one distance is fitted."""
    inside = [_inside(name, values) for name, values in zip(about.norms, distances, strict=True)]
    return np.flatnonzero(np.any(inside, axis=0)).tolist()


def _apart(path: list[Complexes], opposite: list[Complexes]) -> float:
    """Return the largest difference of a path of deviations from the opposite of another, relative to its size."""
    width = max(deviation.size for deviation in [*path, *opposite])
    one, other = (np.array([padded(deviation, width) for deviation in each]) for each in (path, opposite))
    sizes = np.linalg.norm(one, axis=1)
    return float((np.linalg.norm(one + other, axis=1) / sizes).max())


def _measured(
    about: Neighbourhood, path: list[Complexes], watch: Watch | None, half: float
) -> tuple[Floats, list[str]]:
    """Return the distances of the densities of a path, (n, T), nan from where one is not known, and the reasons.

    ``half`` is 0 for the first of two paths and 1 for the other.
    """
    rows = [about.distances(deviation) for deviation in path]
    distances = np.full((len(about.norms), len(rows)), np.nan)
    complaints = []
    for index, name in enumerate(about.norms):
        try:
            for point, row in enumerate(rows):
                if watch is not None:
                    watch(half + (index * len(rows) + point) / distances.size, 2.0, name)
                distances[index, point] = row[name]()
        except ComputationFailed as error:
            complaints.append(f"no rate was fitted in {name}: {error}")
    return distances, complaints


def _slowest_seen(path: list[Complexes], times: Floats, scale: float, accuracy: float) -> Seen | None:
    """Return the slowest decay rate of modes along a path of deviations, or None if no mode is resolved.

    Each deviation follows from the one before by the same linear map. Its eigenvalues, among the directions that
    the path spans beyond the error of the evolution, are exp(-rate * step); the factor exp(scale * t) keeps all
    sizes alike. The error is what the first direction that is left out would change.
    """
    width = max(deviation.size for deviation in path)
    table = np.array([padded(deviation, width) for deviation in path])
    columns = np.concatenate([table.real, table.imag], axis=1).T * np.exp(scale * times)
    before, after = columns[:, :-1], columns[:, 1:]
    left, values, right = np.linalg.svd(before, full_matrices=False)
    count = min(int((values > BELIEVED * accuracy * values[0]).sum()), MOST_MODES)
    if count == 0:
        return None
    step = float(times[1] - times[0])

    def slowest_among(directions: int) -> complex:
        stepped = (left[:, :directions].T @ after @ right[:directions].T) / values[:directions]
        factors = np.linalg.eigvals(stepped)
        return complex(factors[np.argmax(np.abs(factors))])

    factor = slowest_among(count)
    rate = scale - math.log(abs(factor)) / step if factor else math.inf
    if not 0.0 < rate < math.inf or abs(factor.imag) > OSCILLATING * abs(factor):
        return None
    further = slowest_among(count + 1) if values[count] > 0.0 else factor
    return Seen(rate, abs(cmath.log(further / factor)) / step if further else math.inf)


def _slowest(about: Neighbourhood, times: Floats) -> tuple[Complexes, float]:
    """Return the slowest part of a generic perturbation, by evolving and rescaling it in turn.

    With it comes its last change of shape.
    """
    start, before = _made_small(about, about.generic_perturbation()), np.zeros(1, dtype=complex)
    for _ in range(MOST_ROUNDS):
        retained = about.modulo_rotation(about.evolved(start, times)[-1])
        retained /= np.abs(retained).max()
        size = max(retained.size, before.size)
        change = float(np.abs(padded(retained, size) - padded(before, size)).max())
        if change <= about.same_shape:
            break
        start, before = _made_small(about, retained), retained
    return retained, change


def _made_small(about: Neighbourhood, retained: Complexes) -> Complexes:
    """Return a deviation scaled so that its moments are small and it is smaller than the density."""
    return retained * min(about.small / float(np.abs(retained).max()), POSITIVE / about.steepest(retained))


def _fitted(name: str, times: Floats, values: Floats, opposite: Floats, seen: Seen | None) -> RateFit:
    """Return the fit of a straight line to the logarithm of a distance over time.

    Its error is the scatter, the distance from the slowest mode and its error, and what the opposite deviation
    makes of it.
    """
    multiple, inside = NORMS[name], _inside(name, values)
    if seen is None or np.count_nonzero(inside) < FEWEST or not (opposite[inside] > 0.0).all():
        return RateFit(name, multiple, None, None, None)
    chosen = times[inside]
    rate, scatter = _line(chosen, np.log(values[inside]))
    centred = chosen - chosen.mean()
    apart = float(np.abs(np.log(values[inside] / opposite[inside])).max())
    error = scatter + abs(rate - multiple * seen.rate) + multiple * seen.error
    error += apart * float(np.abs(centred).sum() / (centred @ centred))
    return RateFit(name, multiple, rate, error, (float(chosen[0]), float(chosen[-1])))


def _inside(name: str, values: Floats) -> NDArray[np.bool_]:
    """Return which of the values of a distance along a path are fitted, as a mask."""
    if not (values.size and np.isfinite(values).all() and values[0] > 0.0):
        return np.zeros(values.size, dtype=bool)
    share = values / values[0]
    return np.asarray((share <= WINDOW[0] ** NORMS[name]) & (share >= WINDOW[1] ** NORMS[name]))


def _line(times: Floats, logarithms: Floats) -> tuple[float, float]:
    """Return minus the slope of the regression line and its standard error."""
    centred = times - times.mean()
    square = float(centred @ centred)
    slope = float(centred @ logarithms) / square
    residuals = logarithms - logarithms.mean() - slope * centred
    return -slope, math.sqrt(float(residuals @ residuals) / ((times.size - 2) * square))
