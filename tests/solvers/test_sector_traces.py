"""Traces of the azimuthal sectors by one Fourier transform, against the harmonics themselves."""

import numpy as np
import pytest
from scipy.special import sph_legendre_p

from solvers.sphere.traces import NEGLIGIBLE, SectorTraces

DEGREE = 40


def phi_squared(degree, order, polar):
    """(phi_l^m)^2 by scipy: that of m = 0 is P_l^2, and the others have the mean square of their two harmonics."""
    values = np.array([np.ravel(sph_legendre_p(degree, order, angle))[0] for angle in polar])
    return 4 * np.pi / (2 * degree + 1) * values**2


@pytest.mark.parametrize("decay", [1.0, 3.0])
@pytest.mark.parametrize("width", [0.01, 0.3, 3.0])
def test_bounds_are_above_the_traces_and_near_them(decay, width):
    polar = np.linspace(0.02, np.pi - 0.02, 25)
    masses = np.exp(-((polar / width) ** 2)) + 0.1 * np.exp(-(((polar - np.pi) / width) ** 2))
    masses *= np.sin(polar)
    masses /= masses.sum()
    weights = np.concatenate([[0.0], np.arange(1.0, DEGREE + 1) ** -decay])
    bounds = SectorTraces(weights).bounds(np.sin(polar), masses)
    assert bounds.shape == (DEGREE + 1,)
    for order in (0, 1, 2, 7, DEGREE - 1, DEGREE):
        exact = sum(
            weights[degree] * float(masses @ phi_squared(degree, order, polar))
            for degree in range(max(order, 1), DEGREE + 1)
        )
        assert exact <= bounds[order] <= exact + 2e-3 * weights.sum()


def test_latitudes_left_out_are_accounted_for():
    """A tail of many latitudes, each negligible, together a share of the mass."""
    polar = np.concatenate([[0.01], np.full(200_000, np.pi / 2)])
    masses = np.full(polar.size, 0.9 * NEGLIGIBLE)
    masses[0] = 1.0
    weights = np.zeros(9)
    weights[8] = 1.0
    bounds = SectorTraces(weights).bounds(np.sin(polar), masses)
    exact = masses[1:].sum() * phi_squared(8, 8, [np.pi / 2])[0]
    assert bounds[8] >= exact > 0.03
