r"""The changes of the speed of a velocity law about the uniform density, on which normal forms depend."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..domains import Domain
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities
from ..potentials import Array

if TYPE_CHECKING:
    from .velocity import VelocityLaw

# Drives are changed by this share of their size, or halves of it so many times, and so many values taken. Where the
# last coefficients are as small as this share of the largest, the nearest singularity is three times as far away
# and more, and those of the first and second order are known to 1e-13.
REACH, HALVINGS, POINTS, LAST = 0.25, 30, 26, 3
DECAYED = 2.0**12 * float(np.finfo(float).eps)


class SpeedResponse(NamedTuple):
    r"""The relative changes of the speed about the uniform density, to second order.

    At the density :math:`1 + a\psi` with a harmonic :math:`\psi` of degree l the change is
    :math:`\sigma_l a\psi + \tau_l a^2\psi^2 + \varsigma_l a^2|\nabla\psi|^2`.

    Attributes
    ----------
    first, second, slope : (degree + 1,) float
        sigma, tau and varsigma by degree from 0, at which they mean nothing.
    """

    first: Array
    second: Array
    slope: Array


def response_by_values(law: "VelocityLaw", domain: Domain, degree: int) -> SpeedResponse:
    """Return the changes of the speed of a law about the uniform density, up to a degree, from its values.

    They are Cauchy's integrals of the speed, which is analytic, about the drives of the uniform density, on circles
    that are shrunk until they hold no singularity.

    Raises
    ------
    InvalidInput
        If the speed is not analytic there.
    """
    numbers, radial = multiplicities(domain, degree).astype(float), law.radial(domain, degree)
    drives = np.array([law.drive(domain, degree), np.zeros(degree + 1) if radial is None else radial]) / numbers
    sizes = np.abs(drives).max(axis=1)
    largest = float(sizes.max()) or 1.0
    sizes = np.where(sizes > 0.0, sizes, largest)
    amplitudes = np.abs(drives / sizes[:, None]).max(axis=0)
    # Of each degree the changes of the drives at which the larger is of its size.
    shares = np.divide(drives, amplitudes, out=np.zeros_like(drives), where=amplitudes > 0.0)

    def speeds(changes: Array, slopes: Array) -> Array:
        """Return the speeds, (degree + 1, P), at changes of the drives and squared slopes, (P,) in those units."""
        changed = drives[:, 0, None, None] + np.multiply.outer(shares, changes)
        squared = largest**2 * slopes + 0.0 * changed[0]
        return np.asarray(law.speed(changed[0], squared, None if radial is None else changed[1]))

    along = _coefficients(law, lambda points: speeds(points, 0.0 * points))
    across = _coefficients(law, lambda points: speeds(0.0 * points, points), 2)
    return SpeedResponse(
        along[1] / along[0] * amplitudes,
        along[2] / along[0] * amplitudes**2,
        across[1] / across[0] * (drives[0] / largest) ** 2,
    )


def _coefficients(law: "VelocityLaw", speeds: Callable[[Array], Array], power: int = 1) -> Array:
    """Return the first three Taylor coefficients of speeds in a change of the drives to a power, (3, degree + 1).

    Parameters
    ----------
    law
        Their law.
    speeds
        Callable of such complex numbers (P,) that returns the speeds (degree + 1, P).
    power
        1, or 2 of the squared slope.
    """
    circle = np.exp(2j * np.pi * np.arange(POINTS) / POINTS)
    for radius in (REACH * 0.5 ** np.arange(HALVINGS + 1)) ** power:
        # Beyond a singularity values need not be finite.
        with np.errstate(all="ignore"):
            found = np.fft.fft(speeds(radius * circle)) / POINTS
            decayed = np.abs(found[:, -LAST:]).max(axis=1) <= DECAYED * np.abs(found).max(axis=1)
        if decayed.all():
            return np.asarray((found[:, :3] / radius ** np.arange(3)).real.T)
    raise InvalidInput(
        f"the speed of {law.name} is not analytic near the drive of the uniform density, so that no normal form is "
        "known; give the law a speed_response() of its own"
    )
