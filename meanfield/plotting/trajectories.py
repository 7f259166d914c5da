"""Trajectories: the density over angle and time, free energy and order parameters over time, and a film.

On spheres the density is drawn over the uniform one; where it has no axis, as maps at some times.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked, shown
from ..errors import InvalidInput
from ..harmonics import Moments
from ..records.flow_map import FlowMap
from ..records.observables import (
    DISSIPATION,
    ENERGY_DISSIPATION,
    ENERGY_GAP,
    FREE_ENERGY_GAP,
    observable_named,
)
from ..records.trajectory import Trajectory
from .appearance import COLOURS, colour_number, plain_frame, require_degrees
from .captions import titled_axes
from .densities import drawn_values, frame_density, quarter_turns, uniform_level, uniform_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from PIL.Image import Image

Floats = NDArray[np.float64]

ANGLES = 361
# Densities that rise above uniform by more than this are drawn with more colours for their low values.
STEEP = 6.0
# Logarithmic colours end at so many uniform densities, since a collapsing one rises without bound.
BRIGHTEST = 1e3
# Where half of the times lie in so small a first part, the axis is logarithmic.
CROWDED = 0.15
FEWEST_ON_LOG = 8
FILM_SUFFIX = ".gif"
LONGEST_FILM = 600
FILM_RESOLUTION, FILM_SHADES = 110, 32
# Times at which a density without an axis is shown, and the parts of its axes that titles and angles take.
MAPS = 6
MAP_TITLE, MAP_ANGLES = 0.17, 0.06
# Degrees whose share of the density is below this make no difference to a colour.
INVISIBLE = 1e-3


@checked
def plot_trajectory(trajectory: Trajectory, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw the density over time and angle as a picture with a colour bar.

    A density on the ordinary sphere without an axis at the pole is drawn as maps of equal areas at some times. One
    that was followed along its characteristics is drawn from these, with logarithmic colours, since its moments do
    not resolve it.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    **style
        Passed to ``pcolormesh``, or for maps to ``imshow``, for example ``cmap``.

    Returns
    -------
    matplotlib.axes.Axes
    """
    from matplotlib.colors import LogNorm, PowerNorm

    ax = titled_axes(trajectory.problem) if ax is None else ax
    modes = trajectory.moments.modes
    if not trajectory.moments.has_axis:
        return _draw_maps(ax, trajectory, style)
    angle = angles_of(trajectory)
    settings: dict[str, Any] = {"cmap": "viridis", "shading": "gouraud", "rasterized": True} | style
    if trajectory.flow_map is None:
        shown = _shown(trajectory)
        times, density = trajectory.time[shown], densities(trajectory, angle)[shown]
        top, uniform = float(density.max()), uniform_value(modes)
        gamma = 0.5 if top > STEEP * uniform else 1.0
        settings.setdefault("norm", PowerNorm(gamma, vmin=0.0, vmax=max(top, 2.0 * uniform)))
    else:
        times, density = _along_characteristics(trajectory, trajectory.flow_map, angle)
        highest = min(float(density.max()), BRIGHTEST * uniform_value(modes))
        settings = {"norm": LogNorm(vmax=highest)} | settings | {"shading": "nearest"}
    if times.size == 1:
        # One time has no width; give it some.
        times, density = np.array([times[0], times[0] + 1.0]), np.repeat(density, 2, axis=0)
    mesh = ax.pcolormesh(times, angle, density.T, **settings)
    figure = ax.get_figure()
    if figure is not None:
        limit: Any = mesh.norm.vmax
        beyond = "max" if float(density.max()) > limit else "neither"
        bar = figure.colorbar(mesh, ax=ax, pad=0.02, fraction=0.06, extend=beyond)
        bar.set_label(r"$\rho(t, \theta)/\rho_0$" if modes.relative else r"$\rho(t, \theta)$", fontsize=11)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=9)
    ax.set_ylabel(r"$\theta$", fontsize=11)
    ax.set_ylim(*modes.upwards)
    ax.set_yticks(*quarter_turns(modes))
    _time_axis(ax, trajectory)
    ax.tick_params(labelsize=9)
    return ax


