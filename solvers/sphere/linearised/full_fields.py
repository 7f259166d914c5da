r"""The field behind a stationary state on S^2 without an axis, on a grid, and the symmetries it has.

At a stationary state :math:`\rho = e^f/Z` with :math:`f = \sum_{lm} \sigma_l m_{lm} e_{lm} - V/D`,
:math:`\sigma_l = -\kappa w_l/D`, or :math:`f = p\log u - V/D` under softmax attention, see
:mod:`solvers.equations.softmax`, so the density is recomputed from the significant moments. Symmetries are
read off the coefficients of f: reflections of coordinates, rotations about the z axis, and the exchange of the
axes; a symmetry to rounding is taken as exact.
"""

import functools
import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from meanfield import Equation, NotResolved, State
from meanfield.equations import NEGLIGIBLE, Capability, Interaction, at_uniform
from meanfield.harmonics import degrees_and_orders, largest_degree, packed_size, place

from ...bases import EPS, Floats, Integers
from ...bases.confining import ConfiningField
from ...bases.limits import MAX_SPHERICAL_DEGREE
from ...bases.representations import CYCLE, representation
from ...bases.spherical import SphericalTransform
from ...equations.sizing import confining_field
from ..harmonics import Reflections, Signs, signs_under
from .fields import UNIFORM
from .law_spectra import require_digits

# Coefficients of f that break a symmetry are rounding below this share of the largest, or if moments are.
ROUNDING = 1e-12
# Turns of a state that any rotation about the z axis leaves as it is.
ALL_TURNS = 1 << 30
SIDES: tuple[Signs, ...] = tuple(itertools.product((1, -1), repeat=3))  # type: ignore[arg-type]
FLIPS = ((1, -1, -1), (-1, 1, -1), (-1, -1, 1))
# Degrees are multiples of this, so that few different tables are made.
STEP = 4
FIRST_DEGREE = 48
# Degrees beyond those of f, at least.
ROOM = 8
# Rounding errors of the means of a field on a grid, in units of eps times its largest modulus.
FIELD_ROUNDING = 4.0
# Smaller shares of the root of the density are rounding.
SMALLEST_SHARE = 1e-13


class Symmetry(NamedTuple):
    """Symmetries of a state: signs of coordinates, turns about the z axis, exchange of the axes."""

    reflections: Reflections
    turns: int
    cyclic: bool


@dataclass(frozen=True, eq=False)
class FullField:
    """The field of a state by packed coefficients, with its symmetries.

    Attributes
    ----------
    interaction
        The interaction of the equation.
    cosine, sine : (size,) float
        Packed coefficients of f in the e_lm.
    degree : int
        Their largest degree.
    symmetry
        The symmetries of f.
    averages : (2, size) float or None
        Packed coefficients of u, for softmax attention.
    """

    interaction: Interaction
    cosine: Floats
    sine: Floats
    degree: int
    symmetry: Symmetry
    averages: Floats | None = None

    @property
    def problem(self) -> Equation:
        """The equation."""
        return self.interaction.problem


class FieldOnGrid(NamedTuple):
    """A field on the points of a grid, (rings, meridians) each.

    Attributes
    ----------
    root
        Root of the density over the uniform one.
    polar, azimuthal
        The gradient of f.
    potential
        |grad f|^2/4 + Lap f/2.
    """

    root: Floats
    polar: Floats
    azimuthal: Floats
    potential: Floats


def is_uniform(state: State) -> bool:
    """Return whether a state on S^2, given by degree and order, is the uniform density."""
    largest = max(np.abs(state.cosine[1:]).max(initial=0.0), np.abs(state.sine).max(initial=0.0))
    return state.problem.confinement is None and float(largest) <= UNIFORM


def full_field(state: State) -> FullField:
    """Return the field of a state given by degree and order."""
    if state.problem.lacks(Capability.GRADIENT):
        return _softmax_field(state)
    interaction = Interaction(state.problem)
    degree = largest_degree(state.cosine.size)
    degrees, _ = degrees_and_orders(degree)
    strengths = interaction.attractions(degree)[degrees]
    cosine, sine = strengths * state.cosine, strengths * state.sine
    fixed = confining_field(state.problem)
    if fixed is not None:
        cosine, sine = _with_confinement(cosine, sine, fixed)
    return _cleaned(interaction, cosine, sine)


