r"""The slowest decay rate of a state on S^2 without an axis, by one small symmetric matrix per class of harmonics.

The matrices are on few harmonics; where the second variation is positive none is needed as long as a rate is
negative. Classes that may have the slowest rate are followed to more harmonics, until those left out change it no
more. There W and C of :mod:`.full_matrices` are applied on a grid, and the lowest pair is found by Davidson's
method: in the inner product :math:`\langle x, Wx'\rangle`, in which CW is symmetric, it is the lowest Ritz pair
among some vectors, to which :math:`(CW + s)^{-1} r` for its residual r is added until it is settled. Of this
inverse the matrix on few harmonics is at hand; on the others, which the density hardly reaches, C is nearly one and
W nearly the Laplacian. A rate lost in rounding is taken from :mod:`.full_spectra`.
"""

import functools
from typing import NamedTuple

import numpy as np
import scipy.fft

from meanfield import NotResolved, State
from meanfield.harmonics import degrees_and_orders

from ...bases import EPS, Floats
from ..harmonics import signs_under
from .full_fields import STEP, FullField, Symmetry, full_field, is_uniform, on_grid, resolving_degree, transform_of
from .full_matrices import SAFETY, SOLVED, Inverse, Linearisation, LinearisedEquation, Pair, significant_degrees
from .full_spectra import class_values
from .harmonic_tables import ClassTable, Harmonic, class_tables, waves_of
from .uniform import uniform_eigenvalues

