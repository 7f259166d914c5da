"""Densities on the ordinary sphere as pictures: a globe seen from a side, and a map of equal areas.

Both are images whose pixels hold the density over the uniform one. One without an axis is summed on rings of
longitudes and interpolated from there by quintic splines; its harmonics have at least eight points a wave, which
leaves an error near 1e-5 of the last of them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked
from ..errors import InvalidInput
from ..harmonics import Moments
from ..records.state import State
from .captions import titled_axes
from .projections import (
    PARALLELS,
    View,
    centres,
    globe_graticule,
    globe_pixels,
    map_graticule,
    map_pixels,
    on_map,
    sphere_points,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.patches import Patch

Floats = NDArray[np.float64]

# Pale where there is nothing, so that a globe looks like one; its luminance falls steadily.
COLOUR_MAP = "BuPu"
FEWEST_PIXELS, MOST_PIXELS, PIXELS_A_DEGREE = 520, 1200, 8
# Steps of a survey from pole to pole, and of its continuation beyond its ends, on which a spline depends.
FEWEST_STEPS, SPLINE_ENDS = 48, 12
# The scale of colours reaches at least this far, so that a uniform density is no extreme.
LEAST_TOP = 1.5
# Densities that rise above this are drawn with more colours for their low values.
STEEP = 6.0
LIGHT = np.array([-0.45, 0.55, 0.70])
DARK, SHADE = (0.08, 0.09, 0.22), 0.3
# Relative differences of densities that are rounding.
FLAT = 1e-9
# A peak within these angles of the middle is well seen and leaves room for the axis.
SEEN = np.deg2rad([14.0, 66.0])
GENERIC, ALONG = np.array([1.0, 0.6, 0.5]), np.array([1.0, 0.6, 1.1])
TURNS = ((1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1), (1, 1, -1), (1, -1, -1), (-1, 1, -1), (-1, -1, -1))


@checked
def plot_globe(
    state: State,
    ax: "Axes | None" = None,
    view: Annotated[Sequence[float] | None, ITSELF] = None,
    *,
    bar: bool = True,
    **style: Any,
) -> "Axes":
    """Draw a density on the ordinary sphere on a globe, in units of the uniform density.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    view
        Direction from which the globe is seen; by default one from which a largest peak is well visible.
    bar
        Whether to add a colour bar, on which the uniform density is marked.
    **style
        Passed to ``imshow``, for example ``cmap`` or ``vmax``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the state does not live on the ordinary sphere or the view is no direction.
    """
    require_sphere(state.moments, "globe")
    ax = titled_axes(state.problem, state.label, (4.4, 3.8)) if ax is None else ax
    image = globe(ax, state.moments, view=view, **style)
    if bar:
        colour_bar(ax, image)
    return ax


@checked
def plot_mollweide(
    state: State, ax: "Axes | None" = None, *, centre: float | None = None, bar: bool = True, **style: Any
) -> "Axes":
    """Draw a density on the ordinary sphere as a map of equal areas, in units of the uniform density.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    centre
        Azimuth in the middle; by default such that the edge cuts through as little mass as possible.
    bar
        Whether to add a colour bar, on which the uniform density is marked.
    **style
        Passed to ``imshow``, for example ``cmap`` or ``vmax``.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the state does not live on the ordinary sphere.
    """
    require_sphere(state.moments, "mollweide")
    ax = titled_axes(state.problem, state.label, (6.4, 3.0)) if ax is None else ax
    image = mollweide(ax, state.moments, centre=centre, **style)
    if bar:
        colour_bar(ax, image)
    return ax


@checked
def globe(
    ax: "Axes",
    moments: Moments,
    *,
    view: Annotated[Sequence[float] | None, ITSELF] = None,
    **style: Any,
) -> "AxesImage":
    """Draw a density on S^2 on a globe; the image holds it over the uniform one."""
    from matplotlib.patches import Circle

    polar, azimuth, values = _survey(moments)
    eye = View.from_direction(tuple(_sensible_view(polar, azimuth, values)) if view is None else view)
    place_polar, place_azimuth, used, extent = globe_pixels(eye, _resolution(moments))
    data = _image(used, _at(moments, values, place_polar, place_azimuth))
    image = _paint(ax, data, (extent, extent), Circle((0.0, 0.0), 1.0), float(np.max(values)), style)
    _shade(ax, extent, data.shape[0], image)
    draw_graticule(ax, globe_graticule(eye))
    _draw_axis(ax, eye)
    bare(ax, 1.22, 1.22)
    return image


@checked
def mollweide(
    ax: "Axes",
    moments: Moments,
    *,
    centre: float | None = None,
    **style: Any,
) -> "AxesImage":
    """Draw a density on S^2 as a map; the image holds it over the uniform one."""
    from matplotlib.patches import Ellipse

    if centre is not None and not np.isfinite(float(centre)):
        raise InvalidInput(f"the centre of a map is a finite angle, not {centre}; try centre=0.0")
    _, azimuth, values = _survey(moments)
    middle = _quietest_edge(azimuth, values) + np.pi if centre is None else float(centre)
    # The nearest equal angle to 0.
    middle = float(np.angle(np.exp(1j * middle))) if centre is None else middle
    pixels = 2 * _resolution(moments)
    place_polar, place_azimuth, used, stretch = map_pixels(middle, pixels)
    data = _image(used, _at(moments, values, place_polar, place_azimuth))
    half = np.sqrt(2.0)
    rim = Ellipse((0.0, 0.0), 4.0 * half, 2.0 * half)
    image = _paint(ax, data, (2.0 * half * stretch, half * stretch), rim, float(np.max(values)), style)
    draw_graticule(ax, map_graticule(middle))
    _name_angles(ax, middle)
    bare(ax, 2.0 * half * 1.02, half * 1.04)
    return image


def colour_bar(ax: "Axes", image: "AxesImage") -> None:
    """Add a colour bar in units of the uniform density, which is marked."""
    figure = ax.get_figure()
    if figure is None:
        return
    bar = figure.colorbar(image, ax=ax, shrink=0.72, pad=0.02, fraction=0.05, aspect=18)
    bar.set_label(r"$\rho/\rho_0$", fontsize=11)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=9)
    bar.ax.axhline(1.0, color="black", linewidth=1.0, gid="uniform")


def require_sphere(moments: Moments, picture: str) -> None:
    """Refuse to show a density on another space than the ordinary sphere, where points have an azimuth."""
    if not moments.modes.takes_azimuth:
        what, where = "a globe" if picture == "globe" else "Mollweide's map", moments.modes.domain.in_words
        raise InvalidInput(
            f"{what} shows densities on the ordinary sphere, Sphere(3), not on {where}; use plot(), "
            "which draws the density against the angle"
        )


def _at(moments: Moments, surveyed: Floats, polar: Floats, azimuth: Floats) -> Floats:
    """Return the density over the uniform one at angles, interpolated from its survey if it has no axis."""
    from scipy.ndimage import map_coordinates

    if moments.has_axis:
        return moments.relative_density(polar)
    rings, longitudes = len(surveyed) - 1, surveyed.shape[1]
    # Beyond a pole the sphere goes on on the opposite side.
    opposite = np.roll(surveyed, longitudes // 2, axis=1)
    rows = np.concatenate([opposite[SPLINE_ENDS:0:-1], surveyed, opposite[-2 : -SPLINE_ENDS - 2 : -1]])
    around = np.pad(rows, ((0, 0), (SPLINE_ENDS, SPLINE_ENDS)), mode="wrap")
    row = SPLINE_ENDS + polar * (rings / np.pi)
    column = SPLINE_ENDS + np.mod(azimuth, 2.0 * np.pi) * (longitudes / (2.0 * np.pi))
    return np.asarray(map_coordinates(around, [row, column], order=5, mode="nearest"))


def _resolution(moments: Moments) -> int:
    return int(np.clip(PIXELS_A_DEGREE * moments.degree, FEWEST_PIXELS, MOST_PIXELS)) // 2 * 2


def _survey(moments: Moments) -> tuple[Floats, Floats, Floats]:
    """Return polar angles (n, 1), azimuths (k,) and densities (n, k) on a grid of the sphere, poles included."""
    steps = _steps(moments)
    polar = np.linspace(0.0, np.pi, steps + 1)
    azimuth = np.linspace(0.0, 2.0 * np.pi, 2 * steps, endpoint=False)
    return polar[:, np.newaxis], azimuth, moments.modes.density_on_rings(moments.cosine, moments.sine, polar, steps)


def _steps(moments: Moments) -> int:
    """Return how many steps from pole to pole a survey has: eight a wave of the last degree, up to the pixels."""
    degree = moments.degree
    return max(2 * (degree + 1), int(np.clip(4 * degree, FEWEST_STEPS, MOST_PIXELS)))


def _sensible_view(polar: Floats, azimuth: Floats, values: Floats) -> Floats:
    """Return the first of eight generic directions from which a largest peak is well visible.

    Where there is an axis, one looks down at it, from the side of the denser pole.
    """
    if np.max(np.ptp(values, axis=1)) <= FLAT * np.max(values):
        north, south = values[0, 0], values[-1, 0]
        return np.asarray(ALONG * np.array([1.0, 1.0, -1.0 if south > north + FLAT * np.max(values) else 1.0]))
    largest = values >= np.max(values) - FLAT * np.ptp(values)
    peaks = sphere_points(polar, azimuth)[largest]
    directions = GENERIC / np.linalg.norm(GENERIC) * np.array(TURNS)
    angles = np.arccos(np.clip(directions @ peaks.T, -1.0, 1.0))
    seen = np.any((angles >= SEEN[0]) & (angles <= SEEN[1]), axis=1)
    chosen = np.argmax(seen) if np.any(seen) else np.argmin(np.min(angles, axis=1))
    return np.asarray(directions[chosen])


def _quietest_edge(azimuth: Floats, values: Floats) -> float:
    """Return the azimuth along which there is least mass; of equal ones the first from pi on."""
    polar = np.linspace(0.0, np.pi, len(values))
    mass = np.sin(polar) @ values
    order = np.roll(np.arange(azimuth.size), -(azimuth.size // 2))
    near = mass[order] <= np.min(mass) + FLAT * np.max(mass)
    return float(azimuth[order[np.argmax(near)]])


def _image(used: NDArray[np.bool_], values: Floats) -> Floats:
    data = np.full(used.shape, np.nan)
    data[used] = values
    return data


def _paint(
    ax: "Axes", data: Floats, extent: tuple[float, float], rim: "Patch", top: float, style: dict[str, Any]
) -> "AxesImage":
    from matplotlib.colors import PowerNorm

    top = max(top, float(np.nanmax(data)), LEAST_TOP)
    settings: dict[str, Any] = {"cmap": COLOUR_MAP, "interpolation": "bicubic", "interpolation_stage": "data"}
    if "norm" not in style:
        bottom, top = style.pop("vmin", 0.0), style.pop("vmax", top)
        settings["norm"] = PowerNorm(0.5 if top > STEEP else 1.0, vmin=bottom, vmax=top)
    x, y = extent
    settings |= {"extent": (-x, x, -y, y), "origin": "lower", "zorder": 1.0} | style
    image = ax.imshow(data, **settings)
    rim.set(facecolor="none", edgecolor="0.25", linewidth=0.7, zorder=2.0)
    ax.add_patch(rim)
    image.set_clip_path(rim)
    return image


def _shade(ax: "Axes", extent: float, pixels: int, image: "AxesImage") -> None:
    """Shade the side of a globe away from the light by a dark blue of varying transparency."""
    x, y = np.meshgrid(centres(pixels, extent), centres(pixels, extent))
    height = np.sqrt(np.maximum(0.0, 1.0 - x**2 - y**2))
    light = LIGHT / np.linalg.norm(LIGHT)
    lit = np.clip(x * light[0] + y * light[1] + height * light[2], 0.0, 1.0)
    shade = np.zeros((pixels, pixels, 4))
    shade[..., :3], shade[..., 3] = DARK, SHADE * (1.0 - lit) ** 1.5
    shadow = ax.imshow(shade, extent=(-extent, extent, -extent, extent), origin="lower", zorder=1.5)
    shadow.set_clip_path(image.get_clip_path())


def draw_graticule(ax: "Axes", curves: list[Floats]) -> None:
    """Draw curves (n, 2) of a graticule thinly."""
    for curve in curves:
        ax.plot(*curve.T, color="black", alpha=0.22, linewidth=0.45, zorder=1.7, gid="graticule")


def _draw_axis(ax: "Axes", eye: View) -> None:
    """Draw the ends of the axis through the poles; the globe hides what is behind it."""
    from matplotlib.patheffects import withStroke

    for end in (1.0, -1.0):
        tip = eye.shown(np.array([0.0, 0.0, end]))
        height = 1.8 if tip[2] > 0 else 0.5
        line = np.stack([tip, 1.17 * tip])
        (drawn,) = ax.plot(line[:, 0], line[:, 1], color="0.15", linewidth=1.0, zorder=height, gid="axis")
        drawn.set_path_effects([withStroke(linewidth=2.2, foreground="white", alpha=0.6)])


def _name_angles(ax: "Axes", middle: float) -> None:
    for polar in PARALLELS:
        x, y = on_map(polar, np.asarray(-np.pi))
        text = f"{np.rad2deg(polar):.0f}°"
        ax.annotate(
            text, (float(x), float(y)), (-4, 0), textcoords="offset points", ha="right", va="center", fontsize=7
        )


def bare(ax: "Axes", width: float, height: float) -> None:
    """Leave the axes without a frame, with equal units and of half a width and a height."""
    ax.set_aspect("equal")
    ax.set_xlim(-width, width)
    ax.set_ylim(-height, height)
    ax.set_axis_off()
