"""Densities on spheres at points, and their pictures, tested by the data in them."""

import numpy as np
import pytest
from sample import sample
from scipy.optimize import brentq
from scipy.special import gammaln, ive
from sphere_sample import (
    DEGREE,
    cubic,
    fisher,
    full_moments,
    nematic,
    octahedral,
    place,
    state,
    vector,
    watson_moments,
)

from meanfield import CosineSeries, InvalidInput, McKeanVlasov, Sphere
from meanfield.cli import main
from meanfield.harmonics import full_density, moduli, packed, zonal_density, zonal_sensitivity
from meanfield.plotting import critical_mode, plot_diagram, plot_panels
from meanfield.plotting.globe import GENERIC
from tests import problems

# Quintic splines through eight points a wave are in error by (2 pi/8)^6/30240 of the last harmonic.
INTERPOLATED = (2 * np.pi / 8) ** 6 / 30240
EPS = np.finfo(float).eps
AREA = 4 * np.pi
WATSON = McKeanVlasov(Sphere(3), CosineSeries((0.0, -1.0)), coupling=4.0)


@pytest.fixture(scope="module")
def octahedron():
    return octahedral(3.0)


@pytest.fixture(scope="module")
def globe(octahedron):
    return octahedron.plot_globe()


@pytest.fixture(scope="module")
def nematics():
    return nematic()


@pytest.fixture(scope="module")
def chart(octahedron):
    return octahedron.plot_mollweide()


def pieces(ax, name):
    return [line for line in ax.get_lines() if line.get_gid() == name]


def image_of(ax):
    return ax.get_images()[0]


