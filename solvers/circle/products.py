"""Products of rows with the matrices of unstable directions at even states, by transforms of their densities."""

import numpy as np

from ..bases import Floats
from ..bases.transforms import FourierTransform, planned
from ..branches.continuation import Point
from ..equations.significant import even_size
from ..linear_algebra.weak import Products
from .tables import Parity, Part


def block_products(
    part: Part, point: Point, parity: Parity, residue: int, neutral: float, *, rotates: bool
) -> tuple[Products, Floats | None]:
    r"""Return what multiplies rows by the matrix of a part plus ``neutral``, and a row that it may take to nothing.

    The row is that of clusters moving against each other. With g the density of the one at angle 0, displacements
    of the clusters by cosines or sines of :math:`2\pi jm/n` change the means of degree :math:`k = \pm j` modulo n
    as a rotation would, with the moments of g in the place of those of the state, and with the sign of j for sines.
    Clusters that do not feel each other resist none of that. It is None where all of them move together.

    Parameters
    ----------
    part, residue
        The modes, of one class j or of several.
    rotates
        Whether the rotation mode is among them, and moved to one.
    """
    symmetry = point.equation.basis.symmetry
    scaled, diagonal = part.signs * part.roots, neutral - point.equation.sign * part.signs
    means = np.append(point.moments, 0.0).take(part.means)
    # The moments of the density end at half of the nodes, and the modes far before them; few sizes are planned.
    last = symmetry * (point.moments.size - 1)
    nodes = even_size(2 * last)
    transform = planned(FourierTransform, nodes)
    values, coefficients, degrees = transform.values, transform.coefficients, part.degrees
    coefficients[:] = 0.0
    coefficients[: last + 1 : symmetry] = point.moments
    transform.synthesise()
    density = values * (-2.0 * point.q / (point.equation.strongest * nodes))
    shifts = None
    if residue > 0:
        half = nodes // (2 * symmetry)
        values[half + 1 : nodes - half] = 0.0
        transform.analyse()
        shifts = part.turning * coefficients.real[degrees]
        if parity == "even":
            shifts[degrees % symmetry != residue] *= -1.0
    turn = part.turning * means if rotates else np.zeros(means.size)
    turn /= max(float(np.linalg.norm(turn)), np.finfo(float).tiny)
    phase, out, onto = (1.0, scaled, coefficients.real) if parity == "even" else (-1j, -scaled, coefficients.imag)
    into, centre = 0.5 * phase * scaled, scaled * means

    def times(row: Floats) -> Floats:
        coefficients[:] = 0.0
        coefficients[degrees] = into * row
        transform.synthesise()
        np.multiply(values, density, out=values)
        transform.analyse()
        product: Floats = diagonal * row + out * onto[degrees]
        product -= coefficients.real[0] * centre
        product += (turn @ row) * turn
        return product

    return lambda rows: np.array([times(row) for row in rows]), shifts
