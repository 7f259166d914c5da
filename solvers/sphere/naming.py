r"""Names of states of a sphere: that of the branch born with the same symmetry at the uniform state.

That branch is named after the degree that becomes critical there. Of several such degrees the one counts that binds
the state most; degree l binds by :math:`-w_l |m_l|^2/N_l`, its strength at the uniform state times its moments. A
state with a symmetry that no degree is born with has its Schoenflies symbol for a name. So a state has one name,
whether a branch led to it or the search met it, unless another degree comes to bind most along the branch.
"""

import numpy as np

from meanfield.harmonics import full_density

from ..bases import Floats, Integers
from ..bases.base import Invariants
from ..bases.representations import Group
from ..branches.continuation import Point
from ..branches.junctions import AMPLITUDE, Departure
from ..branches.orbits import SIGNIFICANT, symmetry_of
from ..equations.equation import StationaryEquation
from .groups import axial_groups

# Names of the two sides of the branch of degree two, flattened and drawn out along the axis.
SHAPES = {1: "prolate", -1: "oblate"}
# The lowest degree of a solid, and the states that rise at its vertices and at those of its dual.
SOLIDS = {
    "O_h": (4, ("octahedral", "cubic")),
    "I_h": (6, ("icosahedral", "dodecahedral")),
    "T_d": (3, ("tetrahedral", "tetrahedral")),
}
# A vertex of the first solid of each pair.
VERTICES = {"O_h": (0.0, 0.0, 1.0), "I_h": (0.0, 1.0, 0.5 * (1.0 + 5.0**0.5)), "T_d": (1.0, 1.0, 1.0)}


def name_of(point: Point) -> str:
    """Return the name of a state, such as ``zonal 4-`` or ``octahedral``."""
    return _name(point.equation, point.b) if symmetry_of(point) else "uniform"


def name_of_departure(departure: Departure) -> str:
    """Return the name of the states of a branch, from its departure."""
    return _name(departure.equation, departure.b + AMPLITUDE * departure.direction)


def _name(equation: StationaryEquation, b: Floats) -> str:
    basis = equation.basis
    shares: Floats = np.zeros(int(basis.degrees.max()) + 1)
    present = np.abs(b) > SIGNIFICANT * min(1.0, float(np.abs(b).max()))
    np.add.at(shares, basis.degrees[present], (equation.signs * basis.squares * b**2)[present])
    binding = np.flatnonzero(shares > 0.0)
    binding = binding[np.argsort(-shares[binding], kind="stable")]
    if basis.invariants is not None:
        return _name_in_group(basis.invariants, basis.degrees, binding, b)
    # A state that differs at antipodes is born with an odd degree.
    odd = binding[binding % 2 == 1]
    degree = int([*odd, *binding, basis.degrees[np.argmax(np.abs(b))]][0])
    return _zonal(degree, 1 if float(b[basis.degrees == degree][0]) > 0.0 else -1)


def _zonal(degree: int, side: int) -> str:
    """Return the name of the zonal branch of a degree; the side is the sign of its moment."""
    if degree == 2:
        return SHAPES[side]
    if degree % 2 == 1:
        return f"zonal {degree}"
    return f"zonal {degree}{'+' if side > 0 else '-'}"


def _name_in_group(invariants: Invariants, degrees: Integers, binding: Integers, b: Floats) -> str:
    """Return the name of a state of finite symmetry, with the degree unless it is the lowest of a solid."""
    name = invariants.group.name
    degree = next((degree for degree in binding.tolist() if _is_axial(invariants.group, degree)), None)
    if degree is None:
        return name
    if name not in SOLIDS:
        return f"{name} {degree}"
    first, shapes = SOLIDS[name]
    shape = shapes[0 if _rises_at_vertices(invariants, np.where(degrees == degree, b, 0.0)) else 1]
    return shape if degree == first else f"{shape} {degree}"


def _is_axial(group: Group, degree: int) -> bool:
    """Return whether branches of a symmetry are born with a degree, in any orientation."""
    return group.dimension(degree) == 1 and group.name in [axial.name for axial in axial_groups(degree)]


def _rises_at_vertices(invariants: Invariants, change: Floats) -> bool:
    """Return whether a sum of modes is positive at the vertices of the first solid of a symmetry."""
    x, y, z = np.array(VERTICES[invariants.group.name]) / np.linalg.norm(VERTICES[invariants.group.name])
    return bool(full_density(*invariants.harmonics(change), np.arccos(z), np.arctan2(y, x)) > 0.0)
