r"""Kuramoto's order parameter without noise on the manifold of Ott and Antonsen, in closed form.

The Poisson kernels, :math:`\int e^{ik\theta}\rho = z^k`, stay Poisson kernels under
:math:`\dot\theta = \omega + \kappa\,\mathrm{Im}(z e^{-i\alpha} e^{-i\theta})` [1]_, with

.. math:: \dot z = i\omega z + \frac\kappa2\bigl(e^{-i\alpha} z - e^{i\alpha}\bar z z^2\bigr), \qquad
          r = \bigl(1 + (r_0^{-2} - 1)\, e^{-ct}\bigr)^{-1/2}, \quad c = \kappa\cos\alpha, \\
          \arg z = \arg z_0 + \omega t - \kappa\sin\alpha\,t + \kappa\sin\alpha\,\frac{\log(r/r_0)}{c} .

References
----------
.. [1] E. Ott, T. M. Antonsen, Low dimensional behavior of large systems of globally coupled oscillators, Chaos 18
       (2008).
"""

import math

import numpy as np
import numpy.typing as npt

from ..arguments import checked
from ..errors import InvalidInput
from ..potentials.series import as_number


@checked
def ott_antonsen(
    order_parameter: float,
    coupling: float,
    time: npt.ArrayLike,
    *,
    frequency: float = 0.0,
    lag: float = 0.0,
) -> npt.NDArray[np.complex128]:
    r"""Return the order parameter :math:`\int e^{i\theta}\rho` of a Poisson kernel without noise, (T,) complex.

    Parameters
    ----------
    order_parameter
        The one at time 0, in [0, 1], of a density about angle 0.
    coupling, frequency, lag
        kappa, and a common frequency omega and phase lag alpha of the particles.
    time : (T,) float
        Times.

    Raises
    ------
    InvalidInput
        If the order parameter is not in [0, 1], or anything else is not finite.

    Examples
    --------
    >>> abs(ott_antonsen(0.5, 1.0, [2.0]))
    array([0.84334746])
    """
    first = float(as_number(order_parameter, "order_parameter", "in [0, 1]"))
    if not 0.0 <= first <= 1.0:
        raise InvalidInput(f"order_parameter must be in [0, 1], not {order_parameter!r}")
    for name, value in (("coupling", coupling), ("frequency", frequency), ("lag", lag)):
        if not math.isfinite(value):
            raise InvalidInput(f"{name} must be finite, not {value!r}")
    times = np.asarray(time, dtype=float)
    if not np.isfinite(times).all():
        raise InvalidInput(
            "the times must be finite numbers; the limit is 1 or 0, by the sign of coupling cos(lag)"
        )
    if first == 0.0:
        return np.zeros(times.shape, dtype=complex)
    rate, turning = coupling * math.cos(lag), coupling * math.sin(lag)
    # (r_0/r)^2 = 1 + (1 - r_0^2) (e^x - 1) = e^x (1 + r_0^2 (e^(-x) - 1)), x = -ct: the form without overflow.
    missing, exponents = (1.0 - first) * (1.0 + first), -rate * times
    falling = np.log1p(missing * np.expm1(np.minimum(exponents, 0.0)))
    rising = exponents + np.log1p(first**2 * np.expm1(np.minimum(-exponents, 0.0)))
    grown = -0.5 * np.where(exponents > 0.0, rising, falling)
    along = 0.5 * missing * times if rate == 0.0 else grown / rate
    return np.asarray(first * np.exp(grown + 1j * (frequency * times - turning * (times - along))))
