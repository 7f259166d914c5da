"""Both back ends of the spherical harmonic transform against multiprecision sums and identities."""

import importlib.util
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest

from meanfield import InvalidInput
from meanfield.harmonics import degrees_and_orders, packed_size
from solvers.bases import SphericalTransform
from solvers.bases.spherical import ducc, harmonics_backend_name

EPS = np.finfo(float).eps
BACKENDS = [
    "numpy",
    pytest.param(
        "ducc0",
        marks=pytest.mark.skipif(importlib.util.find_spec("ducc0") is None, reason="ducc0 is not installed"),
    ),
]
backends = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture(autouse=True)
def _both_libraries(monkeypatch):
    """Every back end that is installed may be asked for, whatever the environment says."""
    monkeypatch.delenv("MEANFIELD_SHT", raising=False)
    ducc.cache_clear()
    yield
    ducc.cache_clear()


def harmonic(degree, order, theta):
    """T_lm from the derivative formula P_l^m = sin^m d^m P_l / du^m, by mpmath, without Condon and Shortley."""
    u = mp.cos(theta)
    coefficients = mp.taylor(lambda x: mp.legendre(degree, x), 0, degree)
    for _ in range(order):
        coefficients = [k * c for k, c in enumerate(coefficients)][1:]
    value = mp.polyval(coefficients[::-1], u) * mp.sin(theta) ** order
    return mp.sqrt((2 if order else 1) * mp.factorial(degree - order) / mp.factorial(degree + order)) * value


def noise(degree, seed=1):
    cosine, sine = np.random.default_rng(seed).standard_normal((2, packed_size(degree)))
    sine[degrees_and_orders(degree)[1] == 0] = 0.0
    return cosine, sine


@backends
@pytest.mark.parametrize(("degree", "order"), [(0, 0), (1, 1), (3, 2), (5, 0), (6, 5), (8, 8)])
def test_single_harmonics_and_their_gradients(backend, degree, order):
    transform = SphericalTransform(8, backend=backend)
    where = degree * (degree + 1) // 2 + order
    unit = np.zeros(packed_size(8))
    unit[where] = 1.0
    mp.mp.dps = 40
    angles = [mp.mpf(float(t)) for t in transform.polar]
    values = np.array([float(harmonic(degree, order, t)) for t in angles])
    slopes = np.array([float(mp.diff(lambda t: harmonic(degree, order, t), t)) for t in angles])
    across = order * values / np.sin(transform.polar)
    cos, sin = np.cos(order * transform.azimuths), np.sin(order * transform.azimuths)
    tolerance = 64 * EPS * (degree + 1)
    assert np.abs(transform.synthesise(unit, 0 * unit) - np.outer(values, cos)).max() < tolerance
    polar, azimuthal = transform.gradient(unit, 0 * unit)
    assert np.abs(polar - np.outer(slopes, cos)).max() < tolerance
    assert np.abs(azimuthal + np.outer(across, sin)).max() < tolerance
    if order:
        assert np.abs(transform.synthesise(0 * unit, unit) - np.outer(values, sin)).max() < tolerance
        polar, azimuthal = transform.gradient(0 * unit, unit)
        assert np.abs(polar - np.outer(slopes, sin)).max() < tolerance
        assert np.abs(azimuthal - np.outer(across, cos)).max() < tolerance


@backends
@pytest.mark.parametrize("degree", [1, 31, 64, 127])
def test_analysis_undoes_synthesis(backend, degree):
    transform = SphericalTransform(degree, backend=backend)
    cosine, sine = noise(degree)
    moments = transform.analyse(transform.synthesise(cosine, sine))
    # ducc0's recurrences leave about L units of rounding; the tables are made in extended precision.
    tolerance = (32 if backend == "numpy" else 16 * (degree + 1)) * EPS
    assert np.abs(moments[0] * transform.multiplicities - cosine).max() < tolerance
    assert np.abs(moments[1] * transform.multiplicities - sine).max() < tolerance


@backends
def test_divergence_of_a_gradient_is_the_laplacian(backend):
    transform = SphericalTransform(40, backend=backend)
    cosine, sine = noise(40)
    eigenvalues = transform.degrees * (transform.degrees + 1)
    moments = transform.divergence(*transform.gradient(cosine, sine))
    scale = 40 * 41
    assert np.abs(moments[0] * transform.multiplicities - eigenvalues * cosine).max() < 640 * EPS * scale
    assert np.abs(moments[1] * transform.multiplicities - eigenvalues * sine).max() < 640 * EPS * scale