@checked
def plot_energy(
    trajectory: Trajectory, ax: "Axes | None" = None, *, dissipation: bool = False, **style: Any
) -> "Axes":
    """Draw the free energy above the uniform state, over the noise, or without noise the energy, against time.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    dissipation
        Whether to draw its rate of decrease as well, logarithmically, on an axis to the right.
    **style
        Passed to the line.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = titled_axes(trajectory.problem) if ax is None else ax
    shown = _shown(trajectory)
    settings: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.6} | style
    name = _energy(trajectory)[0]
    ax.plot(trajectory.time[shown], trajectory.observable(name)[shown], **settings)
    ax.set_ylabel(observable_named(name).symbol, fontsize=11)
    _time_axis(ax, trajectory)
    plain_frame(ax)
    if dissipation:
        _draw_dissipation(ax, trajectory, shown)
    return ax


@checked
def plot_moments(trajectory: Trajectory, ax: "Axes | None" = None, degrees: Sequence[int] = (1, 2, 3, 4)) -> "Axes":
    """Draw order parameters, the moduli of the moments, against time.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    degrees
        Degrees of the moments.

    Returns
    -------
    matplotlib.axes.Axes
    """
    require_degrees(degrees)
    ax = titled_axes(trajectory.problem) if ax is None else ax
    shown, letters = _shown(trajectory), trajectory.moments.modes.letters
    for number, degree in enumerate(degrees):
        values = trajectory.order_parameter(degree)[shown]
        name = f"${letters[1]} = {degree}$"
        ax.plot(trajectory.time[shown], values, color=colour_number(number), linewidth=1.6, label=name)
    ax.set_ylabel(f"$|{letters[0]}_{letters[1]}|$", fontsize=11)
    _time_axis(ax, trajectory)
    plain_frame(ax)
    ax.set_ylim(0.0, 1.02)
    # Above the axes it overlaps no curve.
    ax.legend(
        frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=6, handlelength=1.6,
        columnspacing=1.4,
    )  # fmt: skip
    return ax


@checked
def check_film(path: str | Path, force: bool = False) -> Path:
    """Check, before anything is computed, that a film could be written, and return its path.

    Raises
    ------
    InvalidInput
        If the suffix is not .gif or the file cannot be written there.
    """
    from ..export.files import check_file, checked_suffix
    from .files import require_matplotlib

    path = Path(path)
    checked_suffix(path, (FILM_SUFFIX,), "a format of a film")
    check_file(path, force)
    require_matplotlib()
    return path


@checked
def animate(
    trajectory: Trajectory,
    path: str | Path,
    *,
    force: bool = False,
    frames: int = 100,
    rate: float = 20.0,
) -> Path:
    """Write the density as a film, a GIF in an endless loop, and return its path.

    Parameters
    ----------
    frames
        At most so many of the recorded times are shown, spread evenly over them.
    rate
        Frames per second.

    Raises
    ------
    InvalidInput
        If the suffix is not .gif, or there are no or too many frames.
    ComputationFailed
        If the disk refuses; an existing file is unchanged.
    """
    from ..export.files import write_files

    path = check_film(path, force)
    if not trajectory.moments.has_axis:
        raise InvalidInput(
            "a film shows the density against one angle, and this one has no axis at the pole; draw it at some "
            "times with plot() (--plot)"
        )
    if not rate > 0.0:
        raise InvalidInput(f"a film has a positive number of frames a second, not {rate:g}; try rate=20")
    if not 1 <= frames <= LONGEST_FILM:
        raise InvalidInput(f"a film has from 1 to {LONGEST_FILM} frames, not {shown(frames)}")
    chosen = np.unique(np.linspace(0, len(trajectory) - 1, frames).round().astype(int))
    pictures = _pictures(trajectory, chosen)

    def write(temporary: Path) -> None:
        pictures[0].save(
            temporary, format="GIF", save_all=True, append_images=pictures[1:], duration=round(1000 / rate), loop=0
        )

    write_files({path: write}, force)
    return path


def densities(trajectory: Trajectory, angle: Floats) -> Floats:
    """Return the density at all times and angles, (T, A); on a sphere over the uniform one."""
    return drawn_values(trajectory.moments, trajectory.moments.modes, angle)


def _along_characteristics(trajectory: Trajectory, flow: FlowMap, angle: Floats) -> tuple[Floats, Floats]:
    """Return times (S,) and the density at them and at angles, (S, A); masked where it is not known."""
    shown = flow.time >= trajectory.time[_shown(trajectory)][0]
    per = trajectory.problem.domain.volume if trajectory.moments.modes.relative else 1.0
    values = np.array([flow.density(angle - flow.cluster, index) for index in np.flatnonzero(shown).tolist()])
    return flow.time[shown], np.ma.masked_invalid(per * values)


def angles_of(trajectory: Trajectory) -> Floats:
    """Return the angles at which densities are drawn: all, or on a sphere those from the north pole."""
    return np.linspace(*trajectory.moments.modes.span, ANGLES)


def _draw_maps(ax: "Axes", trajectory: Trajectory, style: dict[str, Any]) -> "Axes":
    """Draw maps at some times into the place of the axes, all with one scale of colours."""
    from .globe import colour_bar, mollweide

    chosen = np.unique(np.linspace(0, len(trajectory) - 1, MAPS).round().astype(int))
    moments = [_visible(trajectory.moments[index]) for index in chosen]
    if "norm" not in style:
        style = {"vmax": max(map(_highest, moments))} | style
    columns = min(2, chosen.size)
    rows = -(-chosen.size // columns)
    height, width = 1.0 / rows, (1.0 - MAP_ANGLES) / columns
    for number, (index, each) in enumerate(zip(chosen, moments, strict=True)):
        row, column = divmod(number, columns)
        place = (MAP_ANGLES + width * column, 1.0 - height * (row + 1), 0.97 * width, (1.0 - MAP_TITLE) * height)
        inset = ax.inset_axes(place)
        image = mollweide(inset, each, centre=0.0, **style)
        inset.set_title(f"$t = {trajectory.time[index]:.3g}$", fontsize=9, pad=2.0)
        for text in list(inset.texts) if column else []:
            # The angles stand beside the first column already.
            text.remove()
    ax.set_axis_off()
    colour_bar(ax, image)
    return ax


def _visible(moments: Moments) -> Moments:
    """Return moments without the highest degrees, which are too small to be seen."""
    lengths = moments.lengths
    shares = (2.0 * np.arange(lengths.size) + 1.0) * lengths
    return moments.truncated(int(np.flatnonzero(shares > INVISIBLE * shares.max())[-1]))


def _highest(moments: Moments) -> float:
    """Return the largest value of a density over the uniform one, on a grid that a map resolves, at least 2."""
    polar, azimuth = np.meshgrid(np.linspace(0.0, np.pi, 91), np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False))
    return max(2.0, float(moments.relative_density(polar, azimuth).max()))


def _pictures(trajectory: Trajectory, chosen: NDArray[np.int64]) -> "list[Image]":
    """Return the frames of a film; all but curve and clock is drawn once."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(5.6, 3.8), dpi=FILM_RESOLUTION, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    angle, modes = angles_of(trajectory), trajectory.moments.modes
    values = densities(trajectory, angle)[chosen]
    uniform_level(ax, modes)
    (line,) = ax.plot(angle, values[0], color=COLOURS[0], linewidth=1.8)
    frame_density(ax, modes)
    highest = max(float(values.max()), 1.5 * uniform_value(modes))
    ax.set_ylim(min(0.0, 1.05 * float(values.min())), 1.08 * highest)
    label = ax.set_title(_clock(trajectory, int(chosen[-1])), fontsize=10, loc="left")
    # Places are settled while the clock is there.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for artist in (line, label):
        artist.set_animated(True)
    canvas.draw()
    background, palette = canvas.copy_from_bbox(figure.bbox), _palette()
    pictures: list[Image.Image] = []
    for index, row in zip(chosen, values, strict=True):
        line.set_ydata(row)
        label.set_text(_clock(trajectory, int(index)))
        canvas.restore_region(background)
        ax.draw_artist(line)
        ax.draw_artist(label)
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3])
        pictures.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
    return pictures