def _softmax_field(state: State) -> FullField:
    """Return the field p log u - V/D of a state of softmax attention, with u = K*rho over the mean of K.

    The interaction is that of the gradient law with the same linearisation at the uniform state, whose
    lambda_l are p times the multipliers of K over that of degree zero.

    Raises
    ------
    NotResolved
        If u ranges over so many decades that its smallest values have no digits.
    """
    problem = state.problem
    interaction = at_uniform(problem)
    exponent = problem.fixed_coupling / (problem.velocity.parameter_values()["beta"] * problem.noise)
    last = min(largest_degree(state.cosine.size), interaction.significant_degree)
    factors = interaction.attractions(last)[degrees_and_orders(last)[0]] / exponent
    factors[0] = 1.0
    averages = factors * np.stack([state.cosine, state.sine])[:, : packed_size(last)]
    degree = FIRST_DEGREE
    while degree <= MAX_SPHERICAL_DEGREE:
        transform = transform_of(degree, 2 * degree, 4 * degree)
        u = transform_of(last, 2 * degree, 4 * degree).synthesise(*averages)
        require_digits(u, problem)
        means = np.stack(transform.analyse(np.log(u)))
        size = float(np.abs(exponent * np.log(u)).max())
        means[np.abs(exponent * means) <= FIELD_ROUNDING * EPS * size] = 0.0
        if not means[:, packed_size(degree - degree // 8) :].any():
            break
        degree += degree // 2
    else:
        raise NotResolved(
            f"the field at this state needs harmonics of degree {MAX_SPHERICAL_DEGREE} and more; leave the rates "
            "out (--no-rates, rates=False) or take a less concentrated state"
        )
    cosine, sine = exponent * transform.multiplicities * means
    fixed = confining_field(problem)
    if fixed is not None:
        cosine, sine = _with_confinement(cosine, sine, fixed)
    return replace(_cleaned(interaction, cosine, sine), averages=averages)


def _with_confinement(cosine: Floats, sine: Floats, fixed: ConfiningField) -> tuple[Floats, Floats]:
    """Return packed coefficients plus those of a confinement."""
    last = int(np.flatnonzero(fixed.lengths > NEGLIGIBLE * fixed.lengths.max()).max(initial=1))
    size = max(cosine.size, packed_size(last))
    both = np.zeros((2, size))
    both[0, : cosine.size], both[1, : sine.size] = cosine, sine
    both[:, : packed_size(last)] += fixed.up_to(last)
    return both[0], both[1]


def _cleaned(interaction: Interaction, cosine: Floats, sine: Floats) -> FullField:
    """Return the field without the coefficients that are not significant or break a symmetry by rounding."""
    sizes = np.maximum(np.abs(cosine), np.abs(sine))
    degrees, orders = degrees_and_orders(largest_degree(sizes.size))
    degree = int(degrees[sizes > NEGLIGIBLE * sizes.max()].max())
    noise = max(ROUNDING * float(sizes.max()), UNIFORM * float(np.abs(interaction.attractions(degree)).max()))
    turns = int(np.gcd.reduce(orders[sizes > noise])) or ALL_TURNS
    size = packed_size(degree)
    parts = np.where(orders % turns == 0, np.stack([cosine, sine]), 0.0)[:, :size]
    odd = {sides: _odd(sides, degrees[:size], orders[:size]) for sides in SIDES}
    for places in odd.values():
        if np.abs(parts[places]).max(initial=0.0) <= noise:
            parts[places] = 0.0
    reflections = tuple(sides for sides, places in odd.items() if not parts[places].any())
    cyclic = turns % 2 == 0 and set(FLIPS) <= set(reflections) and _is_cyclic(parts[0], parts[1], degree, noise)
    return FullField(interaction, parts[0], parts[1], degree, Symmetry(reflections, turns, cyclic))


def _odd(sides: Signs, degrees: Integers, orders: Integers) -> NDArray[np.bool_]:
    """Return which packed cosines and sines change sign under a reflection of coordinates."""
    return np.stack([signs_under(sides, degrees, orders, np.full_like(orders, sine)) < 0 for sine in (0, 1)])


def _is_cyclic(cosine: Floats, sine: Floats, degree: int, noise: float) -> bool:
    """Return whether a function is invariant under the exchange x -> y -> z -> x."""
    for each in range(1, degree + 1):
        first, last = place(each, 0), place(each + 1, 0)
        here = np.concatenate([cosine[first:last], sine[first + 1 : last]])
        if np.abs(here).max() > noise and np.abs(_cycle(each) @ here - here).max() > noise:
            return False
    return True


@functools.lru_cache(maxsize=MAX_SPHERICAL_DEGREE)
def _cycle(degree: int) -> Floats:
    return representation(CYCLE, degree)


@functools.lru_cache(maxsize=16)
def transform_of(degree: int, rings: int, meridians: int) -> SphericalTransform:
    """Return the cached transform of a degree on a grid."""
    return SphericalTransform(degree, rings, meridians)


def grid_size(field: FullField, degree: int) -> tuple[int, int]:
    """Return rings and meridians that resolve products of two harmonics up to a degree under the state.

    The potential is resolved exactly; the root of the density, resolved by harmonics of this degree, to rounding.
    """
    # The degree of the field changes from state to state, and tables are made for few different grids.
    together = stepped(degree + max(field.degree, degree // 2))
    return together + 1, int(scipy.fft.next_fast_len(max(4 * degree, 2 * together) + 1, real=True))


def on_grid(field: FullField, rings: int, meridians: int) -> FieldOnGrid:
    """Return a field on a grid."""
    transform = transform_of(field.degree, rings, meridians)
    values = transform.synthesise(field.cosine, field.sine)
    root = np.exp(0.5 * (values - values.max()))
    root /= np.sqrt(transform.mean(root * root))
    polar, azimuthal = transform.gradient(field.cosine, field.sine)
    squares = -0.5 * transform.degrees * (transform.degrees + 1.0)
    potential = transform.synthesise(squares * field.cosine, squares * field.sine)
    potential += 0.25 * (polar * polar + azimuthal * azimuthal)
    return FieldOnGrid(root, polar, azimuthal, potential)


def averages_on_grid(field: FullField, rings: int, meridians: int) -> Floats:
    """Return u on a grid, for softmax attention."""
    assert field.averages is not None
    return transform_of(largest_degree(field.averages.shape[1]), rings, meridians).synthesise(*field.averages)


def resolving_degree(field: FullField, share: float, least: int = 0) -> int:
    """Return a degree beyond which the root of the density has a root mean square below a share.

    Parameters
    ----------
    share
        The largest share, relative to the whole root.
    least
        Smallest degree.

    Raises
    ------
    NotResolved
        If that degree is more than affordable.
    """
    share = max(share, SMALLEST_SHARE)
    if field.averages is None:
        # The field of softmax attention has no last degree, and needs none of its last ones.
        least = max(least, field.degree + ROOM)
    degree = max(FIRST_DEGREE, least)
    while degree <= MAX_SPHERICAL_DEGREE:
        left = root_of(field, degree).left
        if left[-STEP] <= share:
            return max(stepped(int(np.argmax(left <= share))), stepped(least))
        degree += degree // 2
    raise NotResolved(
        f"the decay rates at this state need harmonics of degree {MAX_SPHERICAL_DEGREE} and more; leave the rates "
        "out (--no-rates, rates=False) or take a less concentrated state"
    )


class Root(NamedTuple):
    """The root of a density, its mean square one: its largest value, and what is left of it from each degree on."""

    largest: float
    left: Floats


@functools.lru_cache(maxsize=4)
def root_of(field: FullField, degree: int) -> Root:
    """Return the root of the density of a field by degree, on a grid for harmonics up to a degree."""
    rings = degree + field.degree + 1
    transform = transform_of(degree, rings, 2 * rings)
    root = on_grid(field, rings, 2 * rings).root
    cosine, sine = transform.analyse(root)
    squares = transform.multiplicities * (cosine * cosine + sine * sine)
    left = np.sqrt(np.bincount(transform.degrees, squares)[::-1].cumsum()[::-1])
    return Root(float(root.max()), left)


def stepped(degree: int) -> int:
    """Return a degree rounded up to a multiple of a few, so that few different degrees occur."""
    return STEP * -(-degree // STEP)


def turnings(field: FullField, values: FieldOnGrid, rings: int, meridians: int) -> Floats:
    r"""Return :math:`\sqrt\rho\,(n\times x)\cdot\nabla f` for the x, y and z axis n, (3, rings, meridians)."""
    transform = transform_of(field.degree, rings, meridians)
    cosine, sine = transform.cosines[:, None], np.sin(transform.polar)[:, None]
    around = [np.cos(transform.azimuths), np.sin(transform.azimuths)]
    about_z = values.azimuthal * sine
    about_x = -around[1] * values.polar - cosine * around[0] * values.azimuthal
    about_y = around[0] * values.polar - cosine * around[1] * values.azimuthal
    return np.stack([about_x, about_y, about_z]) * values.root


def free_axes(problem: Equation) -> Floats:
    """Return the axes about which states may be turned, (k, 3): of a confinement its own, if it has one."""
    fixed = confining_field(problem)
    if fixed is None:
        return np.eye(3)
    return np.eye(3)[2:] if fixed.zonal else fixed.axes
