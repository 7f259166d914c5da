r"""Spectrum of softmax attention linearised at a state on S^2 without an axis, class by class of harmonics.

With :math:`y = \sqrt\rho\,\varphi`, :math:`\varphi` the perturbation over the density, the linearised equation is

.. math:: \dot y = -D\,W C y, \qquad C = 1 - \sum_{lm} \lambda_l\, v^u_{lm} v_{lm}^T, \qquad
          v^u_{lm} = v_{lm}/u, \quad \lambda_l = p\,\hat K_l/\hat K_0 ,

with Witten's Laplacian W and :math:`v_{lm}` of :mod:`.full_matrices` and u, p of :mod:`solvers.equations.softmax`.
The growth rates are the eigenvalues of :math:`-D\,R C R^T`, :math:`W = R^T R`, which is not symmetric: only real
parts are reported. The kernel of W, the mass, is moved up, and with :math:`C y = 0` for a rotation y the right
eigenvector :math:`R^{-T} y` of eigenvalue zero is moved behind all others (Brauer).
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy.linalg

from meanfield import NotResolved, Spectrum, State

from ...bases import Floats
from ...equations.law_eigenvalues import Eigenvalues, error_of, largest_rate, resolved_eigenvalues
from .full_fields import FullField, full_field, is_uniform, resolving_degree, stepped
from .full_matrices import ClassMatrices, Linearisation
from .law_spectra import spectrum as spectrum_at_uniform

# Shares of the root of the density beyond the first degree of truncation, for rates and for spectra.
ROUGH, EXACT = 1e-6, 1e-8
# Each degree of truncation is larger than the last by this part of it.
GROWTH = 4
# Truncation may change a rate by this share of it or of the noise.
TRUNCATION_TOLERANCE = 1e-9
# All eigenvalues of a matrix that is not symmetric take ten times as long as of one that is.
LARGEST_SIZE = 2600


def spectrum(state: State) -> Spectrum:
    """Return the largest eigenvalues, real parts, of the equation linearised at a state of softmax attention.

    As :func:`.full_spectra.spectrum`, but without their inner product; the overlap of the rotations is the smallest
    cosine of the angles between the generators and the computed kernel.

    Raises
    ------
    NotResolved
        If the state needs more harmonics than are affordable, or no eigenvalue is resolved.
    """
    if is_uniform(state):
        return spectrum_at_uniform(state)
    found, rotations = _known(state)
    floor = max(each.values[-1] for kind in found.values() for each in kind)
    own, others = (
        np.sort(np.concatenate([each.values[each.values >= floor] for each in found[kind]] or [np.empty(0)]))[::-1]
        for kind in (True, False)
    )
    slowest = min((each for kind in found.values() for each in kind), key=lambda each: np.abs(each.values).min())
    return Spectrum(
        state,
        own,
        others,
        max((rotation for rotation, _ in rotations), key=abs, default=None),
        min((overlap for _, overlap in rotations), default=None),
        error_of(slowest),
    )


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a state of softmax attention, rotation excluded.

    Raises
    ------
    NotResolved
        If the state needs more harmonics than are affordable, or its rate is below rounding.
    """
    if is_uniform(state):
        return spectrum_at_uniform(state).slowest_rate
    before = np.inf
    for whole in _finer(full_field(state), ROUGH):
        rate = largest_rate(deflated(whole.matrices(table)) for table in whole.tables)
        if abs(rate - before) <= TRUNCATION_TOLERANCE * max(abs(rate), whole.noise):
            break
        before = rate
    return rate


def _known(state: State) -> tuple[dict[bool, list[Eigenvalues]], list[tuple[float, float]]]:
    """Return the eigenvalues on which two truncations agree, of the own class and of others, and the rotations."""
    for coarse, fine in pairwise(_finer(full_field(state), EXACT)):
        found: dict[bool, list[Eigenvalues]] = {True: [], False: []}
        try:
            for one, other in zip(coarse.tables, fine.tables, strict=True):
                pair = (deflated(whole.matrices(table)) for whole, table in ((coarse, one), (fine, other)))
                found[one.own] += one.copies * [resolved_eigenvalues(coarse.noise, *pair)]
        except NotResolved:
            continue
        break
    finest = (fine.matrices(table) for table in fine.tables)
    return found, [_rotation(block) for block in finest if block.rotations.size]


def _finer(field: FullField, share: float) -> Iterator[Linearisation]:
    """Yield linearisations on more and more harmonics, the first of which leave a share of the root of the density.

    Raises
    ------
    NotResolved
        If the next has more than are affordable.
    """
    degree = resolving_degree(field, share)
    while True:
        yield _linearisation(field, degree)
        degree += stepped(degree // GROWTH)


def _linearisation(field: FullField, degree: int) -> Linearisation:
    """Return the linearised equation on harmonics up to a degree.

    Raises
    ------
    NotResolved
        If a class has more harmonics than a dense matrix affords.
    """
    whole = Linearisation(field, degree)
    largest = max(table.size for table in whole.tables)
    if largest > LARGEST_SIZE:
        raise NotResolved(
            f"the decay rates at this state need matrices of {largest} harmonics that are not symmetric, and at "
            f"most {LARGEST_SIZE} are affordable; leave the rates out (--no-rates, rates=False) or take a less "
            "concentrated state"
        )
    return whole


def deflated(block: ClassMatrices) -> Floats:
    """Return the matrix of a class, its mass mode moved up and its rotations behind all other eigenvalues."""
    matrix, kernel = _matrix(block)
    return np.asarray(matrix - 2.0 * float(np.linalg.norm(matrix)) * kernel @ kernel.T)


def _matrix(block: ClassMatrices) -> tuple[Floats, Floats]:
    """Return -D R C R^T of a class with its mass mode moved up, and orthonormal rotations in its variable."""
    noise, mass = block.whole.noise, block.mass
    factor, matrix = block.symmetric(mass)
    modes, averaged = (factor @ (columns - mass @ (mass.T @ columns)) for columns in (block.modes, block.averaged))
    matrix += ((modes - averaged) * block.lambdas) @ modes.T
    rotations = scipy.linalg.solve_triangular(factor, block.rotations, trans=1, check_finite=False)
    return -noise * matrix, np.linalg.qr(rotations)[0]


def _rotation(block: ClassMatrices) -> tuple[float, float]:
    """Return the largest computed eigenvalue of the rotations of a class, and their overlap with the kernel."""
    matrix, rotations = _matrix(block)
    values = np.linalg.eigvals(rotations.T @ matrix @ rotations)
    kernel = np.linalg.svd(matrix)[2][-rotations.shape[1] :]
    overlap = float(np.linalg.svd(kernel @ rotations, compute_uv=False)[-1])
    return float(values[np.argmax(np.abs(values))].real), min(1.0, overlap)