# The root of the density has so little left beyond the first degree tried, and while several classes may have the
# slowest rate, at least so many times as much beyond the next.
FIRST_SHARE = 1e-2
LEAP = 0.03
# The root of the density has so little left beyond the degree that the second variation is taken with, and its
# eigenvalues, in units of D, are negative or rounding below this.
COUNTED_SHARE, NEARLY_NEUTRAL = 1e-7, 1e-4
# Truncation may change a rate by this share, or by one unit of rounding in units of D.
TRUNCATION_TOLERANCE = 1e-9
# A rate is kept if its rounding error is below this share of it.
RELATIVE_TOLERANCE = 1e-8
# Vectors of Davidson's method; where it does not settle with them a matrix on all harmonics is made.
MOST_VECTORS = 40


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state given by degree and order, rotation excluded.

    Raises
    ------
    NotResolved
        If the state needs more harmonics than are affordable.
    """
    if is_uniform(state):
        return -float(uniform_eigenvalues(state.problem, 0, 1)[0][0])
    field, share = full_field(state), FIRST_SHARE
    few = resolved(field, share, 0)
    growing = _growing(few)
    classes = [_Class(few, table, -np.inf if table.first in growing else 0.0) for table in few.tables]
    whole: LinearisedEquation = few
    while True:
        slowest = _lowest(whole, classes)
        level = slowest.pair.level
        allowed = max(TRUNCATION_TOLERANCE * abs(level), EPS)
        if slowest.truncation <= allowed and level <= whole.beyond:
            break
        # The truncation goes about with the square of the share.
        factor = 0.3 * float(np.sqrt(allowed / max(slowest.truncation, EPS * allowed)))
        alone = sum(each.bound <= level for each in classes) == 1
        share *= min(1.0, factor if alone else max(LEAP, factor))
        whole = Applied(field, resolving_degree(field, share, whole.degree + 1))
    if slowest.noise <= RELATIVE_TOLERANCE * abs(level):
        return whole.noise * level
    doubtful = {each.table.first for each in classes if each.bound <= level + slowest.noise}
    exact = Linearisation(field, whole.degree)
    blocks = [exact.matrices(table) for table in exact.tables if table.first in doubtful]
    return whole.noise * min(class_values(block, 0.0).pairs[0].level for block in blocks)


def resolved(field: FullField, share: float, before: int) -> Linearisation:
    """Return the linearisation on more harmonics than before, enough for a share of the root if affordable."""
    degree = resolving_degree(field, share, before + 1)
    while True:
        try:
            return Linearisation(field, degree)
        except NotResolved:
            degree -= STEP
            if not 0 < before < degree:
                raise


class Applied(LinearisedEquation):
    """The linearised equation at a field, applied to harmonics up to a degree on a grid.

    Parameters
    ----------
    field
        The field of the state.
    degree
        L.
    """

    def __init__(self, field: FullField, degree: int) -> None:
        # The potential has twice the degree of the field; of the root a quarter more is as good as all.
        rings = degree + max(2 * field.degree, degree // 4) + 1
        super().__init__(field, degree, rings, int(scipy.fft.next_fast_len(2 * rings, real=True)))
        strengths = field.interaction.attractions(degree)
        last = int(significant_degrees(strengths).max())
        self._significant = transform_of(last, self.transform.rings, self.transform.meridians)
        self._strengths: Floats = strengths[self._significant.degrees]

    def witten(self, table: ClassTable, x: Floats) -> Floats:
        """Return W x for coefficients in a class."""
        values = self.values.potential * self.transform.synthesise(*table.spread(x, self.degree))
        free = table.degrees * (table.degrees + 1.0)
        return np.asarray(free * x + table.pick(*self.transform.analyse(values)))

    def squared(self, table: ClassTable, x: Floats) -> Floats:
        """Return Q* Q x for coefficients in a class, which is W x."""
        transform, values = self.transform, self.values
        packed_x = table.spread(x, self.degree)
        halved, (polar, azimuthal) = 0.5 * transform.synthesise(*packed_x), transform.gradient(*packed_x)
        polar, azimuthal = polar - halved * values.polar, azimuthal - halved * values.azimuthal
        along = transform.analyse(polar * values.polar + azimuthal * values.azimuthal)
        return table.pick(*transform.divergence(polar, azimuthal)) - 0.5 * table.pick(*along)

    @functools.cached_property
    def middle(self) -> float:
        """The mean of the potential in W."""
        return self.transform.mean(self.values.potential)

    def witten_bound(self, table: ClassTable) -> Floats:
        """Return the diagonal of a matrix that W is not above in a class."""
        highest = max(float(self.values.potential.max()), 0.0)
        return np.asarray(table.degrees * (table.degrees + 1.0) + highest)

    def rounding(self, table: ClassTable, pair: Pair, coupled: float) -> float:
        """Return a first order bound of the rounding error of a rate, with a bound of C/D and its parts in norm."""
        of_witten = abs(pair.level) * float(self.witten_bound(table).max()) * float(pair.x @ pair.x)
        return SAFETY * EPS * (of_witten + coupled * float(pair.y @ pair.y))

    def sharpest(self, table: ClassTable, pair: Pair, coupled: float) -> float:
        """Return that bound for a rate from Q x: the share that rounding has in W is that of its root in Q."""
        of_witten = abs(pair.level) * np.sqrt(float(self.witten_bound(table).max()) * float(pair.x @ pair.x))
        return SAFETY * EPS * float(of_witten + coupled * float(pair.y @ pair.y))

    def curvature(self, table: ClassTable, y: Floats) -> Floats:
        """Return C y/D for coefficients in a class."""
        root = self.values.root
        cosine, sine = self._significant.analyse(root * self.transform.synthesise(*table.spread(y, self.degree)))
        attracted = root * self._significant.synthesise(self._strengths * cosine, self._strengths * sine)
        return y - table.pick(*self.transform.analyse(attracted))


def wider(symmetry: Symmetry, table: ClassTable, whole: LinearisedEquation) -> ClassTable:
    """Return the class of a table up to the degree of an equation."""
    return _class_of(symmetry, table.first, whole.degree, whole.transform.rings, table.own, table.copies)


@functools.lru_cache(maxsize=64)
def _class_of(
    symmetry: Symmetry, first: tuple[int, int, int], degree: int, rings: int, own: bool, copies: int
) -> ClassTable:
    degrees, orders = degrees_and_orders(degree)
    waves = orders > 0
    harmonics = np.concatenate(
        [
            np.stack([degrees, orders, np.zeros_like(orders)]),
            np.stack([degrees[waves], orders[waves], np.ones_like(orders[waves])]),
        ],
        axis=1,
    )
    alike = np.isin(harmonics[1] % symmetry.turns, [first[1] % symmetry.turns, -first[1] % symmetry.turns])
    for reflection in symmetry.reflections:
        signs = signs_under(reflection, *harmonics)
        alike &= signs == signs_under(reflection, *np.array(first)[:, None])
    chosen = harmonics[:, alike]
    chosen = chosen[:, np.lexsort((chosen[0], chosen[2], chosen[1]))]
    return ClassTable(chosen, rings, own, copies)


def refined(applied: Applied, table: ClassTable, inverse: Inverse, start: Floats, ceiling: float) -> Pair | None:
    """Return the lowest pair of a class, rotations left out, or None where it does not settle.

    Parameters
    ----------
    applied
        The linearised equation.
    table
        The class up to its degree.
    inverse
        (CW + s)^{-1} on fewer harmonics of the class.
    start : (n,) float
        The vector x of the lowest pair, about, on the harmonics up to a smaller degree.
    ceiling
        A number that the rate is not above, unless the method has missed the lowest.
    """
    kernel = np.concatenate([applied.mass(table), applied.rotations(table)], axis=1)
    few, bound = table.degrees <= inverse.degree, applied.witten_bound(table)
    diagonal = table.degrees * (table.degrees + 1.0) + max(applied.middle, 0.0) + inverse.shift
    x, y, z = np.empty((3, MOST_VECTORS, table.size))
    vector = np.zeros(table.size)
    vector[table.degrees <= np.sort(table.degrees)[start.size - 1]] = start
    for count in range(MOST_VECTORS):
        for _ in range(2):
            vector = vector - (y[:count] @ vector) @ x[:count]
        x[count] = _off(vector, kernel)
        y[count] = _off(applied.witten(table, x[count]), kernel)
        length = float(np.sqrt(x[count] @ y[count]))
        x[count], y[count] = x[count] / length, y[count] / length
        z[count] = _off(applied.curvature(table, y[count]), kernel)
        known = slice(count + 1)
        levels, vectors = np.linalg.eigh(y[known] @ z[known].T)
        pair = Pair(float(levels[0]), vectors[:, 0] @ x[known], vectors[:, 0] @ y[known])
        residual = vectors[:, 0] @ z[known] - pair.level * pair.x
        size = float(np.sqrt(residual @ (bound * residual)))
        # The next rate that is not one of a cluster.
        gap = float((levels - pair.level)[levels > pair.level + size].min(initial=np.inf))
        error = size**2 / gap if np.isfinite(gap) else size
        if error <= max(SOLVED * abs(pair.level), applied.sharpest(table, pair, inverse.coupled)):
            return pair if pair.level <= ceiling else None
        vector = residual / diagonal
        vector[few] = inverse(residual[few])
    return None


def sharpened(applied: Applied, table: ClassTable, pair: Pair) -> Pair:
    """Return a pair with its rate from Q x on the grid."""
    kernel = np.concatenate([applied.mass(table), applied.rotations(table)], axis=1)
    y = _off(applied.squared(table, pair.x), kernel)
    length = float(np.sqrt(pair.x @ y))
    return Pair(float(y @ applied.curvature(table, y)) / length**2, pair.x / length, y / length)


def _off(vector: Floats, kernel: Floats) -> Floats:
    return np.asarray(vector - kernel @ (kernel.T @ vector))


class _Found(NamedTuple):
    """The lowest rate of a class, and by how much rounding and truncation may change it."""

    pair: Pair
    noise: float
    truncation: float


class _Class:
    """What is known of a class: a bound below its rates, less a few times what truncation may change, and a pair.

    Parameters
    ----------
    few
        The linearised equation by matrices on few harmonics.
    table
        The class there.
    least
        A number that no rate is below.
    """

    def __init__(self, few: Linearisation, table: ClassTable, least: float) -> None:
        self._few, self.table, self._least = few, table, least
        self.bound = least
        self._inverse: Inverse | None = None
        self._last: _Found | None = None

    def lowest(self, whole: LinearisedEquation) -> _Found:
        """Return the lowest rate on the harmonics of an equation, and take note of it."""
        if self._last is None:
            self._last = self._by_matrices()
        if isinstance(whole, Applied):
            self._last = self._applied(whole, self._last)
        found = self._last
        self.bound = max(self._least, min(found.pair.level - SAFETY * found.truncation, whole.beyond))
        return found

    def _by_matrices(self) -> _Found:
        block = self._few.matrices(self.table)
        pair, self._inverse = block.slowest(self.bound)
        return _Found(pair, block.rounding(pair), block.truncation(pair))

    def _applied(self, whole: Applied, last: _Found) -> _Found:
        assert self._inverse is not None
        table, coupled = wider(whole.field.symmetry, self.table, whole), self._inverse.coupled
        ceiling = last.pair.level + SAFETY * last.truncation + last.noise
        pair = refined(whole, table, self._inverse, last.pair.x, ceiling)
        if pair is None:
            exact = Linearisation(whole.field, whole.degree)
            block = exact.matrices(next(each for each in exact.tables if each.first == table.first))
            pair, _ = block.slowest(self.bound)
        noise = whole.rounding(table, pair, coupled)
        if noise > RELATIVE_TOLERANCE * abs(pair.level):
            pair = sharpened(whole, table, pair)
            noise = whole.sharpest(table, pair, coupled)
        return _Found(pair, noise, whole.truncation(table, pair))


def _growing(few: Linearisation) -> set[Harmonic]:
    """Return the classes in which the second variation C, and so a rate, may have a negative value.

    On the significant harmonics, v_lm = |lambda_l|^(1/2) sqrt((2l + 1) rho) e_lm less their means, the matrix
    sign(lambda) - <v_lm, v_l'm'> has as many more negative eigenvalues than there are repulsive ones.
    """
    field = few.field
    top = int(significant_degrees(few.lambdas).max())
    rings = resolving_degree(field, COUNTED_SHARE) + top + 1
    transform = transform_of(top, rings, 2 * rings)
    density = on_grid(field, rings, 2 * rings).root ** 2
    waves = waves_of(density, transform.weights, 2 * top)
    rotations = {table.first: few.rotations(table).shape[1] for table in few.tables}
    growing = set()
    for table in class_tables(field.symmetry, top, rings):
        lambdas = few.lambdas[table.degrees]
        means = table.pick(*transform.analyse(density)) if table.own else np.zeros(table.size)
        roots = np.sqrt(np.abs(lambdas))
        covariance = table.products(waves) - np.multiply.outer(means, means)
        values = np.linalg.eigvalsh(np.diag(np.sign(lambdas)) - roots[:, None] * covariance * roots)
        known = np.count_nonzero(lambdas <= 0.0) + rotations[table.first]
        if np.count_nonzero(values <= NEARLY_NEUTRAL) > known:
            growing.add(table.first)
    return growing


def _lowest(whole: LinearisedEquation, classes: list[_Class]) -> _Found:
    """Return the lowest rate of the classes whose bounds do not exclude them."""
    slowest: _Found | None = None
    for each in sorted(classes, key=lambda each: each.bound):
        if slowest is not None and each.bound > slowest.pair.level + slowest.noise:
            break
        found = each.lowest(whole)
        if slowest is None or found.pair.level < slowest.pair.level:
            slowest = found
    assert slowest is not None
    return slowest
