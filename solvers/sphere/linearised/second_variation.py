r"""Classes in which no perturbation of a state on S^2 grows, by the second variation of the free energy.

Rates are eigenvalues of :math:`W^{1/2} C W^{1/2}` with W and C of :mod:`.full_matrices`, so that none is below
:math:`\min(c, 0)\,|W|` where c is the lowest eigenvalue of C. That is one less the largest of
:math:`v\Lambda v^T = \sum_{lm}\lambda_l v_{lm} v_{lm}^T`, and with the covariances :math:`v^T v = G G^T` of the
harmonics, from the density alone, that of :math:`G^T\Lambda G`: a matrix as small as the degrees that act are few.
Repulsive degrees raise c, and large ones may be left out.
"""

import numpy as np

from ...bases import Floats, Integers
from .full_matrices import Linearisation
from .harmonic_tables import ClassTable, Harmonic, class_tables, waves_of

# Degrees that lower C by less are left out, and eigenvalues of C above minus this may be positive.
UNCERTAIN = 1e-8


def bounds_by_second_variation(
    whole: Linearisation, growing: frozenset[Harmonic] = frozenset()
) -> dict[Harmonic, float]:
    """Return lower bounds of the rates, in units of D, in the classes in which C is positive to within rounding.

    Classes in which perturbations are thought to grow are left out.
    """
    values, lambdas = whole.values, whole.lambdas
    peak = float(values.root.max()) ** 2
    attracting, acting = (np.flatnonzero(sizes * peak > UNCERTAIN) for sizes in (lambdas, np.abs(lambdas)))
    # Products of three harmonics are needed, the density being one.
    most = whole.degree // 2
    if whole.unlisted * peak > UNCERTAIN or attracting.max(initial=0) > most:
        return {}
    last = int(acting[acting <= most].max(initial=0))
    largest = whole.degree * (whole.degree + 1.0) + float(values.potential.max())
    waves = waves_of(values.root**2, whole.transform.weights, 2 * last)
    attracted = {
        table.first: _most_attracted(table, waves, lambdas)
        for table in class_tables(whole.field.symmetry, last, whole.transform.rings)
        if table.first not in growing
    }
    first = (table.first for table in whole.tables if table.first not in growing)
    lowest = {each: 1.0 - attracted.get(each, 0.0) for each in first}
    return {first: largest * min(c - UNCERTAIN, 0.0) for first, c in lowest.items() if c > -UNCERTAIN}


def _most_attracted(table: ClassTable, waves: Floats, lambdas: Floats) -> float:
    r"""Return the largest eigenvalue of :math:`\sum\lambda_l v_{lm} v_{lm}^T` in a class, zero if none is above."""
    places: Integers = np.flatnonzero(lambdas[table.degrees])
    if not places.size:
        return 0.0
    products = table.products(waves, places)
    covariances = products[places]
    if table.own:
        # The first harmonic of the class is the constant.
        covariances = covariances - np.multiply.outer(products[0], products[0])
    sizes, vectors = np.linalg.eigh(covariances)
    roots = vectors * np.sqrt(np.maximum(sizes, 0.0))
    return max(float(np.linalg.eigvalsh((roots.T * lambdas[table.degrees[places]]) @ roots)[-1]), 0.0)