def exact_harmonic(degree, order, polar):
    """The factor of cos m phi in e^c_lm, from its definition, in 150 digits."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(150):
        total, half = mpmath.mpf(0), mpmath.mpf(polar) / 2
        # Jacobi's polynomial of index (m, m) as a sum over powers of the two halves of the angle.
        for k in range(degree - order + 1):
            term = mpmath.binomial(degree, k) * mpmath.binomial(degree, degree - order - k)
            total += (-1) ** k * term * mpmath.sin(half) ** (2 * k) * mpmath.cos(half) ** (2 * (degree - order - k))
        ratio = mpmath.factorial(degree + order) * mpmath.factorial(degree - order)
        scale = mpmath.sqrt((2 if order else 1) * ratio) / mpmath.factorial(degree) / 2**order
        return float(scale * mpmath.sin(mpmath.mpf(polar)) ** order * total)


@pytest.mark.parametrize(("degree", "order"), [(1, 1), (7, 3), (200, 0), (200, 1), (200, 90), (199, 199)])
def test_harmonics_to_rounding(degree, order):
    # Near the poles the cosine has forgotten the angle.
    polar = np.array([1e-9, 3.3e-3, 0.05, 0.7, 1.5, np.pi / 2, 2.0, 3.1405])
    expected = np.array([exact_harmonic(degree, order, value) for value in polar])
    moments = np.zeros(place(degree, degree) + 1)
    moments[place(degree, order)] = 1 / (2 * degree + 1)
    zero = np.zeros_like(moments)
    # The angle of the last two meridians has rounding of its own, which the degree multiplies.
    tolerance = 32 * EPS
    assert np.allclose(full_density(moments, zero, polar, 0.0), expected, rtol=0, atol=tolerance)
    assert np.allclose(full_density(zero, moments, polar, 0.3), expected * np.sin(order * 0.3), rtol=0,
                       atol=tolerance * max(1, order))  # fmt: skip
    if order == 0:
        only = np.eye(degree + 1)[degree] / (2 * degree + 1)
        assert np.allclose(zonal_density(only, 3, polar), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dimension", [3, 4, 8])
def test_zonal_density_per_surface(dimension):
    concentration = 3.0
    shown = fisher(concentration, dimension)
    angle = np.linspace(0.0, np.pi, 7).reshape(7, 1)
    index = dimension / 2 - 1
    logarithm = gammaln(index + 1) + index * np.log(2 / concentration) + np.log(ive(index, concentration))
    relative = np.exp(concentration * (np.cos(angle) - 1) - logarithm)
    tolerance = 8 * EPS * zonal_sensitivity(DEGREE, dimension, 0.0)
    assert np.allclose(shown.relative_density(angle), relative, rtol=0, atol=tolerance)
    assert np.allclose(shown.density(angle), relative / Sphere(dimension).volume, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("dimension", "concentration"), [(64, 60.0), (512, 1000.0)])
def test_high_dimension_without_the_noise_of_the_moments(dimension, concentration):
    mpmath = pytest.importorskip("mpmath")
    angle = np.array([0.0, 0.4, 1.0, 1.3])
    index = mpmath.mpf(dimension) / 2 - 1
    mean = mpmath.gamma(index + 1) * (2 / mpmath.mpf(concentration)) ** index * mpmath.besseli(index, concentration)
    expected = [float(mpmath.log(mpmath.exp(concentration * mpmath.cos(value)) / mean)) for value in angle]
    shown = fisher(concentration, dimension, 60)
    assert np.allclose(np.log(shown.relative_density(angle)), expected, rtol=0, atol=8 * EPS * concentration)


def test_full_density_is_the_exponential():
    rng = np.random.default_rng(1)
    polar, azimuth = np.arccos(rng.uniform(-1, 1, (3, 40))), rng.uniform(-9, 9, (3, 40))
    exponent = lambda x, y, z: x * y * z + 0.7 * z**2 + 0.5 * x  # noqa: E731
    cosine, sine, logarithm = full_moments(exponent, 24)
    expected = np.exp(exponent(*vector(polar, azimuth)) - logarithm)
    # What is left out is less than the last two degrees, in each of which the harmonics have squares of sum one.
    degrees = np.arange(23, 25)
    omitted = np.sum((2 * degrees + 1) * moduli(cosine, sine)[degrees])
    assert omitted < 1e-10
    assert np.allclose(full_density(cosine, sine, polar, azimuth), expected, rtol=0, atol=omitted + 1e-11)


def test_zonal_moments_packed_are_the_same_density():
    moments, angle = fisher(4.0).cosine, np.linspace(0, np.pi, 9)
    wide = packed(moments)
    assert np.allclose(full_density(wide, 0 * wide, angle, 1.0), zonal_density(moments, 3, angle), atol=200 * EPS)
    assert np.allclose(moduli(wide, 0 * wide), np.abs(moments), rtol=EPS)


def test_order_parameters_do_not_depend_on_the_orientation(octahedron):
    c, s = np.cos(0.7), np.sin(0.7)
    turned = full_moments(lambda x, y, z: 3.0 * ((c * x + s * z) ** 4 + y**4 + (c * z - s * x) ** 4 - 0.6))
    there = state(octahedron.problem, *turned[:2], layout="order")
    for degree in (1, 4, 6):
        assert there.order_parameter(degree) == pytest.approx(octahedron.order_parameter(degree), abs=1e-11)
    assert octahedron.order_parameter(4) == pytest.approx(
        np.sqrt(12 / 7) * octahedron.cosine[place(4, 0)], abs=1e-12
    )
    assert octahedron.order_parameter(900) == 0.0


def test_densities_ask_for_the_right_angles(octahedron):
    with pytest.raises(InvalidInput, match=r"give both angles, density\(polar, azimuth\)"):
        octahedron.density(0.3)
    with pytest.raises(InvalidInput, match=r"the sphere of dimension 4 takes one angle"):
        fisher(3.0, 4).density(0.3, 0.1)
    with pytest.raises(InvalidInput, match="the circle takes one angle"):
        sample().state("uniform", 0).density(0.3, 0.1)
    with pytest.raises(InvalidInput, match="relative_density"):
        fisher(300.0, 1024).density(0.3)
    broadcast = fisher(3.0).density(np.zeros((3, 1)), np.zeros(4))
    assert broadcast.shape == (3, 4)


def view_axes(direction):
    towards = np.asarray(direction) / np.linalg.norm(direction)
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    return right, np.cross(towards, right), towards


@pytest.mark.parametrize("direction", [(1.0, 0.6, 0.5), (-2.0, 0.1, -1.0)])
def test_globe_shows_the_density_of_the_visible_half(octahedron, direction):
    ax = octahedron.plot_globe(view=direction)
    image = image_of(ax)
    left, end, bottom, top = image.get_extent()
    data = image.get_array().filled(np.nan)
    size = len(data)
    rows, columns = np.random.default_rng(2).integers(0, size, (2, 400))
    x, y = left + (end - left) * (columns + 0.5) / size, bottom + (top - bottom) * (rows + 0.5) / size
    inside = np.hypot(x, y) < 1
    assert 200 < np.count_nonzero(inside) < 400
    x, y = x[inside], y[inside]
    right, up, towards = view_axes(direction)
    points = np.outer(x, right) + np.outer(y, up) + np.outer(np.sqrt(1 - x**2 - y**2), towards)
    polar, azimuth = np.arccos(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])
    expected = AREA * octahedron.density(polar, azimuth)
    assert np.allclose(data[rows[inside], columns[inside]], expected, rtol=INTERPOLATED, atol=0)
    assert np.isnan(data[0, 0])
    corner = np.abs(np.linspace(left, end, size, endpoint=False) + (end - left) / (2 * size))
    radius = np.hypot(*np.meshgrid(corner, corner))
    assert np.all(np.isfinite(data[radius < 1]))


def test_globe_in_units_of_the_uniform_density(octahedron, globe):
    image = image_of(globe)
    peak = AREA * octahedron.density(0.0, 0.0)
    assert image.norm.vmin == 0.0
    assert image.norm.vmax == pytest.approx(float(peak), rel=1e-12)
    bar = image.colorbar.ax
    assert bar.get_ylabel() == r"$\rho/\rho_0$"
    (mark,) = [line for line in bar.get_lines() if line.get_gid() == "uniform"]
    assert set(mark.get_ydata()) == {1.0}
    assert not globe.axison
    assert image.get_clip_path() is not None
    assert image_of(octahedron.plot_globe(vmax=9.0, cmap="cividis", bar=False)).norm.vmax == 9.0


def test_globe_is_seen_from_where_a_peak_is_visible(octahedron, globe):
    along = {"prolate": 5.0, "oblate": -5.0}
    for eta in along.values():
        (axis, _) = pieces(state(WATSON, watson_moments(eta)[0]).plot_globe(), "axis")
        # The north pole is seen, above the middle.
        assert 0.3 < axis.get_ydata()[0] < 0.9
        assert abs(axis.get_xdata()[0]) < 1e-12
    south = fisher(3.0).cosine * (-1.0) ** np.arange(DEGREE + 1)
    lower = pieces(state(WATSON, south).plot_globe(), "axis")[1]
    assert -0.9 < lower.get_ydata()[0] < -0.3
    direction = GENERIC / np.linalg.norm(GENERIC)
    data = image_of(globe).get_array()
    assert data[len(data) // 2, len(data) // 2] == pytest.approx(
        AREA * octahedron.density(np.arccos(direction[2]), np.arctan2(0.6, 1.0)), rel=5e-2
    )


def test_graticule_lies_on_the_visible_half(globe):
    curves = pieces(globe, "graticule")
    assert len(curves) == 12 + 5
    for curve in curves:
        assert np.nanmax(np.hypot(*curve.get_xydata().T)) <= 1 + 4 * EPS


@pytest.mark.parametrize("view", [(0, 0, 0), (1, 2), "above", (1, 2, np.nan), None])
def test_view(octahedron, view):
    if view is None:
        above = image_of(octahedron.plot_globe(view=(0, 0, 2))).get_array()
        middle = len(above) // 2
        assert above[middle, middle] == pytest.approx(float(AREA * octahedron.density(0.0, 0.0)), rel=1e-4)
    else:
        with pytest.raises(InvalidInput, match=r"three numbers such as \(1, 0.6, 0.5\)"):
            octahedron.plot_globe(view=view)


def test_map_shows_the_density(octahedron):
    centre = 0.4
    image = image_of(octahedron.plot_mollweide(centre=centre))
    left, end, bottom, top = image.get_extent()
    data = image.get_array().filled(np.nan)
    height, width = data.shape
    rows, columns = np.random.default_rng(3).integers(0, (height, width), (300, 2)).T
    x, y = left + (end - left) * (columns + 0.5) / width, bottom + (top - bottom) * (rows + 0.5) / height
    inside = (x / np.sqrt(8)) ** 2 + (y / np.sqrt(2)) ** 2 < 1
    a = np.arcsin(y[inside] / np.sqrt(2))
    polar = np.arccos((2 * a + np.sin(2 * a)) / np.pi)
    azimuth = centre + np.pi * x[inside] / (2 * np.sqrt(2) * np.cos(a))
    expected = AREA * octahedron.density(polar, azimuth)
    assert np.allclose(data[rows[inside], columns[inside]], expected, rtol=INTERPOLATED, atol=0)
    assert np.isnan(data[0, 0])
    # All areas are shown alike, so the mean over the map is that over the sphere.
    grid_x, grid_y = np.meshgrid(
        left + (end - left) * (np.arange(width) + 0.5) / width,
        bottom + (top - bottom) * (np.arange(height) + 0.5) / height,
    )
    ellipse = (grid_x / np.sqrt(8)) ** 2 + (grid_y / np.sqrt(2)) ** 2 < 1
    assert np.mean(data[ellipse]) == pytest.approx(1.0, abs=2e-3)


def test_map_graticule(octahedron):
    curves = pieces(octahedron.plot_mollweide(centre=0.0), "graticule")
    # The meridian at the edge is the rim itself.
    assert len(curves) == 11 + 5
    latitude = np.pi / 6
    a = brentq(lambda a: 2 * a + np.sin(2 * a) - np.pi * np.sin(latitude), 0, 1.5, xtol=1e-15)
    parallels = [curve.get_ydata()[0] for curve in curves if np.ptp(curve.get_ydata()) < 1e-12]
    assert np.min(np.abs(np.array(parallels) - np.sqrt(2) * np.sin(a))) < 8 * EPS


def test_the_edge_of_a_map_avoids_the_peaks(chart):
    data = image_of(chart).get_array().filled(np.nan)
    equator = data[len(data) // 2]
    equator = equator[np.isfinite(equator)]
    assert equator[0] < 0.7 < 2.0 < equator.max()


def test_only_the_ordinary_sphere_has_globes():
    for wrong, name in (
        (sample().state("uniform", 0), "the circle"),
        (fisher(3.0, 4), "the sphere of dimension 4"),
    ):
        for draw in (wrong.plot_globe, wrong.plot_mollweide):
            with pytest.raises(
                InvalidInput, match=rf"on the ordinary sphere, Sphere\(3\), not on {name}; use plot"
            ):
                draw()


def test_profile():
    shown = fisher(3.0)
    ax = shown.plot(color="green")
    level, line = ax.get_lines()
    assert set(level.get_ydata()) == {1.0}
    assert np.array_equal(line.get_ydata(), shown.relative_density(line.get_xdata()))
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0.0, np.pi)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", r"$\pi/2$", r"$\pi$"]
    assert ax.get_ylim()[0] == 0.0
    assert line.get_color() == "green"


@pytest.mark.parametrize("order", [1, -1])
def test_a_second_density_is_not_cut(order):
    shown = [sample().state("uniform", 3), sample().state("1-cluster", 50)][::order]
    ax = shown[0].plot()
    shown[1].plot(ax)
    assert ax.get_ylim()[0] == 0.0
    assert ax.get_ylim()[1] > max(each.density(0.0) for each in shown)


def test_profiles_of_high_dimensions_are_logarithmic():
    for dimension, concentration in ((64, 60.0), (1024, 9000.0)):
        ax = fisher(concentration, dimension, 60).plot()
        ax.figure.draw_without_rendering()
        assert ax.get_yscale() == "log"
        assert ax.get_ylim()[0] == 1e-8
        assert np.all(np.isfinite(ax.get_ylim()))


def test_a_density_without_an_axis_is_drawn_as_a_map(octahedron):
    ax = octahedron.plot()
    assert image_of(ax).get_array().shape[1] == 2 * image_of(ax).get_array().shape[0]


def test_signed_order_parameter_of_a_two_sided_branch(nematics):
    diagram = nematics
    ax = plot_diagram(diagram)
    assert critical_mode(diagram) == 2
    assert ax.get_xlabel() == r"$\kappa/\kappa_{2}$"
    assert ax.get_ylabel() == r"$S = p_2 = \langle P_{2}(\cos\theta) \rangle$"
    drawn = np.concatenate([line.get_ydata() for line in pieces(ax, "oblate")])
    assert np.array_equal(drawn, diagram.branches[2].cosine[:, 2])
    assert drawn[-1] < -0.2
    assert {"uniform", "prolate", "oblate"} <= {text.get_text() for text in ax.texts}
    # The marker of the fold is at the known fold of Maier and Saupe.
    exact = problems.NEMATIC.exact
    (fold,) = [line for line in ax.get_lines() if line.get_marker() == "s"]
    assert fold.get_xdata()[0] == pytest.approx(exact("fold") / exact("critical coupling"), abs=1e-12)
    assert fold.get_ydata()[0] == pytest.approx(exact("order at fold"), abs=1e-6)
    modulus = np.concatenate([line.get_ydata() for line in pieces(plot_diagram(diagram, "m2"), "oblate")])
    assert np.array_equal(modulus, np.abs(drawn))


def test_quantities_in_the_packed_layout():
    diagram = cubic()
    branch = diagram.branches[2]
    squares = branch.cosine**2 + branch.sine**2
    fourth = np.sqrt(np.sum(squares[:, place(4, 0) : place(5, 0)], axis=1))
    expected = {
        None: (branch.cosine[:, place(4, 0)], r"$p_{4} = \langle P_{4}(\cos\theta) \rangle$"),
        "m4": (fourth, "$|m_{4}|$"),
        "amplitude": (fourth, r"$\max_l |m_l|$"),
        "norm": (np.sqrt(np.sum(squares[:, 1:], axis=1)), r"$\|m\|_2$"),
        "p77": (np.zeros(len(branch)), r"$p_{77} = \langle P_{77}(\cos\theta) \rangle$"),
    }
    assert expected[None][0][-1] < 0
    for y, (values, symbol) in expected.items():
        ax = plot_diagram(diagram, y)
        assert ax.get_ylabel() == symbol
        (line,) = pieces(ax, "cube")
        assert np.allclose(line.get_ydata(), values, rtol=8 * EPS, atol=EPS)


def test_polar_moments_are_of_spheres_only(nematics):
    with pytest.raises(InvalidInput, match=r"cannot plot 'p1'; give m1, m2, \.\.\. or"):
        plot_diagram(sample(), "p1")
    with pytest.raises(InvalidInput, match=r"cannot plot 'q'; give m1, m2, \.\.\., p1, p2, \.\.\. or"):
        plot_diagram(nematics, "q")


def test_panels(nematics):
    profiles = plot_panels(nematics).axes[3]
    curves = [line for line in profiles.get_lines() if line.get_label()[0] != "_"]
    assert 3 <= len(curves) <= 6
    assert all(line.get_xdata()[-1] == np.pi for line in curves)
    assert curves[-1].get_ydata()[0] == pytest.approx(
        float(nematics.state("prolate", -1).relative_density(0.0)), rel=1e-14
    )
    assert profiles.get_ylim()[1] > max(np.max(curve.get_ydata()) for curve in curves)
    last = plot_panels(cubic()).axes[3]
    assert "octahedral" in last.get_title()
    assert len(last.get_images()) == 2


def test_command_line(nematics, tmp_path, capsys):
    from PIL import Image

    path = nematics.save(tmp_path / "nematic.json")[0]
    for option in (["--mollweide"], ["--globe", "--view", "1", "-1", "0.5"], ["--y", "p2"], []):
        target = tmp_path / "picture.png"
        assert main(["plot", str(path), *option, "--to", str(target), "--force", "--quiet"]) == 0
        with Image.open(target) as picture:
            assert np.ptp(np.asarray(picture.convert("L"))) > 100
    circle = sample().save(tmp_path / "circle.json")[0]
    faults = {
        ("--globe", "--mollweide"): "cannot be given together",
        ("--mollweide", "--view", "1", "0", "0"): "--view belongs to --globe",
    }
    for given, sentence in faults.items():
        assert main(["plot", str(path), *given, "--to", str(tmp_path / "b.png")]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["plot", str(circle), "--globe", "--to", str(tmp_path / "b.png")]) == 2
    assert "not on the circle" in capsys.readouterr().err
    assert not (tmp_path / "b.png").exists()


def test_states_side_by_side(octahedron, tmp_path):
    from meanfield.command_line import draw_states

    uniform = state(octahedron.problem, packed(np.eye(5)[0]), layout="order", label="uniform", symmetry=0)
    assert draw_states([uniform, octahedron], tmp_path / "a.png", {}).stat().st_size > 10_000
    both = [state(WATSON, watson_moments(eta)[0], label=str(eta)) for eta in (3.0, -3.0)]
    assert draw_states(both, tmp_path / "b.png", {}).stat().st_size > 10_000