@backends
def test_divergence_is_adjoint_to_the_gradient(backend):
    transform = SphericalTransform(20, 25, 47, backend=backend)
    cosine, sine = noise(20)
    fields = np.random.default_rng(2).standard_normal((2, 25, 47))
    slopes = transform.gradient(cosine, sine)
    product = transform.mean(fields[0] * slopes[0] + fields[1] * slopes[1])
    moments = transform.divergence(*fields)
    assert abs(moments[0] @ cosine + moments[1] @ sine - product) < 64 * EPS * 20 * np.abs(slopes).max()


@pytest.mark.skipif(importlib.util.find_spec("ducc0") is None, reason="ducc0 is not installed")
@pytest.mark.parametrize("degree", [31, 127])
def test_back_ends_agree(degree):
    ours, theirs = (SphericalTransform(degree, backend=name) for name in ("numpy", "ducc0"))
    cosine, sine = noise(degree)
    values = ours.synthesise(cosine, sine)
    assert np.abs(theirs.synthesise(cosine, sine) - values).max() < 1e-12 * np.abs(values).max()
    slopes = ours.gradient(cosine, sine)
    for mine, other in zip(slopes, theirs.gradient(cosine, sine), strict=True):
        assert np.abs(mine - other).max() < 1e-12 * np.abs(mine).max()
    for mine, other in zip(ours.divergence(*slopes), theirs.divergence(*slopes), strict=True):
        assert np.abs(mine - other).max() < 1e-12 * degree**2
    for mine, other in zip(ours.analyse(values), theirs.analyse(values), strict=True):
        assert np.abs(mine - other).max() < 1e-12


@pytest.mark.parametrize("degree", [64, 96, 192, 256])
@pytest.mark.parametrize("symmetry", [1, 2, 3, 7])
def test_meridians_of_a_sector_have_small_prime_factors(degree, symmetry):
    transform = SphericalTransform(degree, symmetry=symmetry)
    assert 2 * degree < transform.meridians < 2.3 * degree
    left = transform.azimuths.size
    for factor in (2, 3, 5, 7, 11):
        while left % factor == 0:
            left //= factor
    assert left == 1


@pytest.mark.parametrize("backend", ["numpy", None])
@pytest.mark.parametrize("symmetry", [2, 3, 8])
def test_sectors_give_the_moments_of_the_whole(symmetry, backend):
    degree = 24
    whole = SphericalTransform(degree, backend="numpy")
    sector = SphericalTransform(degree, symmetry=symmetry, backend=backend)
    cosine, sine = (np.where(whole.orders % symmetry, 0.0, part) for part in noise(degree))
    values = sector.synthesise(cosine, sine)
    assert values.shape == (degree + 1, sector.meridians // symmetry)
    moments = sector.analyse(np.exp(0.1 * values))
    full = SphericalTransform(degree, meridians=sector.meridians, backend="numpy")
    expected = full.analyse(np.exp(0.1 * full.synthesise(cosine, sine)))
    for one, other in zip(moments, expected, strict=True):
        assert np.abs(one - other).max() < 64 * EPS * np.exp(0.1 * np.abs(values).max())


def test_products_are_exact_on_a_grid_of_their_own_degree():
    """The mean of the square of a field of degree L needs 2 n > 2 L rings and M > 2 L meridians."""
    cosine, sine = noise(12)
    transform = SphericalTransform(12)
    square = transform.mean(transform.synthesise(cosine, sine) ** 2)
    assert abs(square - ((cosine**2 + sine**2) / transform.multiplicities).sum()) < 256 * EPS * square


def test_variable_switches_ducc_off(monkeypatch):
    monkeypatch.setenv("MEANFIELD_SHT", "numpy")
    ducc.cache_clear()
    assert SphericalTransform(4).backend == "numpy"
    assert harmonics_backend_name() == "numpy"
    with pytest.raises(InvalidInput, match="MEANFIELD_SHT"):
        SphericalTransform(4, backend="ducc0")


def test_ducc_is_not_imported_with_the_module():
    code = "import solvers.bases.spherical, sys; sys.exit('ducc0' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [{"degree": -1}, {"degree": 5000}, {"degree": 8, "rings": 8}, {"degree": 8, "meridians": 16}],
)
def test_grids_that_cannot_carry_the_degree_are_refused(arguments):
    with pytest.raises(InvalidInput):
        SphericalTransform(**arguments)


def test_sectors_have_no_gradient():
    transform = SphericalTransform(6, symmetry=2)
    with pytest.raises(InvalidInput, match="symmetry"):
        transform.gradient(*noise(6))
