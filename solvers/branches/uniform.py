"""The uniform branch: exact states and branch points in closed form."""

import numpy as np

from meanfield import Branch, CriticalPoint, Equation, Number, Outcome, SpecialPoint, State, critical_modes

from ..bases import EPS, Floats, Integers
from ..observables import of_states
from .recording import Register


def record_uniform(
    problem: Equation, criticals: list[CriticalPoint], inside: list[CriticalPoint], register: Register
) -> None:
    """Add the uniform branch over the interval, with its branch points, to the register.

    Parameters
    ----------
    criticals, inside
        All critical points from zero to the ends of the interval or farther, and those inside.
    """
    low, high = register.interval
    grid = np.linspace(low, high, 61)
    born = np.array([point.coupling for point in inside], dtype=grid.dtype)
    # A point between neighbouring critical couplings shows the count there.
    between = 0.5 * (born[1:] + born[:-1])
    apart = np.abs(np.subtract.outer(grid, born)).min(axis=1, initial=np.inf) > 1e-9 * (high - low)
    couplings = np.unique(np.concatenate([grid[apart], born, between]))
    labels = ["" for _ in couplings]
    labels[0] = labels[-1] = "EP"
    unstable = counts_below(criticals, couplings)
    branch_points = [(int(np.searchsorted(couplings, point.coupling)), point) for point in inside]
    for index, _ in branch_points:
        labels[index] = "BP"
    register.branches.append(_branch(problem, couplings, tuple(labels), unstable, criticals, register))
    for index, point in branch_points:
        register.special_points.append(_uniform_special(problem, index, point, register))


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


def _uniform_special(problem: Equation, index: int, point: CriticalPoint, register: Register) -> SpecialPoint:
    branch = register.branches[0]
    coupling = point.coupling
    before, relative = int(branch.unstable[index]), float(branch.relative_coupling[index])
    grows = coupling > 0
    error = 8 * EPS * np.abs(coupling)
    modes = ", ".join(str(mode) for mode in point.modes)
    return SpecialPoint(
        branch=0,
        point=index,
        type="branch point",
        coupling=coupling,
        relative_coupling=None if np.isnan(relative) else relative,
        lower=coupling - error,
        upper=coupling + error,
        unstable_before=before if grows else before + point.kernel_dimension,
        unstable_after=before + point.kernel_dimension if grows else before,
        kernel_dimension=point.kernel_dimension,
        status="exact",
        cosine=branch.cosine[index],
        sine=branch.sine[index],
        description=f"critical: mode {modes} at the uniform state",
    )


def _branch(
    problem: Equation,
    couplings: Floats,
    labels: tuple[str, ...],
    unstable: Integers,
    criticals: list[CriticalPoint],
    register: Register,
) -> Branch:
    """Return the uniform branch, exact, at the given couplings."""
    count = couplings.size
    moments = np.zeros((count, 5))
    moments[:, 0] = 1.0
    zeros = np.zeros((count, 5))
    relative = register.relatives(couplings)
    arclength = (
        np.abs(relative - relative[0]) if register.critical is not None else np.abs(couplings - couplings[0])
    )
    return Branch(
        label="uniform",
        parent=None,
        symmetry=0,
        coupling=couplings,
        relative_coupling=relative,
        cosine=moments,
        sine=zeros,
        arclength=arclength.astype(float),
        observables=of_states(problem, np.zeros(count)),
        unstable=unstable,
        slowest_rate=_rates(problem, couplings, criticals),
        residual=np.zeros(count),
        modes=np.zeros(count, dtype=np.int64),
        tangent_coupling=np.ones(count),
        tangent_cosine=zeros,
        tangent_sine=zeros,
        point_labels=labels,
        outcome=Outcome.LEFT_INTERVAL,
    )


def _rates(problem: Equation, couplings: Floats, criticals: list[CriticalPoint]) -> Floats:
    """Return the smallest decay rate l (l + d - 2) (D + kappa w_l / N_l) of the uniform state over all modes."""
    largest = max(64, *(2 * mode for point in criticals for mode in point.modes), 0)
    domain, degrees = problem.domain, range(1, largest + 1)
    squares = np.array([-domain.laplacian_eigenvalue(degree) for degree in degrees])
    multiplicities = np.array([domain.multiplicity(degree) for degree in degrees], dtype=float)
    multipliers = problem.velocity.at_uniform(domain).multipliers(domain, largest)[1:]
    growth = np.multiply.outer(couplings, squares * multipliers / multiplicities)
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
