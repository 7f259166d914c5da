"""Curves of branch points on branches of states about an axis of a sphere: closed forms, integrals, diagrams."""

import numpy as np
import pytest
from scipy.optimize import brentq

from meanfield import GegenbauerSeries, InvalidInput, Kuramoto, MaierSaupe, McKeanVlasov, Sphere
from solvers import bifurcation_diagram, curve
from solvers.bases import ZonalBasis
from solvers.geometry import Density
from solvers.sphere.complements import complements

# Relative accuracy promised for points on curves, and for slopes.
POINT, SLOPE = 1e-11, 1e-9
RANDOM = np.random.default_rng(11)
HEIGHTS, WEIGHTS = np.polynomial.legendre.leggauss(80)


def nematic(eta):
    """<u^2> of exp(eta u^2) on the ordinary sphere, its derivative, the coupling eta/S and its derivative."""
    weights = WEIGHTS * np.exp(eta * (HEIGHTS**2 - 1.0))
    weights /= weights.sum()
    square, fourth = weights @ HEIGHTS**2, weights @ HEIGHTS**4
    slope, order = fourth - square**2, 1.5 * square - 0.5
    return square, slope, eta / order, (order - 1.5 * eta * slope) / order**2


@pytest.mark.parametrize(("label", "azimuthal"), [("prolate", 1), ("oblate", 0)])
def test_nematics_become_polar_where_the_first_moment_attracts_as_much(label, azimuthal):
    # kappa a <c^2> = 1 with c the component of x along the axis, order 0, or across it.
    problem = McKeanVlasov(Sphere(3), MaierSaupe() + 0.5 * Kuramoto())
    diagram = bifurcation_diagram(problem, (6.7, 12.0), rates=False, depth=1)
    start = next(
        event for event in diagram.events("branch point", label) if f"order {azimuthal}" in event.description
    )
    found = curve(start, "kuramoto_factor", (0.35, 0.7))
    (point,) = found.special_points
    assert (point.type, *point.values) == ("mode interaction", pytest.approx(0.4), pytest.approx(7.5))
    for place in (1, len(found) // 2, len(found) - 2):
        factor, coupling = found.values[place]
        length = found.moments.lengths[place][2] * (1.0 if label == "prolate" else -1.0)
        guess = coupling * length
        eta = brentq(_missed, guess - 0.01, guess + 0.01, args=coupling, xtol=1e-15, rtol=1e-15)
        square, slope, _, growth = nematic(eta)
        across = (square, slope) if azimuthal == 0 else (0.5 * (1.0 - square), -0.5 * slope)
        assert factor * coupling * across[0] == pytest.approx(1.0, rel=POINT)
        in_factor = -(growth / coupling + across[1] / across[0]) * factor
        assert found.slope[place] == pytest.approx(growth / in_factor, rel=SLOPE)


def _missed(eta, coupling):
    return nematic(eta)[2] - coupling


def test_points_are_those_of_diagrams():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0, 0, -0.3)))
    diagram = bifurcation_diagram(problem, (7.5, 8.5), rates=False, depth=1)
    (start,) = diagram.events("branch point", "zonal 4+")
    value = RANDOM.uniform(-0.28, 0.0)
    found = curve(start, "w6", (-0.3, value))
    assert found.first[-1] == value
    there = bifurcation_diagram(problem.with_parameter("w6", value), (7.5, 8.5), rates=False, depth=1)
    (point,) = there.events("branch point", "zonal 4+")
    assert found.coupling[-1] == pytest.approx(point.coupling, rel=POINT)


@pytest.mark.parametrize(("dimension", "symmetry"), [(3, 1), (3, 2), (5, 1), (8, 2)])
def test_moments_of_orders_are_derivatives(dimension, symmetry):
    """Third moments are derivatives of covariances in a field, the deviations of all modes left in."""
    basis = ZonalBasis(Sphere(dimension), np.arange(1, 5), 64, symmetry, None)
    field, change = RANDOM.normal(size=(2, 4))

    def density(field):
        return Density(basis, field, basis.gibbs(field).moments)

    for found in complements(basis, 4):
        degrees = found.degrees(8)
        chi, phi = RANDOM.normal(size=(2, degrees.size))
        at_field = density(field)
        products, mass = found.products(at_field, degrees, chi, phi)
        exact = (products - mass * basis.means(at_field.moments)) @ change
        step = 1e-3
        far, near, after, beyond = (
            chi @ found.covariance(density(field + k * step * change), degrees) @ phi for k in (-2, -1, 1, 2)
        )
        # Of fourth order, with rounding over the step.
        assert exact == pytest.approx((8 * (after - near) - (beyond - far)) / (12 * step), abs=1e-9, rel=1e-9)


def test_states_without_an_axis_are_refused():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0)))
    diagram = bifurcation_diagram(problem, (8.1, 8.3), rates=False, depth=1)
    (start,) = diagram.events("branch point", "octahedral")
    with pytest.raises(InvalidInput, match="a state with an axis"):
        curve(start, "w4", (-1.1, -0.9))
