r"""The changes of the speed of a velocity law about the uniform density, on which normal forms depend."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..domains import Domain
from ..harmonics.gegenbauer import multiplicities
from ..potentials import Array

if TYPE_CHECKING:
    from .velocity import VelocityLaw

# The drives are changed by this share of their size, and so many values taken that the changes of speeds with a
# singularity as far away as the drives are large are known to rounding.
REACH, POINTS = 0.25, 26


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
    """Return the changes of the speed of a law, up to a degree, to rounding, by its values at complex drives.

    They are Cauchy's integrals of the speed, which is analytic, about the drives of the uniform density.
    """
    numbers, radial = multiplicities(domain, degree).astype(float), law.radial(domain, degree)
    drives = np.array([law.drive(domain, degree), np.zeros(degree + 1) if radial is None else radial]) / numbers
    sizes = np.abs(drives).max(axis=1)
    shares = np.divide(drives.T, sizes, out=np.zeros((degree + 1, 2)), where=sizes > 0.0)
    largest = np.abs(shares).max(axis=1)
    steps = REACH / np.where(largest > 0.0, largest, 1.0)
    steep = (REACH * float(sizes[sizes > 0.0].min(initial=1.0))) ** 2
    circle = np.exp(2j * np.pi * np.arange(POINTS) / POINTS)

    def coefficients(amplitudes: Array, slopes: Array) -> Array:
        """Return three coefficients of the speeds, (3, degree + 1), at shares of steps and squared slopes (P,)."""
        changed = drives[:, 0, None, None] + drives[:, None, :] * np.multiply.outer(amplitudes, steps)
        values = law.speed(changed[0], slopes[:, None] + 0.0 * changed[0], None if radial is None else changed[1])
        powers = circle ** -np.arange(3)[:, None] / POINTS
        return np.asarray((powers @ values).real)

    along, across = coefficients(circle, 0.0 * circle), coefficients(0.0 * circle, steep * circle)
    return SpeedResponse(
        along[1] / along[0] / steps, along[2] / along[0] / steps**2, across[1] / across[0] / steep * drives[0] ** 2
    )
