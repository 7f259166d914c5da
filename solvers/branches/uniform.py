"""The uniform branch: exact states and branch points in closed form."""

from collections.abc import Sequence

import numpy as np

from meanfield import Branch, CriticalPoint, Equation, Number, Outcome, SpecialPoint, State, critical_modes
from meanfield.harmonics import multiplicities
from meanfield.records import COUPLING

from ..bases import EPS, Floats, Integers
from ..equations.observables import of_states
from .recording import Register, along


def record_uniform(
    problem: Equation, criticals: list[CriticalPoint], inside: list[CriticalPoint], register: Register
) -> None:
    """Add the uniform branch over the interval, with its branch points, to the register.

    Parameters
    ----------
    criticals, inside
        All critical points from zero to the ends of the interval or farther, and those inside.
    """
    couplings = places(register.interval, [point.coupling for point in inside])
    born = [int(np.searchsorted(couplings, point.coupling)) for point in inside]
    unstable = counts_below(criticals, couplings)
    rates = _rates(problem, couplings, criticals)
    register.branches.append(exact(problem, COUPLING, couplings, unstable, rates, born, register))
    for index, point in zip(born, inside, strict=True):
        before = int(unstable[index])
        after = before + point.kernel_dimension
        counts = (before, after) if point.coupling > 0 else (after, before)
        register.special_points.append(
            critical_special(index, 8 * EPS * np.abs(point.coupling), point, counts, register)
        )


def places(interval: tuple[Number, Number], critical: Sequence[Number]) -> Floats:
    """Return the values of the parameter at the points of the uniform branch, the critical ones among them."""
    low, high = interval
    grid = np.linspace(low, high, 61)
    born = np.array(critical, dtype=grid.dtype)
    # A point between neighbouring critical values shows the count there.
    between = 0.5 * (born[1:] + born[:-1])
    apart = np.abs(np.subtract.outer(grid, born)).min(axis=1, initial=np.inf) > 1e-9 * (high - low)
    return np.unique(np.concatenate([grid[apart], born, between]))


def unstable_uniform(problem: Equation, coupling: Number) -> int:
    """Return the number of unstable directions of the uniform state, from modes strictly beyond their threshold."""
    if coupling == 0.0:
        return 0
    span = (0.0, coupling) if coupling > 0.0 else (coupling, 0.0)
    return int(counts_below(critical_modes(problem, *span), np.array([coupling]))[0])


def counts_below(criticals: list[CriticalPoint], couplings: Floats) -> Integers:
    """Return for each coupling the sum of kernel dimensions of critical points strictly between zero and it."""
    places = np.array([point.coupling for point in criticals], dtype=couplings.dtype)
    dimensions = np.array([point.kernel_dimension for point in criticals], dtype=np.int64)
    within = np.abs(places) < np.abs(couplings[:, None]) * (1.0 - 4.0 * EPS)
    same_side = (places > 0.0) == (couplings[:, None] > 0.0)
    return np.asarray((within & same_side) @ dimensions)


def critical_special(
    index: int, error: Number, critical: CriticalPoint, counts: tuple[int, int], register: Register
) -> SpecialPoint:
    """Return the branch point of a uniform branch at one of its points.

    Parameters
    ----------
    error
        That of the value of the parameter there.
    critical
        Its modes.
    counts
        The unstable directions before and after it, in the direction of the parameter.
    """
    branch = register.branches[0]
    value, relative = branch.values[index], float(branch.relative_coupling[index])
    return SpecialPoint(
        branch=0,
        point=index,
        type="branch point",
        coupling=critical.coupling,
        relative_coupling=None if np.isnan(relative) else relative,
        lower=value - error,
        upper=value + error,
        unstable_before=counts[0],
        unstable_after=counts[1],
        kernel_dimension=critical.kernel_dimension,
        status="exact",
        cosine=branch.cosine[index],
        sine=branch.sine[index],
        description=f"critical: mode {', '.join(map(str, critical.modes))} at the uniform state",
        parameter=branch.parameter,
        parameter_value=None if branch.parameter_values is None else value,
    )


def exact(
    problem: Equation,
    parameter: str,
    values: Floats,
    unstable: Integers,
    rates: Floats,
    born: Sequence[int],
    register: Register,
) -> Branch:
    """Return the uniform branch, exact, at values of a parameter.

    Parameters
    ----------
    problem
        The equation; its coupling if it is not the parameter.
    unstable, rates
        Unstable directions and smallest decay rates there.
    born
        The places of branch points.
    """
    count = values.size
    labels = ["BP" if index in born else "" for index in range(count)]
    labels[0], labels[-1] = labels[0] or "EP", labels[-1] or "EP"
    moments = np.zeros((count, 5))
    moments[:, 0] = 1.0
    zeros = np.zeros((count, 5))
    relative = register.relatives(values)
    arclength = np.abs(relative - relative[0]) if register.critical is not None else np.abs(values - values[0])
    return Branch(
        label="uniform",
        parent=None,
        symmetry=0,
        **along(parameter, problem.coupling, values, np.ones(count)),
        relative_coupling=relative,
        cosine=moments,
        sine=zeros,
        arclength=arclength.astype(float),
        observables=of_states(problem, np.zeros(count)),
        unstable=unstable,
        slowest_rate=rates,
        residual=np.zeros(count),
        modes=np.zeros(count, dtype=np.int64),
        tangent_cosine=zeros,
        tangent_sine=zeros,
        point_labels=tuple(labels),
        outcome=Outcome.LEFT_INTERVAL,
    )


def _rates(problem: Equation, couplings: Floats, criticals: list[CriticalPoint]) -> Floats:
    largest = max(64, *(2 * mode for point in criticals for mode in point.modes), 0)
    return smallest_rates(problem, couplings, largest)


def smallest_rates(problem: Equation, couplings: Floats, largest: int) -> Floats:
    """Return the smallest decay rates l (l + d - 2) (D + kappa w_l / N_l) of the uniform state over modes."""
    domain, degrees = problem.domain, np.arange(1.0, largest + 1.0)
    squares, numbers = degrees * (degrees + domain.dimension - 2), multiplicities(domain, largest)[1:].astype(float)
    multipliers = problem.velocity.at_uniform(domain).multipliers(domain, largest)[1:]
    growth = np.multiply.outer(couplings, squares * multipliers / numbers)
    return np.asarray((problem.noise * squares + growth).min(axis=1), dtype=float)


def uniform_state(problem: Equation) -> State:
    """Return the uniform state at the problem's coupling, exact."""
    return State(
        problem=problem,
        cosine=np.array([1.0, 0.0, 0.0, 0.0, 0.0]),
        sine=np.zeros(5),
        observables=of_states(problem, 0.0),
        unstable=unstable_uniform(problem, problem.fixed_coupling),
        symmetry=0,
        residual=0.0,
        modes=0,
        label="uniform",
    )
