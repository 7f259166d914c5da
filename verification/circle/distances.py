r"""Distances in closed form: a cosine beside the uniform density, and equally spaced points.

The map :math:`x \mapsto x + \varepsilon\sin x` takes :math:`(1+\varepsilon\cos x)/2\pi` to the uniform density;
it is monotone and odd, hence optimal:

.. math:: W_1 = \frac{2\varepsilon}\pi, \qquad W_2 = \frac\varepsilon{\sqrt2}, \qquad
          \int\rho\log(2\pi\rho) = 1 - s + \log\frac{1+s}2, \quad s = \sqrt{1-\varepsilon^2}, \qquad
          \|\rho - \rho_0\|_{L^2} = \frac\varepsilon{2\sqrt\pi} .

N equally spaced points are at :math:`W_1 = \pi/2N` and :math:`W_2 = \pi/(\sqrt3N)` from uniform.
"""

import math

import numpy as np

from meanfield import Equation
from meanfield.transport import Density, Sample

from ..claims import Evidence, claim, compare, worst
from ..tools import Tools
from .bands import free
from .measures import MOMENT

AMPLITUDE, DEGREE = 0.8, 16
TIMES = (0.0, 0.5, 1.0)
NUMBERS = (7, 1000)


@claim(
    "circle.distances",
    "distances in closed form",
    statement=(
        "Between (1 + e cos x)/2 pi and uniform W_1 = 2 e/pi, W_2 = e/sqrt 2, L2 = e/(2 sqrt pi), entropy "
        "1 - s + log((1 + s)/2), s = sqrt(1 - e^2); e decays like exp(-D t) without interaction."
    ),
    assumptions="no interaction, where the density stays of this form",
    source="the monotone odd map x + e sin x; integral of log(1 + e cos x)",
    hypotheses=free,
)
def distances(problem: Equation, tools: Tools) -> Evidence:
    """Compare the distances from uniform of a cosine evolved by diffusion, and of equally spaced points."""
    cosine = np.zeros(DEGREE + 1)
    cosine[:2] = 1.0, 0.5 * AMPLITUDE
    times = [time / problem.noise for time in TIMES]
    path = tools.evolve(
        problem.at(coupling=0.0), (cosine, np.zeros_like(cosine)), times[-1], times=times, tolerance=1e-12
    )
    uniform = Density([1.0, 0.0], [0.0, 0.0])
    evidence = []
    for time, row, sine in zip(TIMES, path.cosine, path.sine, strict=True):
        measured = Density(row, sine)
        for name, expected in _of_cosine(AMPLITUDE * math.exp(-time)).items():
            text = f"{name} of the cosine after a time {time:g}/D"
            evidence.append(compare(tools.distance(name, measured, uniform), expected, MOMENT, text))
    for number in NUMBERS:
        points = Sample(2 * np.pi * (np.arange(number) + 0.3) / number)
        for name, expected in (("W1", np.pi / (2 * number)), ("W2", np.pi / (math.sqrt(3.0) * number))):
            text = f"{name} of {number} equally spaced points"
            evidence.append(compare(tools.distance(name, points, uniform), expected, MOMENT, text))
    return worst(evidence)


def _of_cosine(amplitude: float) -> dict[str, float]:
    root = math.sqrt(1.0 - amplitude**2)
    return {
        "W1": 2.0 * amplitude / math.pi,
        "W2": amplitude / math.sqrt(2.0),
        "L2": amplitude / (2.0 * math.sqrt(math.pi)),
        "relative entropy": 1.0 - root + math.log(0.5 * (1.0 + root)),
    }
