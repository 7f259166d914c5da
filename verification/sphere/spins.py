r"""The O(n) model :math:`W = -\langle x, y\rangle` on :math:`S^{n-1}`: closed forms and an exact identity, T5.

With :math:`f_l` the part of degree l of :math:`|S|\rho` and :math:`A_l = (n-2)!/(l(l+1)\cdots(l+n-2))`,

.. math:: \frac{d}{dt}\,\frac12\sum_{l\ge1} A_l |f_l|^2 = -D\sum_l A_l\, l(l+n-2)\,|f_l|^2 + \kappa\,|J|^2,
          \qquad J = \int x\rho .
"""

import math
from collections.abc import Iterator

import numpy as np

from meanfield import Equation, State, Trajectory
from meanfield.harmonics import degrees_of_places

from ..claims import FREE_ENERGY, Evidence, at_least, claim, compare, missing, worst
from ..hypotheses import anywhere
from ..measures import MOMENT, Floats, clustered_states
from ..tools import Tools
from .dynamics import (
    IDENTITY,
    PRECISE,
    about_the_pole,
    gauss_times,
    integrated,
    two_lobes,
    without_axis,
)
from .measures import interval, multipliers, numbers
from .uniform import significant_degrees

# Couplings over n D: where uniform is alone, and where it is not.
BELOW, ABOVE = 0.8, 2.0
COUNTED = ((0.8, 1), (1.5, 2), (4.0, 2))
# The second moment of even data stays what it is at rounding; after this time over D (d - 1) degree 2 has decayed.
FORGOTTEN, UNIFORM = 4.0, 1e-4


def spins(problem: Equation) -> str | None:
    """Return the reason why the potential is not -<x, y>, or None if it is."""
    reason = anywhere(problem)
    if reason is None and (significant_degrees(problem) != [1] or float(multipliers(problem, 1)[1]) != -1.0):
        reason = "it is about the potential -<x, y> of the O(n) model"
    return reason


@claim(
    "sphere.T5",
    "states of the O(n) model in closed form",
    statement=(
        "Uniform alone for kappa <= n D, one further state up to rotation above, of von Mises and Fisher: "
        "rho ~ e^{r u}, r = kappa m/D, m = I_{n/2}(r)/I_{n/2-1}(r), <P_2> = 1 - n D/kappa, "
        "(F - F_0)/D = r m/2 - log <e^{ru}>."
    ),
    assumptions="W = -<x, y>",
    source="Frouvelle, Liu, arXiv:1101.2380, who write tau for D",
    hypotheses=spins,
    needs=FREE_ENERGY,
)
def spin_states(problem: Equation, tools: Tools) -> Evidence:
    """Check the identities on every state of the diagram and count the states at fixed couplings."""
    diagram = tools.diagram(problem, interval(problem))
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    found = [compare(len(clustered), 1.0, 0.0, "nonuniform branches")]
    for state in clustered_states(diagram, 100):
        found += _family(state)
    critical = problem.domain.dimension * problem.noise
    for ratio, count in COUNTED:
        states = tools.states(problem.at(coupling=ratio * critical))
        found.append(compare(len(states), count, 0.0, f"states at kappa = {ratio} n D"))
        for state in states:
            if state.symmetry != 0:
                found += _family(state)
                found.append(compare(state.unstable == 0, True, 0.0, f"stability at kappa = {ratio} n D"))
    return worst(found)


def _family(state: State) -> Iterator[Evidence]:
    from scipy.special import gammaln, ive

    n = state.problem.domain.dimension
    ratio = state.coupling / state.problem.noise
    m = float(state.cosine[1])
    r = ratio * m
    where = f"at kappa/D = {ratio:.9g}"
    yield compare(float(state.cosine[2]), 1 - n / ratio, MOMENT, f"<P_2> {where}")
    if abs(m) <= 1e-6:
        return
    yield compare(m, float(ive(n / 2, r) / ive(n / 2 - 1, r)), MOMENT, f"self-consistency of m {where}")
    logarithm = gammaln(n / 2) + (n / 2 - 1) * math.log(2 / r) + math.log(ive(n / 2 - 1, r)) + r
    yield compare(state.free_energy_gap, r * m / 2 - logarithm, MOMENT * (1 + r), f"gap {where}")


