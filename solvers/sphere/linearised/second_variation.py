r"""Classes in which no perturbation of a state on S^2 grows, by the second variation of the free energy.

Rates are eigenvalues of :math:`W^{1/2} C W^{1/2}` with W and C of :mod:`.full_matrices`, so that none is below
:math:`\min(c, 0)\,|W|` where c is the lowest eigenvalue of C. That is one less the largest of
:math:`\sum_{lm}\lambda_l v_{lm} v_{lm}^T`, and with the covariances :math:`\Gamma = v^T v` of the harmonics of
attractive degrees, from the density alone, that of :math:`\Lambda^{1/2}\Gamma\Lambda^{1/2}`: a matrix as small as
these degrees are few.
"""

import numpy as np

from ...bases import Floats, Integers
from .full_matrices import Linearisation
from .harmonic_tables import ClassTable, Harmonic, class_tables, waves_of

# Degrees that lower C by less are left out, and eigenvalues of C above minus this may be positive.
UNCERTAIN = 1e-8


def bounds_by_second_variation(whole: Linearisation) -> dict[Harmonic, float]:
    """Return lower bounds of the rates, in units of D, in the classes in which C is positive to within rounding."""
    values, lambdas = whole.values, whole.lambdas
    peak = float(values.root.max()) ** 2
    acting = np.flatnonzero(lambdas * peak > UNCERTAIN)
    last = int(acting.max(initial=0))
    # Products of three harmonics are needed, the density being one.
    if whole.unlisted * peak > UNCERTAIN or 2 * last > whole.degree:
        return {}
    largest = whole.degree * (whole.degree + 1.0) + float(values.potential.max())
    waves = waves_of(values.root**2, whole.transform.weights, 2 * last)
    attracted = {
        table.first: _most_attracted(table, waves, lambdas)
        for table in class_tables(whole.field.symmetry, last, whole.transform.rings)
    }
    lowest = {table.first: 1.0 - attracted.get(table.first, 0.0) for table in whole.tables}
    return {first: largest * min(c - UNCERTAIN, 0.0) for first, c in lowest.items() if c > -UNCERTAIN}


def _most_attracted(table: ClassTable, waves: Floats, lambdas: Floats) -> float:
    """Return the largest eigenvalue of the covariances of a class times lambda, zero if there is none."""
    places: Integers = np.flatnonzero(lambdas[table.degrees] > 0.0)
    if not places.size:
        return 0.0
    products = table.products(waves, places)
    covariances = products[places]
    if table.own:
        # The first harmonic of the class is the constant.
        covariances = covariances - np.multiply.outer(products[0], products[0])
    roots = np.sqrt(lambdas[table.degrees[places]])
    return float(np.linalg.eigvalsh(roots[:, None] * covariances * roots)[-1])
