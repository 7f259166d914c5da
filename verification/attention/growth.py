r"""How modes of the uniform density grow: the number of clusters that form first.

.. math:: \sigma_l = \kappa\,l(l+d-2)\,\frac{k_l}{\mathcal N_0}, \qquad
          k_l = \Gamma(\tfrac d2)\Bigl(\frac2\beta\Bigr)^{d/2-1}\frac{I_{l+d/2-1}(\beta)}{\beta}
              = \frac{(\beta/2)^l}{\beta\,(d/2)_l}\;{}_0F_1\bigl(l+\tfrac d2;\tfrac{\beta^2}4\bigr),

with :math:`\mathcal N_0 = 1` without normalisation and :math:`\beta k_0` for softmax; on the circle
:math:`l^2 I_l(\beta)/\beta` and :math:`l^2 I_l/(\beta I_0)`.
"""

import math

import numpy as np

from meanfield import Equation

from ..claims import Evidence, claim, compare, worst
from ..tools import Tools
from .laws import COUPLING, attention, beta_of, is_softmax

DEGREES = (1, 2, 3, 4)
AMPLITUDE, TOLERANCE = 1e-4, 1e-12


def coefficient(dimension: int, degree: int, beta: float) -> float:
    """Return k_l, the coefficient of exp(beta u)/beta, by the formula of Funk and Hecke."""
    from scipy.special import hyp0f1, poch

    half = 0.5 * dimension
    series = float(hyp0f1(degree + half, beta**2 / 4.0)) / float(poch(half, degree))
    return (beta / 2.0) ** degree / beta * series


def growth(problem: Equation, degree: int) -> float:
    """Return the growth rate of a degree at the uniform density."""
    dimension, beta = problem.domain.dimension, beta_of(problem)
    weight = beta * coefficient(dimension, 0, beta) if is_softmax(problem) else 1.0
    eigenvalue = degree * (degree + dimension - 2)
    return float(problem.fixed_coupling) * eigenvalue * coefficient(dimension, degree, beta) / weight


@claim(
    "attention.growth",
    "modes of the uniform density grow at the rates of the kernel",
    statement=(
        "A small mode of degree l about the uniform density grows like exp(sigma_l t), on the circle sigma_l = "
        "kappa l^2 I_l(beta)/beta without normalisation, over I_0(beta) for softmax."
    ),
    assumptions="no noise; small deviations",
    source="linearisation at uniform, formula of Funk and Hecke; amplitudes of both signs and two sizes",
    hypotheses=attention,
    needs=(),
)
def growing(problem: Equation, tools: Tools) -> Evidence:
    """Compare the logarithm by which modes have grown with the formula."""
    coupled = problem.at(coupling=COUPLING)
    until = 1.0 / max(abs(growth(coupled, degree)) for degree in DEGREES)
    return worst(_grown(coupled, degree, until, tools) for degree in DEGREES)


def _grown(problem: Equation, degree: int, until: float, tools: Tools) -> Evidence:
    """Return the evidence of one degree, by deviations of either sign, whose difference has no quadratic terms."""
    rates = []
    for amplitude in (AMPLITUDE, 2 * AMPLITUDE):
        ends = [_end(problem, degree, sign * amplitude, until, tools) for sign in (1.0, -1.0)]
        rates.append(math.log((ends[0] - ends[1]) / (2 * amplitude)) / until)
    # What is left of the amplitude is quadratic in it, and three times as large in the difference.
    bound = abs(rates[1] - rates[0]) + 8 * TOLERANCE / AMPLITUDE / until
    return compare(rates[0], growth(problem, degree), bound, f"growth rate of degree {degree}")


def _end(problem: Equation, degree: int, amplitude: float, until: float, tools: Tools) -> float:
    """Return the moment of a degree in the end that began at an amplitude, the others at zero."""
    moments = np.zeros(2 * DEGREES[-1] + 1)
    moments[[0, degree]] = 1.0, amplitude
    found = tools.evolve(problem, (moments, 0 * moments), until, times=1, tolerance=TOLERANCE)
    return float(found.cosine[-1, degree])