def _palette() -> "Image":
    """Return the colours of a film: those of frame, curve and uniform level, each faded to white."""
    from matplotlib.colors import to_rgb
    from PIL import Image

    # So few shades of the light grey that none is taken for white.
    shades = {"black": FILM_SHADES, COLOURS[0]: FILM_SHADES, "0.65": FILM_SHADES // 4}
    ramps = [
        1.0 - np.linspace(0.0, 1.0, count)[:, None] * (1.0 - np.array(to_rgb(colour)))
        for colour, count in shades.items()
    ]
    palette = Image.new("P", (1, 1))
    palette.putpalette((255.0 * np.concatenate(ramps)).round().astype(int).ravel().tolist())
    return palette


def _clock(trajectory: Trajectory, index: int) -> str:
    gap = trajectory.observables.get(FREE_ENERGY_GAP, trajectory.minimum * np.nan)[index]
    energy = "" if np.isnan(gap) else f"(F \N{MINUS SIGN} F\N{SUBSCRIPT ZERO})/D = {gap:.4f}"
    return f"t = {trajectory.time[index]:.4g}".ljust(24) + energy.replace("-", "\N{MINUS SIGN}")


def _energy(trajectory: Trajectory) -> tuple[str, str]:
    """Return the names of the energy of a trajectory and of its dissipation."""
    without_noise = ENERGY_GAP in trajectory.observables
    return (ENERGY_GAP, ENERGY_DISSIPATION) if without_noise else (FREE_ENERGY_GAP, DISSIPATION)


def _draw_dissipation(ax: "Axes", trajectory: Trajectory, shown: slice) -> None:
    right = ax.twinx()
    values = trajectory.observable(_energy(trajectory)[1])[shown]
    known = np.where(values > 0.0, values, np.nan)
    right.plot(trajectory.time[shown], known, color=COLOURS[1], linewidth=1.1)
    right.set_yscale("log")
    right.set_ylabel(observable_named(_energy(trajectory)[1]).symbol, fontsize=11, color=COLOURS[1])
    right.tick_params(labelsize=9, colors=COLOURS[1])
    right.spines[["top", "left"]].set_visible(False)


def _logarithmic(trajectory: Trajectory) -> bool:
    """Return whether the times are denser at the beginning, as those at equal ratios are."""
    times = trajectory.time
    return times.size >= FEWEST_ON_LOG and bool(times[times.size // 2] < CROWDED * times[-1])


def _shown(trajectory: Trajectory) -> slice:
    """Return the times that can be drawn: on a logarithmic axis the time 0 cannot."""
    return slice(1 if _logarithmic(trajectory) and trajectory.time[0] == 0.0 else 0, None)


def _time_axis(ax: "Axes", trajectory: Trajectory) -> None:
    first, last = float(trajectory.time[_shown(trajectory)][0]), float(trajectory.time[-1])
    if _logarithmic(trajectory):
        ax.set_xscale("log")
    ax.set_xlabel("$t$", fontsize=11)
    ax.set_xlim(first, last if last > first else first + 1.0)
