r"""Where branches of states without an axis turn from continuous to discontinuous on the ordinary sphere.

Among the densities invariant under a group let :math:`\psi` be the only harmonic of degree l, of unit mean square,
and :math:`\psi^2 = 1 + \sum_k c_k\chi_k` with harmonics :math:`\chi_k` alike. With them
:mod:`meanfield.theory.normal_forms` has the coefficient b of the branch born at :math:`\kappa_l`. Where the third
moment of :math:`\psi` does not vanish, as in general for even l, branches are transcritical and never continuous;
where it does, b = 0 is a tricritical point.

At that order the branches of a degree are the critical points on the unit sphere of its harmonics of the form

.. math:: E(\psi) = \sum_k f_k\,|P_k\psi^2|^2 + C\langle\psi^4\rangle, \qquad f_k = \frac{A_k q_k + B_k}{1-q_k},

:math:`P_k` being the part of degree k, and b is E up to a constant. Those beside :math:`\psi` in a class of
perturbations :math:`\eta` of the same degree grow by its second variation,

.. math:: H(\eta) = \sum_k f_k\bigl(\langle\eta^2 P_k\psi^2\rangle + 2|P_k\psi\eta|^2 - |P_k\psi^2|^2\bigr)
              + C\bigl(3\langle\psi^2\eta^2\rangle - \langle\psi^4\rangle\bigr) ,

zero for rotations. Where it vanishes for others too, branch points of the branch come down to the threshold: there
the directions of the one degree interact. On S^2 all forms E of a degree up to 5 are a multiple of one of them and
a constant, so that all its branch points come down together, also of states with several harmonics of the degree.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import brentq

from meanfield import Equation, InvalidInput
from meanfield.harmonics import multiplicities
from meanfield.theory import CubicTerms

from ...bases import EPS, Basis, Floats
from ...equations.geometry import Complement, Sampled
from ..in_plane.states import AtState
from .threshold_parts import ThresholdPart, UniformEnd

# Third moments below this vanish by symmetry; a root is one and no pole if the function is as small as this there.
VANISHING, ROOT = 1e-10, 1e-6
TINY = float(np.finfo(float).tiny)
# Parts of an interval in which roots are looked for.
PARTS = 64
# The method may waste as many steps as halvings lead from an interval to its smallest part.
HALVINGS = 200


class NormalForm:
    """The coefficient b of the branches of a degree in a basis, as a function of the equation.

    Parameters
    ----------
    basis
        Densities with the harmonic.
    psi : (size,) float
        Its part along each of the modes, which are all of one degree; of any length.

    Attributes
    ----------
    degree : int
        The degree l.
    values : Floats
        The harmonic, of unit mean square, on the nodes.
    square : (size,) float
        The parts c_k of its square along the modes.
    third, fourth : float
        The means of its third and fourth power.
    others : (2 l - 1,) int
        The degrees k up to 2 l without l.
    """

    def __init__(self, basis: Basis, psi: Floats) -> None:
        self.degree = int(basis.degrees[np.argmax(np.abs(psi))])
        self.values = basis.synthesise(psi / np.linalg.norm(psi) / np.sqrt(basis.squares)).copy()
        self.square = basis.means(basis.analyse(self.values**2)) / np.sqrt(basis.squares)
        self.third, self.fourth = (float(basis.analyse(self.values**power).item(0)) for power in (3, 4))
        every = np.arange(1, 2 * self.degree + 1)
        self.others = every[every != self.degree]
        self._lengths = np.array([(self.square[basis.degrees == degree] ** 2).sum() for degree in self.others])

    def factors(self, problem: Equation) -> tuple[Floats, float, float]:
        """Return the f_k of the other degrees, C and the constant of b of an equation, whatever its coupling is."""
        domain, last = problem.domain, 2 * self.degree
        terms = CubicTerms.of(domain, self.degree, self.others, problem.velocity.speed_response(domain, last))
        multipliers = problem.velocity.at_uniform(domain).multipliers(domain, last).astype(np.longdouble)
        strengths = multipliers / multiplicities(domain, last)
        own, others = strengths[self.degree], strengths[self.others]
        gaps = own - others
        # At a pole the value a rounding beside it, which is finite and no root.
        gaps[gaps == 0.0] = max(EPS * abs(own), TINY)
        by_degree = (terms.by_strength * others + terms.alone * own) / gaps
        return by_degree.astype(float), float(terms.fourth), float(terms.constant)

    def __call__(self, problem: Equation) -> float:
        """Return b of an equation."""
        by_degree, fourth, constant = self.factors(problem)
        return float(by_degree @ self._lengths) + fourth * self.fourth + constant


class SecondVariation:
    """The form H on a class of perturbations, as a function of the equation.

    Parameters
    ----------
    form
        The normal form of the branch.
    basis
        Its densities.
    complement
        The class.

    Attributes
    ----------
    size : int
        How many of its directions of the degree are no rotations.
    """

    def __init__(self, form: NormalForm, basis: Basis, complement: Complement) -> None:
        self._form = form
        degrees = complement.degrees(2 * form.degree)
        psi, squared = Sampled(basis, form.values), Sampled(basis, form.values**2)
        uniform = Sampled(basis, np.ones_like(form.values))
        units = np.diag(complement.covariance(uniform, degrees)) ** -0.5
        own = degrees == form.degree
        directions = np.eye(degrees.size)[own]
        if complement.rotates(False):
            moved = (complement.rotation(psi, degrees).reshape(degrees.size, -1) * units[:, None])[own]
            directions = null_space(moved.T).T @ directions
        self.size = len(directions)
        directions *= units
        mixed = directions @ complement.covariance(psi, degrees) * units
        self._fourth = 3.0 * directions @ complement.covariance(squared, degrees) @ directions.T
        self._by_degree = []
        for degree in form.others:
            places, further = basis.degrees == degree, mixed[:, degrees == degree]
            part = np.where(places, form.square, 0.0)
            # The part of psi^2 of the degree, as a density.
            along = Sampled(basis, basis.synthesise(part / np.sqrt(basis.squares)).copy())
            products = directions @ complement.covariance(along, degrees) @ directions.T
            self._by_degree.append(products + 2.0 * further @ further.T - part @ part * np.eye(self.size))

    def __call__(self, problem: Equation) -> Floats:
        """Return its matrix of an equation, (size, size)."""
        by_degree, fourth, _ = self._form.factors(problem)
        matrix = fourth * (self._fourth - self._form.fourth * np.eye(self.size))
        for factor, part in zip(by_degree, self._by_degree, strict=True):
            matrix = matrix + factor * part
        return np.asarray(matrix)


def tricritical_among(part: ThresholdPart, basis: Basis, degree: int) -> Iterator[UniformEnd]:
    """Yield the tricritical points of the branches of a degree in a basis of S^2 without an axis."""
    own = (basis.degrees == degree).astype(float)
    form = None if basis.invariants is None or own.sum() != 1.0 else _form(basis, own)
    if form is not None:
        for root in _roots(lambda problem: np.array([[form(problem)]]), part):
            yield part.end("tricritical", *root)


def interactions_among(
    part: ThresholdPart, state: AtState, degree: int, complement: Complement
) -> Iterator[UniformEnd]:
    """Yield where branch points of the branches of a degree on spheres, in a class, come down to its threshold.

    Parameters
    ----------
    part, degree, complement
        The part of the threshold, the degree and the class.
    state
        A state of small amplitude on the curve, whose part of the degree is the harmonic.
    """
    basis = state.weighted.basis
    own = basis.degrees == degree
    psi = np.where(own, state.means / np.sqrt(basis.squares), 0.0)
    # The form is that of odd degrees, of which the product of two harmonics has no part.
    odd = basis.cosines is None and degree % 2 == 1
    # Perturbations of higher orders about the axis have no part of the degree.
    form = _form(basis, psi) if odd and np.any(psi) and degree in complement.degrees(degree) else None
    if form is None:
        return
    variation = SecondVariation(form, basis, complement)
    for root in _roots(variation, part) if variation.size else []:
        # Of several harmonics their proportions change with the amplitude: a branch where all are alike.
        if np.count_nonzero(own) == 1 or np.abs(variation(part.problem(root[0]))).max() <= ROOT:
            yield part.end("mode interaction", *root)


def _form(basis: Basis, psi: Floats) -> NormalForm | None:
    """Return the normal form of the branch of a harmonic; None where its third moment does not vanish."""
    form = NormalForm(basis, psi)
    return None if abs(form.third) > VANISHING else form


def _roots(matrix: Callable[[Equation], Floats], part: ThresholdPart) -> Iterator[tuple[float, float]]:
    """Yield where on a threshold a symmetric matrix is singular, each place with the slope of what vanishes.

    Places at which there is no equation are left out.
    """

    def at(place: float) -> Floats:
        return matrix(part.problem(place))

    last = None
    for place in np.linspace(*part.around, PARTS + 1).tolist():
        try:
            knot = place, at(place)
        except InvalidInput:
            last = None
            continue
        if last is not None:
            yield from _between(at, last, knot)
        last = knot


def _between(
    at: Callable[[float], Floats], first: tuple[float, Floats], second: tuple[float, Floats]
) -> Iterator[tuple[float, float]]:
    """Yield where a symmetric matrix is singular between two places with theirs, as :func:`_roots`.

    Eigenvalues are followed by their directions at the first: smooth where they cross as well.
    """
    (low, here), (high, there) = first, second
    for direction in np.linalg.eigh(here)[1].T:
        before, after = _along(direction, here), _along(direction, there)
        slope = abs(after - before) / (high - low)
        if before == 0.0 and after != 0.0:
            yield low, slope
        if not before * after < 0.0:
            continue

        def function(place: float, direction: Floats = direction) -> float:
            return _along(direction, at(place))

        least = 2 * EPS * max(abs(low), abs(high))
        root = float(brentq(function, low, high, xtol=least, rtol=4 * EPS, maxiter=HALVINGS))
        if abs(function(root)) <= ROOT:
            yield root, slope


def _along(direction: Floats, matrix: Floats) -> float:
    """Return the eigenvalue of a symmetric matrix whose direction is nearest to one."""
    eigenvalues, directions = np.linalg.eigh(matrix)
    return float(eigenvalues[np.argmax(np.abs(direction @ directions))])
