r"""The profile of the mass in flight: what is left between a collapsed density and the point opposite to it.

In the field of a point all other mass leaves its antipode with the velocity :math:`v(u)`, u being the angle from
there. Far from the point the density becomes :math:`e^{-\mu t} g(u)`, and on :math:`S^{d-1}`

.. math:: \mu\,g = \sin^{2-d}u\,\frac{d}{du}\bigl(\sin^{d-2}u\; v\,g\bigr), \qquad
          g = \frac{\text{const}}{v \sin^{d-2} u} \exp\Bigl(\mu\int\frac{du}{v}\Bigr),

where :math:`\mu = (d-1)\lambda`, :math:`\lambda = v'(0)`, if the density is positive at the antipode. With
:math:`v = p(u) \sin u` and :math:`g(0) = 1` the integral has no singularity but that of the cluster,

.. math:: g = \frac{p(0)}{p(u)}\,\cos^{-2(d-1)}\frac u2\;
          \exp\Bigl((d-1)\int_0^u \frac{p(0)/p(s) - 1}{\sin s}\,ds\Bigr)
          \sim (\pi - u)^{-(d-1)(1 + \lambda/L)}, \quad u \to \pi,

L being the exponent at which the cluster contracts. For attention with normalised weights p is constant. Derived
from the continuity equation.
"""

import math

import numpy as np
import numpy.typing as npt

from ..arguments import checked
from ..equations import Equation
from ..errors import InvalidInput
from ..potentials import Array

# Nodes of the integral. The pull p is an entire function for attention, of width beta^(-1/2).
NODES = 256
# Closer to the ends the angle is lost in its cosine, and the pull is taken as a + b u^2, with an error of NEAR^4.
NEAR = 1e-3


@checked
def flight_profile(problem: Equation, angle: npt.ArrayLike) -> Array:
    r"""Return the profile g of the mass in flight to a cluster, (n,), one at the point opposite to it.

    Parameters
    ----------
    problem
        The equation, without noise or confinement; its coupling does not matter.
    angle : (n,) float
        Angles from the cluster in radians, of either sign, up to pi in modulus.

    Raises
    ------
    InvalidInput
        If there is noise, a confinement, a phase lag or a frequency, an angle is out of range, or particles come to
        rest between the cluster and the antipode.

    Examples
    --------
    >>> import numpy as np
    >>> from meanfield import Circle, ContinuityEquation, SoftmaxAttention
    >>> problem = ContinuityEquation(Circle(), SoftmaxAttention(beta=3.0), noise=0.0, coupling=1.0)
    >>> flight_profile(problem, [np.pi, np.pi / 2])
    array([1., 2.])
    """
    _require(problem)
    distances = np.abs(np.asarray(angle, dtype=float))
    if not np.all(distances <= math.pi):
        raise InvalidInput("angles from the cluster are numbers between -pi and pi; reduce them by full turns")
    opposite = math.pi - distances
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    # At the antipode itself the integral is over nothing.
    places = 0.5 * np.maximum(opposite, np.finfo(float).tiny)[..., None] * (1.0 + nodes)
    pulls = _pull(problem, places)
    first, last = _pull(problem, np.array([0.0, math.pi]))
    if first <= 0.0 or last <= 0.0 or np.any(pulls <= 0.0):
        raise InvalidInput(
            "in the field of a point particles also rest elsewhere or are repelled, so no mass is on its way from "
            "the antipode alone; take an attractive interaction such as Transformer(beta=1) with coupling > 0"
        )
    # c sin^2(s/2) has the integral -c log cos(u/2), and the rest vanishes at both ends.
    excess = first / last - 1.0
    rest = (first / pulls - 1.0 - excess * np.sin(0.5 * places) ** 2) / np.sin(places)
    directions = problem.domain.dimension - 1
    with np.errstate(divide="ignore", over="ignore"):
        exponent = 0.5 * opposite * (rest @ weights) - (2.0 + excess) * np.log(np.sin(0.5 * distances))
        profile = first / _pull(problem, opposite) * np.exp(directions * exponent)
    return np.asarray(profile)


def _require(problem: Equation) -> None:
    if problem.noise > 0.0 or problem.confinement is not None or problem.velocity.rotates:
        raise InvalidInput(
            "the profile of the mass in flight is that of equations without noise, confinement, phase lag and "
            "common frequency; leave these out, and give noise=0"
        )


def _pull(problem: Equation, angles: Array) -> Array:
    """Return the velocity at angles from the antipode of a point in its field, over their sines."""
    inner = np.clip(angles, NEAR, math.pi - NEAR)
    values = _over_sines(problem, inner)
    for end in (0.0, math.pi):
        near, far = _over_sines(problem, np.abs(end - NEAR * np.array([1.0, 2.0])))
        bend = (far - near) / (3.0 * NEAR**2)
        close = np.abs(angles - end) < NEAR
        values = np.where(close, near + bend * ((angles - end) ** 2 - NEAR**2), values)
    return np.asarray(values)


def _over_sines(problem: Equation, angles: Array) -> Array:
    drive, slope, radial = problem.velocity.kernels(-np.cos(angles)[..., None])
    drive, slope = drive[..., 0], slope[..., 0]
    own = None if radial is None else radial[..., 0]
    coupling = 1.0 if problem.coupling is None else float(problem.coupling)
    return np.asarray(coupling * problem.velocity.speed(drive, (slope * np.sin(angles)) ** 2, own) * slope)