@claim(
    "sphere.T5-identity",
    "exact decay of a negative norm in the O(n) model",
    statement=(
        "d/dt (1/2) sum A_l |f_l|^2 = -D sum A_l l(l+n-2) |f_l|^2 + kappa |J|^2 with "
        "A_l = (n-2)!/(l(l+1)...(l+n-2)) along every solution; hence for kappa < n D the norm falls at least like "
        "exp(-(n-1)(D - kappa/n) t), from any density, and for kappa > n D data with J = 0 tend to uniform."
    ),
    assumptions="W = -<x, y>; on S^2 also for densities without an axis",
    source="the relation announced by Frouvelle, Liu, arXiv:1101.2380; by telescoping the moment hierarchy",
    hypotheses=spins,
    needs=FREE_ENERGY,
)
def negative_norm(problem: Equation, tools: Tools) -> Evidence:
    """Compare both sides of the identity, integrated along trajectories below and above the threshold."""
    critical = problem.domain.dimension * problem.noise
    starts = {"two lobes on the axis": two_lobes(problem.domain.dimension)}
    if problem.domain.has_azimuth:
        starts["lobes without a common axis"] = without_axis()
    times, weights, end = gauss_times(problem.noise)
    found: list[Evidence] = []
    for name, start in starts.items():
        for share in (BELOW, ABOVE):
            at = problem.at(coupling=share * critical)
            path = tools.evolve(at, start, end, times=[0.0, *times, end], tolerance=PRECISE)
            found += _identity(path, weights, f"from {name} at kappa = {share} n D")
    found += _even_data(problem.at(coupling=ABOVE * critical), tools)
    return worst(found)


def _identity(path: Trajectory, weights: Floats, where: str) -> Iterator[Evidence]:
    problem = path.problem
    n, noise, coupling = problem.domain.dimension, problem.noise, problem.fixed_coupling
    powers = _powers(path)
    degrees = np.arange(powers.shape[1], dtype=float)
    shares = _norm_weights(n, powers.shape[1] - 1)
    norms = 0.5 * powers @ shares
    momentum = powers[:, 1] / n
    loss = noise * powers @ (shares * degrees * (degrees + n - 2)) - coupling * momentum
    fall = float(norms[0] - norms[-1])
    bound = IDENTITY * (1 + abs(fall))
    yield compare(integrated(loss, weights), fall, bound, f"integrated decay of the norm {where}")
    if coupling < n * noise:
        rate = (n - 1) * (noise - coupling / n)
        slack = float((norms[0] * np.exp(-2 * rate * path.time) - norms).min())
        yield at_least(slack, 0.0, PRECISE, f"room below the exponential bound {where}")


def _powers(path: Trajectory) -> Floats:
    """Return |f_l|^2 = N_l |m_l|^2 at every time."""
    squares = path.cosine**2 + path.sine**2
    if not path.moments.has_axis:
        degrees = degrees_of_places(squares.shape[1])
        starts = np.flatnonzero(np.diff(degrees, prepend=-1))
        squares = np.add.reduceat(squares, starts, axis=1)
    return np.asarray(numbers(path.problem.domain.dimension, squares.shape[1] - 1) * squares)


def _norm_weights(n: int, degree: int) -> Floats:
    """Return A_0 = 0 and A_l, l = 1..degree."""
    values = [math.factorial(n - 2) / math.prod(range(each, each + n - 1)) for each in range(1, degree + 1)]
    return np.array([0.0, *values])


def _even_data(problem: Equation, tools: Tools) -> Iterator[Evidence]:
    n = problem.domain.dimension
    moments = about_the_pole(n, 2.0) + about_the_pole(n, 2.0) * (-1.0) ** np.arange(about_the_pole(n, 2.0).size)
    end = FORGOTTEN / (problem.noise * (n - 1))
    path = tools.evolve(problem, (0.5 * moments, np.zeros_like(moments)), end, times=8)
    left = float(np.sqrt((path.cosine[-1, 1:] ** 2).sum()))
    yield compare(left, 0.0, UNIFORM, f"distance from uniform at time {end:g} of data without momentum")
    if float(np.abs(path.cosine[0, 2])) < 0.01:
        yield missing("the data without momentum are nearly uniform to begin with")
