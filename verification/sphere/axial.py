r"""Equivariant branching on the ordinary sphere: the branches born where degree l alone is critical, T9.

With :math:`W = -c P_l` every state is :math:`e^{a\psi}/Z` with a harmonic :math:`\psi` of degree l and mean square
one. Along a branch born on the uniform state psi is fixed, an axial harmonic, and

.. math:: \frac\kappa{\kappa_l} = \frac{a}{\langle\psi\rangle_a}
          = 1 - \tfrac12\overline{\psi^3}\,\langle\psi\rangle + O(\langle\psi\rangle^2)
          = 1 + \bigl(\tfrac12 - \tfrac16\overline{\psi^4}\bigr)\langle\psi\rangle^2 + \dots ,

the second for odd l. A branch is recognised by the mean of its cube or fourth power, whatever its orientation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from meanfield import Branch, Diagram, Equation, State, critical_couplings
from meanfield.harmonics import place

from ..claims import FREE_ENERGY, Evidence, Undecided, at_least, claim, compare, missing, worst
from ..hypotheses import anywhere
from ..measures import LOCATION, MOMENT, RESIDUAL, Floats, Integers, polynomial_at_zero, spaced
from ..tools import Tools
from .harmonics import degrees_of, grid_values, mean
from .measures import fixed_point_error, multipliers
from .onset import NEAR, WIDTHS, children
from .uniform import significant_degrees

DEGREES = (1, 2, 3, 4)
# The first state of a branch is known to its residual over its distance from uniform.
SMALLEST, LARGEST, POINTS = (0.005, 0.03), 0.3, 7
# Slopes in <psi> and its square, with thirty digits: xyz, and x^4 + y^4 + z^4 - 3/5.
KNOWN = {(3, "xyz"): 19 / 143, (4, "octahedral"): -0.28841385493}
KNOWN_ERROR = 1e-11
# kappa over kappa_4/9 at the fold of the octahedral branch and at its equal free energy.
CUBE_FOLD, CUBE_TRANSITION, CUBE_ERROR = 8.11693310043, 8.21129271382, 1e-11
# Relative couplings at which the lowest state of degree 3 is sin^3 cos 3 phi and the zonal one.
BEFORE, AFTER = 1.05, 1.3


@dataclass(frozen=True)
class Axial:
    """An axial harmonic: its name, moments by order, and whether its states are known to be unstable near onset."""

    name: str
    cosine: tuple[float, ...]
    sine: tuple[float, ...]
    unstable: bool


# Coefficients by order of the harmonics e^c and e^s of degree l, of any length. xyz is sin^2 cos sin 2 phi, and
# x^4 + y^4 + z^4 - 3/5 is sqrt(7) e_40 + sqrt(5) e_44.
AXIAL = {
    1: (Axial("zonal", (1, 0), (0, 0), False),),
    2: (Axial("zonal", (1, 0, 0), (0, 0, 0), True),),
    3: (
        Axial("zonal", (1, 0, 0, 0), (0, 0, 0, 0), True),
        Axial("xyz", (0, 0, 0, 0), (0, 0, 1, 0), False),
        Axial("sin^3 cos 3 phi", (0, 0, 0, 1), (0, 0, 0, 0), False),
    ),
    4: (
        Axial("zonal", (1, 0, 0, 0, 0), (0, 0, 0, 0, 0), True),
        Axial("octahedral", (7**0.5, 0, 0, 0, 5**0.5), (0, 0, 0, 0, 0), True),
    ),
}


def one_degree(problem: Equation) -> str | None:
    """Return the reason why the potential is not a multiple of -P_l on the ordinary sphere, or None if it is."""
    reason = anywhere(problem)
    if reason is None and not problem.domain.has_azimuth:
        reason = "the axial subgroups are those of the rotations of the ordinary sphere, d = 3"
    if reason is None:
        significant = significant_degrees(problem)
        if (
            len(significant) != 1
            or significant[0] not in DEGREES
            or multipliers(problem, significant[0])[significant[0]] > 0
        ):
            reason = "it is about potentials -P_l of a single degree from 1 to 4"
    return reason


@claim(
    "sphere.T9",
    "axial branches of a single degree",
    statement=(
        "W = -P_l on S^2: at kappa_l exactly the axial branches are born, zonal for l = 1, 2; zonal, xyz and "
        "sin^3 cos 3 phi for l = 3; zonal and octahedral for l = 4. Odd l: pitchforks, kappa/kappa_l = 1 + "
        "(1/2 - <psi^4>/6) x^2 (19/143 for xyz), the zonal one unstable for l = 3. Even l: transcritical, slope "
        "-<psi^3>/2 (-0.28841385493 for the octahedral one), unstable near onset on both sides."
    ),
    assumptions="a multiple of -P_l, l = 1..4, on S^2; psi of mean square one, x = <psi>",
    source="equivariant branching lemma; Ihrig, Golubitsky; Chossat; integrals by quadrature",
    hypotheses=one_degree,
    needs=FREE_ENERGY,
)
def axial_branches(problem: Equation, tools: Tools) -> Evidence:
    """Identify the branches born on uniform and compare their slopes and stability near onset."""
    degree = significant_degrees(problem)[0]
    critical = float(critical_couplings(problem, degree)[degree])
    width = WIDTHS[0]
    diagram = tools.diagram(problem, ((1 - width) * critical, (1 + width) * critical), 1)
    groups = _recognised(diagram, degree, critical)
    found = []
    for axial in AXIAL[degree]:
        wanted = 2 if degree % 2 == 0 else 1
        branches = groups.pop(axial.name, [])
        text = f"branches of the {axial.name} states of degree {degree}"
        found.append(compare(len(branches), wanted, 0.0, text))
        if len(branches) == wanted:
            found += _branch_evidence(diagram, branches, degree, critical, axial)
    found.append(compare(sum(map(len, groups.values())), 0.0, 0.0, "branches that are not axial"))
    if degree == 3:
        found += _lowest_of_three(problem, critical, tools)
    if degree == 4:
        found += _cube_events(problem, critical, tools)
    return worst(found)


def invariant(degree: int, cosine: Floats, sine: Floats) -> float:
    """Return the mean of psi^3 (even degree) or psi^4 (odd) of a harmonic of any size and orientation.

    Of psi^3 the modulus, since -psi is the other side of the branch; psi has mean square one.
    """
    values = grid_values(*_placed(degree, cosine, sine))
    size = np.sqrt(mean(values**2))
    power = 4 if degree % 2 else 3
    return abs(mean((values / size) ** power))


def _placed(degree: int, cosine: Floats, sine: Floats) -> tuple[Floats, Floats]:
    """Return packed moments with given coefficients by order at one degree, and zeros elsewhere."""
    places = place(degree, np.arange(degree + 1))
    whole = np.zeros((2, places[-1] + 1))
    whole[0, places], whole[1, places] = cosine, sine
    return whole[0], whole[1]


def _of_degree(state: State, degree: int) -> tuple[Floats, Floats]:
    """Return the moments of a degree by order; those of a zonal state have order 0."""
    places = np.flatnonzero(degrees_of(state) == degree)
    missing = (0, degree + 1 - places.size)
    return np.pad(state.cosine[places], missing), np.pad(state.sine[places], missing)


def _length(state: State, degree: int) -> float:
    """Return |m_l| of a state, l = degree."""
    cosine, sine = _of_degree(state, degree)
    return float(np.sqrt(cosine @ cosine + sine @ sine))


def _recognised(diagram: Diagram, degree: int, critical: float) -> dict[str, list[int]]:
    """Return the branches born at uniform by the axial harmonic of their states."""
    known = {axial.name: invariant(degree, np.array(axial.cosine), np.array(axial.sine)) for axial in AXIAL[degree]}
    groups: dict[str, list[int]] = {}
    for index in children(diagram, critical):
        points = _usable(diagram.branches[index], degree, critical)
        if not points.size:
            continue
        state = diagram.state(index, int(points[-1]))
        measured = invariant(degree, *_of_degree(state, degree))
        error = MOMENT / _length(state, degree)
        names = [name for name, value in known.items() if abs(value - measured) <= 8 * error * (1 + value)]
        groups.setdefault(names[0] if names else f"unknown {measured:.9g}", []).append(index)
    return groups


def _usable(branch: Branch, degree: int, critical: float) -> Integers:
    size = np.sqrt(2 * degree + 1) * np.abs(branch.moment(degree))
    growing = np.concatenate([[True], np.diff(size) > 0])
    end = growing.size if growing.all() else int(growing.argmin())
    near = np.abs(branch.coupling[:end] / critical - 1) <= NEAR * WIDTHS[0]
    usable = np.flatnonzero(near & (size[:end] >= SMALLEST[degree % 2]) & (size[:end] <= LARGEST))
    return np.asarray(usable[spaced(usable.size, POINTS)], dtype=np.int64)


def _branch_evidence(
    diagram: Diagram, branches: list[int], degree: int, critical: float, axial: Axial
) -> Iterator[Evidence]:
    found = [
        (diagram.state(index, int(point)), int(diagram.branches[index].unstable[point]))
        for index in branches
        for point in _usable(diagram.branches[index], degree, critical)
    ]
    found.sort(key=lambda item: _length(item[0], degree))
    states = [state for state, _ in found]
    amplitude = np.array([_amplitude(state, degree, axial) for state in states])
    x = amplitude if degree % 2 == 0 else amplitude**2
    ratio = np.array([state.coupling for state in states]) / critical
    value, error = polynomial_at_zero(x, (ratio - 1) / x, RESIDUAL / np.abs(amplitude * x), 0)
    expected = _slope(degree, axial)
    if error > 0.1 * (1 + abs(expected)):
        raise Undecided(f"the points near the birth resolve the slope to {error:.1e} only")
    yield compare(value, expected, error, f"slope of the {axial.name} branch of degree {degree}")
    known = KNOWN.get((degree, axial.name))
    if known is not None:
        yield compare(value, known, error + KNOWN_ERROR, f"slope of the {axial.name} branch in closed form")
    for state in states[:: max(1, len(states) // 3)]:
        where = f"of the {axial.name} branch at coupling {state.coupling:.9g}"
        yield compare(fixed_point_error(state), 0.0, MOMENT, f"fixed point {where}")
    if axial.unstable:
        least = min(count for _, count in found)
        yield at_least(least, 1.0, 0.0, f"unstable directions near onset of the {axial.name} branch")


def _amplitude(state: State, degree: int, axial: Axial) -> float:
    """Return <psi>, with the sign of psi^3 beside that of the axial harmonic for even degrees."""
    cosine, sine = _of_degree(state, degree)
    size = (2 * degree + 1) ** 0.5 * _length(state, degree)
    if degree % 2:
        return float(size)
    cubes = [
        mean(grid_values(*_placed(degree, c, s)) ** 3)
        for c, s in ((cosine, sine), (np.array(axial.cosine), np.array(axial.sine)))
    ]
    return float(size if cubes[0] * cubes[1] > 0 else -size)


def _slope(degree: int, axial: Axial) -> float:
    cosine, sine = np.array(axial.cosine), np.array(axial.sine)
    value = invariant(degree, cosine, sine)
    if degree % 2:
        return 0.5 - value / 6
    sign = np.sign(mean(grid_values(*_placed(degree, cosine, sine)) ** 3))
    return float(-0.5 * sign * value)


def _lowest_of_three(problem: Equation, critical: float, tools: Tools) -> Iterator[Evidence]:
    """Check that the sin^3 cos 3 phi state is lowest near onset, and the zonal one well above it."""
    for factor, name in ((BEFORE, "sin^3 cos 3 phi"), (AFTER, "zonal")):
        axial = next(axial for axial in AXIAL[3] if axial.name == name)
        states = tools.states(problem.at(coupling=factor * critical))
        lowest = min(states, key=lambda state: state.free_energy_gap)
        if lowest.symmetry == 0:
            yield missing(f"no state of lower energy than uniform at {factor} kappa_3")
            continue
        measured = invariant(3, *_of_degree(lowest, 3))
        expected = invariant(3, np.array(axial.cosine), np.array(axial.sine))
        yield compare(measured, expected, 1e2 * MOMENT, f"mean of psi^4 of the lowest state at {factor} kappa_3")


def _cube_events(problem: Equation, critical: float, tools: Tools) -> Iterator[Evidence]:
    """Compare the fold and the transition of the octahedral branch with their known couplings."""
    diagram = tools.diagram(problem, (0.85 * critical, 1.01 * critical), 1)
    for kind, value in (("fold", CUBE_FOLD), ("transition", CUBE_TRANSITION)):
        couplings = [
            float(point.coupling)
            for point in diagram.special_points
            if point.type == kind and not diagram.branches[point.branch].moments.has_axis
        ]
        expected = value / 9 * critical
        nearest = min(couplings, key=lambda coupling: abs(coupling - expected), default=np.inf)
        bound = expected * (LOCATION + CUBE_ERROR / value)
        yield compare(nearest, expected, bound, f"{kind} of the octahedral branch")
