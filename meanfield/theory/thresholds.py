r"""Critical couplings, at which the uniform state changes stability.

The linearisation about uniform is diagonal: degree k grows at :math:`\mu_k = -D\,k(k+d-2)(1-\lambda_k)`, an
eigenvalue of multiplicity :math:`N_k`, with :math:`\lambda_k = \kappa/\kappa_k` and
:math:`\kappa_k = -N_k D/w_k`. On the circle d = 2 and :math:`N_k = 2`.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import LARGEST_DEGREE, checked, shown
from ..base import Record
from ..domains import Domain
from ..equations import Capability, Equation, require
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities
from ..potentials import Array, Number

_DOUBLE = np.finfo(float)
_COINCIDENT = 8 * float(_DOUBLE.eps)
# The last mode looked at where the tail bound certifies nothing before.
_LAST_MODE = 2**17


@checked
@dataclass(frozen=True, eq=False, repr=False)
class CriticalPoint(Record):
    """A coupling at which the uniform state changes stability.

    Attributes
    ----------
    coupling
        kappa_k = -N_k D / w_k, common to all modes listed.
    relative_coupling
        coupling over the smallest positive critical coupling; None if no such coupling exists.
    modes
        The modes k that become critical here, ascending; degrees on the sphere.
    kernel_dimension
        Dimension of the kernel on the full domain: the sum of N_k, two on the circle for each mode.
    """

    coupling: Number
    relative_coupling: float | None
    modes: tuple[int, ...]
    kernel_dimension: int


@checked
def critical_couplings(problem: Equation, degree: int) -> Array:
    """Return kappa_k = -N_k D / w_k at index k, shape (degree + 1,); inf where w_k = 0 and at index 0.

    Positive for attractive, negative for repulsive modes. The uniform state is linearly stable exactly
    between the largest negative and the smallest positive one (no confinement).
    The array is longdouble where the multipliers are.

    Raises
    ------
    InvalidInput
        If the problem has a confinement.
    """
    require_uniform(problem)
    potential: Any = problem.velocity.at_uniform(problem.domain)
    return _couplings(potential, problem.domain, problem.positive_noise, int(degree)).copy()


@functools.lru_cache(maxsize=64)
def _couplings(potential: Any, domain: Any, noise: Any, degree: int) -> Array:
    """Return the cached critical couplings of a potential; a diagram asks for those of a few modes many times."""
    multipliers = potential.multipliers(domain, degree)
    couplings = np.full(multipliers.shape, np.inf, dtype=multipliers.dtype)
    nonzero = multipliers != 0
    nonzero[0] = False
    with np.errstate(over="ignore"):
        numbers = multiplicities(domain, degree).astype(multipliers.dtype)
        couplings[nonzero] = -numbers[nonzero] * noise / multipliers[nonzero]
    return couplings


@checked
def critical_coupling(problem: Equation) -> Number | None:
    """Return the smallest positive critical coupling, or None if no mode attracts.

    The tail bound of the potential, over N_k, certifies that no higher mode is more attractive. Where no mode up
    to 131072, or to the last degree that the potential gives, attracts and the bound is not 0 there, modes beyond
    are taken as not attractive.
    """
    mode = _most_attractive(problem)
    return None if mode is None else plain_number(critical_couplings(problem, mode)[mode])


@checked
def critical_modes(problem: Equation, low: Number, high: Number) -> list[CriticalPoint]:
    """Return every bifurcation of the uniform state with low <= kappa <= high, ascending.

    Modes whose couplings agree to 8 eps share a point; near-doubles stay separate. The tail bound of the
    potential certifies that none is missing.

    Raises
    ------
    InvalidInput
        If the range is reversed or not finite, if there is a confinement, or if the range contains the
        couplings of too many modes to list.
    """
    require_uniform(problem)
    if isinstance(low, int) or isinstance(high, int):
        low, high = np.longdouble(low), np.longdouble(high)
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise InvalidInput(f"the coupling range must be finite and increasing, not [{low!r}, {high!r}]")
    degree = _degree_for(problem, max(np.abs(low), np.abs(high)))
    couplings = critical_couplings(problem, degree)
    inside = (couplings >= low - _COINCIDENT * np.abs(low)) & (couplings <= high + _COINCIDENT * np.abs(high))
    modes = np.flatnonzero(inside & np.isfinite(couplings))
    ordered = modes[np.argsort(couplings[modes], kind="stable")]
    reference = _reference(problem, couplings) if ordered.size else None
    return [_critical_point(problem, couplings, group, reference) for group in _coincident(couplings, ordered)]


def transition_coupling(problem: Equation) -> Number | None:
    """Return the critical coupling; None as well in a confinement, where there is no uniform state to lose."""
    return None if problem.confinement is not None else critical_coupling(problem)


@checked
def growth_rates(problem: Equation, degree: int) -> npt.NDArray[np.float64]:
    """Return mu_k = -k (k+d-2) (D + kappa w_k/N_k) at index k, shape (degree + 1,), each of multiplicity N_k.

    In other words -D k (k+d-2) (1 - lambda_k); without noise they are the rates of the attraction alone.

    Raises
    ------
    InvalidInput
        If the coupling is free or the problem has a confinement.
    """
    require_uniform(problem)
    modes = np.arange(int(degree) + 1)
    multipliers = problem.velocity.at_uniform(problem.domain).multipliers(problem.domain, degree)
    attraction = np.longdouble(problem.fixed_coupling) * multipliers / multiplicities(problem.domain, degree)
    eigenvalues = modes * (modes + problem.domain.dimension - 2)
    return np.asarray(-eigenvalues * (problem.noise + attraction), dtype=np.float64)


def branching_coupling(problem: Equation, n: int) -> Number:
    """Return the critical coupling of a mode, where a branch leaves the uniform state.

    Raises
    ------
    InvalidInput
        If n is not a positive integer, w_n = 0 or there is a confinement.
    """
    require_uniform(problem)
    coupling = plain_number(critical_couplings(problem, checked_mode(n))[n])
    if not np.isfinite(coupling):
        raise InvalidInput(f"mode {n} has w_{n} = 0, so no branch leaves the uniform state along it")
    return coupling


def require_threshold(problem: Equation) -> None:
    """Refuse a confinement, in which uniform is not stationary, and zero noise, for which it has no threshold."""
    require_uniform(problem)
    require(problem, Capability.GRADIENT, "statements about the transition from the uniform state")
    require(problem, Capability.GIBBS_MAP, "statements about the transition from the uniform state")


def require_uniform(problem: Equation) -> None:
    """Refuse an equation whose uniform state is not stationary, such as one with a confinement."""
    for needed in (Capability.UNIFORM_STATE, Capability.AUTONOMOUS):
        require(problem, needed, "closed forms about the uniform state")


def checked_mode(n: int) -> int:
    """Return n, refusing what is not a positive integer."""
    if not 1 <= n <= LARGEST_DEGREE:
        raise InvalidInput(f"a mode is a positive integer up to {LARGEST_DEGREE}, not {shown(n)}; try n=1")
    return int(n)


def plain_number(number: Any) -> Number:
    """Return a float where it holds the number with full precision, else the longdouble."""
    if not np.isfinite(number) or _DOUBLE.tiny <= abs(number) <= _DOUBLE.max:
        return float(number)
    return np.longdouble(number)


def _most_attractive(problem: Equation) -> int | None:
    require_uniform(problem)
    potential: Any = problem.velocity.at_uniform(problem.domain)
    return _lowest_mode(potential, problem.domain)


@functools.lru_cache(maxsize=64)
def _lowest_mode(potential: Any, domain: Any) -> int | None:
    degree, known = 16, None
    while True:
        numbers = multiplicities(domain, degree + 1)[1:]
        try:
            known = potential.multipliers(domain, degree)[1:]
        except InvalidInput:
            # A potential may give multipliers up to a degree only; None is said where none of them attracts.
            if known is None or known.min() < 0:
                raise
            return None
        eigenvalues = known / numbers[:-1]
        lowest = int(eigenvalues.argmin())
        bound = potential.tail_bound(domain, degree) / numbers[-1]
        if -eigenvalues[lowest] >= bound or degree >= _LAST_MODE:
            return lowest + 1 if eigenvalues[lowest] < 0 else None
        degree *= 2


def _reference(problem: Equation, couplings: Array) -> Number | None:
    """Return the smallest positive critical coupling, taken from known couplings if it is among them."""
    mode = _most_attractive(problem)
    known = mode is not None and mode < couplings.size
    return plain_number(couplings[mode]) if known else critical_coupling(problem)


def _degree_for(problem: Equation, largest: Number) -> int:
    """Return a degree beyond which every critical coupling exceeds ``largest`` in modulus."""
    degree = 16
    threshold = problem.positive_noise * (1 - 2 * _COINCIDENT)
    while _beyond(problem, largest, degree) >= threshold:
        if degree >= _LAST_MODE:
            raise InvalidInput(
                f"couplings up to {float(largest):g} reach the critical couplings of more than "
                f"{degree} modes; choose a smaller range"
            )
        degree *= 2
    return degree


def _beyond(problem: Equation, coupling: Number, degree: int) -> Number:
    """Return a bound of coupling * abs(w_k) / N_k over k > degree."""
    bound: Number = problem.velocity.at_uniform(problem.domain).tail_bound(problem.domain, degree)
    return coupling * bound / problem.domain.multiplicity(degree + 1)


def _coincident(couplings: Array, ordered: npt.NDArray[np.intp]) -> list[list[int]]:
    groups: list[list[int]] = []
    for mode in ordered.tolist():
        first = couplings[groups[-1][0]] if groups else np.inf
        if groups and abs(couplings[mode] - first) <= _COINCIDENT * abs(first):
            groups[-1].append(mode)
        else:
            groups.append([mode])
    return groups


def _critical_point(
    problem: Equation, couplings: Array, group: list[int], reference: Number | None
) -> CriticalPoint:
    return _known_point(problem.domain, plain_number(couplings[group[0]]), reference, tuple(sorted(group)))


@functools.lru_cache(maxsize=256)
def _known_point(
    domain: Domain, coupling: Number, reference: Number | None, modes: tuple[int, ...]
) -> CriticalPoint:
    """Return a cached critical point; a diagram asks for those of overlapping ranges."""
    relative = None if reference is None else float(np.longdouble(coupling) / np.longdouble(reference))
    return CriticalPoint(coupling, relative, modes, sum(domain.multiplicity(mode) for mode in modes))
