"""Densities without noise along their characteristics: paths of labelled points, and the mass that is in flight."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked, shown
from ..errors import InvalidInput
from ..harmonics import modes_of
from ..records.flow_map import FlowMap
from ..records.trajectory import Trajectory
from ..theory.in_flight import flight_profile
from .appearance import COLOURS, UNIFORM_COLOUR, plain_frame
from .captions import titled_axes
from .densities import quarter_turns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

# Entries and characters of a row of a legend.
ROW, LINE = 6, 90
PATHS, MOST_PATHS = 48, 1000
TIMES = 5
# Points of a curve over the angle, which come closer to the cluster by equal ratios down to this distance.
POINTS, CLOSEST = 240, 3e-3
# Below this order parameter a density is not near a point, and the profile says nothing about it.
COLLAPSED = 0.9
# The separatrix is followed as long as its cosine with the cluster is below this, 0.1 from the antipode.
OPPOSITE = -0.995


@checked
def plot_characteristics(
    trajectory: Trajectory, ax: "Axes | None" = None, paths: int = PATHS, **style: Any
) -> "Axes":
    """Draw the paths of labelled points against time, with the separatrix and the point that they contract to.

    These two are drawn of densities that have collapsed, to an order parameter above 0.9, and without a confinement
    or a phase lag or frequency, under which clusters move on.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    paths
        How many points are drawn: half of them at equal distances at the first time, and those that pass a right
        angle from the cluster at equally spaced times.
    **style
        Passed to the lines of the paths.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the trajectory has no flow map, or the paths are too few or too many.
    """
    flow = _require_flow(trajectory)
    if not 2 <= paths <= MOST_PATHS:
        raise InvalidInput(f"one can draw from 2 to {MOST_PATHS} paths, not {shown(paths)}; try paths={PATHS}")
    ax = titled_axes(trajectory.problem) if ax is None else ax
    angles = flow.from_cluster()[1]
    chosen = _chosen(angles, paths)
    drawn = angles if flow.full_turn else -angles
    settings: dict[str, Any] = {"color": COLOURS[0], "linewidth": 0.6, "alpha": 0.75} | style
    for number in chosen:
        ax.plot(flow.time, drawn[:, number], **settings)
    ax.plot([], [], label="characteristics", **settings)
    if _has_limit(trajectory):
        _draw_separatrix(ax, flow, drawn[:, 0])
        ax.axhline(0.0, color=UNIFORM_COLOUR, linewidth=1.0, linestyle=(0, (4.0, 2.0)), label="limit point")
    _angle_axis(ax.yaxis, trajectory)
    ax.set_xlabel("$t$", fontsize=11)
    ax.set_xlim(float(flow.time[0]), float(flow.time[-1]))
    ax.margins(y=0.03)
    plain_frame(ax)
    _legend_above(ax)
    return ax


@checked
def plot_tail(
    trajectory: Trajectory,
    ax: "Axes | None" = None,
    indices: Sequence[int] | None = None,
    *,
    profile: bool | None = None,
    **style: Any,
) -> "Axes":
    """Draw a collapsing density at some times, logarithmically, with the profile of the mass in flight.

    The profile, :func:`~meanfield.theory.flight_profile`, is multiplied by the density opposite to the cluster,
    and drawn at the later half of the times. It is that of densities which are positive at the separatrix label.

    Parameters
    ----------
    ax
        Axes to draw on; a new figure by default.
    indices
        Which of the times of the flow map; by default the first, and others at equal distances.
    profile
        Whether to draw the profile; by default if there is one, and else the legend says that there is none. It
        needs a density that has collapsed, of an order parameter above 0.9, and an equation that has one.
    **style
        Passed to the lines of the density.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InvalidInput
        If the trajectory has no flow map, or not one at these times, or no profile although it is asked for.
    """
    from matplotlib import colormaps

    flow = _require_flow(trajectory)
    if indices is None:
        indices = np.unique(np.linspace(0, flow.time.size - 1, TIMES).round().astype(int)).tolist()
    if not indices:
        raise InvalidInput("there is no time to draw the density at; give some of the flow map, as indices=(0, -1)")
    angle = _angles(flow)
    per = trajectory.problem.domain.volume if trajectory.moments.modes.relative else 1.0
    densities = [per * flow.density(angle, index) for index in indices]
    shape = None if profile is False else _profile(trajectory, angle, bool(profile))
    ax = titled_axes(trajectory.problem) if ax is None else ax
    colours = colormaps["viridis"](np.linspace(0.0, 0.85, max(2, len(indices))))
    dashed: dict[str, Any] = {"color": UNIFORM_COLOUR, "linewidth": 1.0, "linestyle": (0, (4.0, 2.0))}
    profiles: list[Line2D] = []
    for number, (index, values, colour) in enumerate(zip(indices, densities, colours, strict=False)):
        name = f"$t = {flow.time[index]:.4g}$" + ("" if np.any(values > 0.0) else ": not known")
        ax.plot(angle, values, **({"color": colour, "linewidth": 1.8, "label": name} | style))
        if shape is not None and 2 * number >= len(indices) and values[-1] > 0.0:
            profiles += ax.plot(angle, values[-1] * shape, **dashed)
    if profiles:
        profiles[-1].set_label("profile $g$")
    elif profile is None:
        ax.plot([], [], linestyle="none", label="no profile")
    ax.set_yscale("log")
    _angle_axis(ax.xaxis, trajectory)
    ax.set_xlim(-np.pi if flow.full_turn else 0.0, np.pi)
    ax.set_ylabel(r"$\rho(t, \theta)/\rho_0$" if per != 1.0 else r"$\rho(t, \theta)$", fontsize=11)
    plain_frame(ax)
    _legend_above(ax)
    return ax


def _profile(trajectory: Trajectory, angle: Floats, wanted: bool) -> Floats | None:
    """Return the profile of the mass in flight, or None if there is none and it is not wanted by all means."""
    order = float(trajectory.order_parameter()[-1])
    try:
        if not _has_collapsed(trajectory):
            raise InvalidInput(
                f"the density has not collapsed, its order parameter being {order:.3g} at the last time, so there "
                "is no profile of mass in flight; take a later final time, or leave profile=True out"
            )
        return np.asarray(flight_profile(trajectory.problem, angle), dtype=np.float64)
    except InvalidInput:
        if wanted:
            raise
    return None


def _draw_separatrix(ax: "Axes", flow: FlowMap, angles: Floats) -> None:
    """Draw the path of the point nearest to the antipode, as long as it stays there.

    It leaves in the end, where the mass beside it is below all errors.
    """
    until = np.flatnonzero(np.cos(angles) < OPPOSITE).max(initial=-1) + 1
    settings: dict[str, Any] = {"color": COLOURS[1], "linewidth": 1.8}
    ax.plot(flow.time[:until], angles[:until], label="separatrix" if until else None, **settings)
    if flow.full_turn:
        ax.plot(flow.time[:until], angles[:until] + 2.0 * np.pi, **settings)


def _require_flow(trajectory: Trajectory) -> FlowMap:
    if trajectory.flow_map is None:
        raise InvalidInput(
            "this trajectory has no characteristics; they are kept by evolve(..., method=Characteristics()) "
            "(meanfield evolve --noise 0 --method characteristics)"
        )
    return trajectory.flow_map


def _has_collapsed(trajectory: Trajectory) -> bool:
    return bool(trajectory.order_parameter()[-1] > COLLAPSED)


def _has_limit(trajectory: Trajectory) -> bool:
    """Return whether a density has collapsed to a cluster that stays where it is."""
    problem = trajectory.problem
    return _has_collapsed(trajectory) and problem.confinement is None and not problem.velocity.rotates


def _chosen(angles: Floats, paths: int) -> NDArray[np.int64]:
    """Return the indices of points at equal distances at first, and at a right angle at equally spaced times."""
    times, count = angles.shape
    first = np.searchsorted(angles[0], np.linspace(angles[0, 0], angles[0, -1], paths // 2 + 2)[1:-1])
    later = np.unique(np.linspace(0, times - 1, paths // 4 + 1).round().astype(int))
    passing = [np.searchsorted(angles[index], (-0.5 * np.pi, 0.5 * np.pi)) for index in later]
    found = np.concatenate([first, *passing])
    return np.unique(found[(found > 0) & (found < count)])


def _angles(flow: FlowMap) -> Floats:
    """Return angles from the cluster, increasing to pi, at which a density is drawn."""
    one_side = np.geomspace(CLOSEST, np.pi, POINTS)
    return np.concatenate([-one_side[::-1], one_side]) if flow.full_turn else one_side


def _angle_axis(axis: Any, trajectory: Trajectory) -> None:
    """Label the axis of angles from the cluster."""
    modes = modes_of(trajectory.problem.domain)
    axis.set_ticks(*quarter_turns(modes))
    centre = "cluster" if _has_limit(trajectory) else "mean at the end"
    axis.set_label_text(f"angle from the {centre}", fontsize=11)


def _legend_above(ax: "Axes") -> None:
    """Put the legend above the axes, where it overlaps no curve."""
    longest = max(len(text) for text in ax.get_legend_handles_labels()[1])
    ax.legend(
        frameon=False, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=1.6,
        columnspacing=1.2, ncols=ROW if longest <= LINE // ROW else ROW // 2,
    )  # fmt: skip
