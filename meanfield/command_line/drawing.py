"""Records as pictures in files, as the commands write them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..equations import Equation
from ..errors import InvalidInput
from ..records.comparison import Comparison
from ..records.contraction import Contraction
from ..records.curves import Curve
from ..records.diagram import Diagram
from ..records.ensemble import Ensemble
from ..records.phase_diagram import PhaseDiagram
from ..records.state import State
from ..records.sweep import Sweep
from ..records.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..plotting import Picture

TRAJECTORY_QUANTITIES = ("density", "energy", "moments", "characteristics", "tail")
WIDE, SQUARE, PLANE = (9.6, 3.8), (6.0, 4.0), (6.4, 4.6)


def draw(diagram: Diagram, target: str, y: str | None = None, panels: bool = False, force: bool = False) -> Path:
    """Draw a diagram into a file, one quantity or the four panels."""
    figure = diagram.plot_panels() if panels else _new(SQUARE)
    if not panels:
        diagram.plot(y, figure.subplots())
    return _saved(figure, target, force, diagram.provenance)


def draw_states(states: Sequence[State], target: str, provenance: dict[str, Any], force: bool = False) -> Path:
    """Draw states into a file: their densities against the angle, or on globes if one has no axis."""
    from ..plotting import UNIFORM_COLOUR, caption, entitle_figure, plot_gallery, states_shown
    from ..plotting.appearance import colour_number

    if not all(state.moments.has_axis for state in states):
        shown = [state for state in states if state.symmetry != 0] or states
        gallery = plot_gallery(states_shown(shown))
        entitle_figure(gallery, caption(states[0].problem))
        return _saved(gallery, target, force, provenance)
    figure = _new(SQUARE, states[0].problem)
    ax = figure.subplots()
    for index, state in enumerate(states):
        colour = UNIFORM_COLOUR if state.symmetry == 0 else colour_number(index)
        state.plot(ax, color=colour, linestyle="-" if state.stable else "--")
    ax.legend(frameon=False, fontsize=8)
    return _saved(figure, target, force, provenance)


def draw_sphere(
    record: Any, target: str, picture: "Picture", view: Sequence[float] | None = None, force: bool = False
) -> Path:
    """Draw densities on the ordinary sphere into a file, on globes or maps.

    Of a diagram the last density of each branch, of a trajectory the last of all.

    Raises
    ------
    InvalidInput
        If the record has no densities on the ordinary sphere.
    """
    from ..plotting import Shown, branches_shown, caption, entitle_figure, plot_gallery

    if isinstance(record, Diagram):
        shown = branches_shown(record)
    elif isinstance(record, Trajectory):
        shown = [Shown(f"$t = {record.time[-1]:.4g}$", record.moments[-1])]
    else:
        raise InvalidInput(f"--{picture} belongs to diagrams and trajectories; leave it out for this file")
    gallery = plot_gallery(shown, picture, view)
    entitle_figure(gallery, caption(record.problem))
    return _saved(gallery, target, force, record.provenance)


def draw_trajectory(trajectory: Trajectory, target: str, quantity: str = "density", force: bool = False) -> Path:
    """Draw a trajectory into a file: its density over time and angle, its energy, its moments, or characteristics.

    Raises
    ------
    InvalidInput
        If the quantity is none of these, or the trajectory has no characteristics.
    """
    if quantity not in TRAJECTORY_QUANTITIES:
        raise InvalidInput(
            f"cannot draw {quantity!r} of a trajectory; give one of {', '.join(TRAJECTORY_QUANTITIES)}"
        )
    figure = _new(SQUARE, trajectory.problem)
    ax = figure.subplots()
    if quantity == "density":
        trajectory.plot(ax)
    elif quantity == "energy":
        trajectory.plot_energy(ax, dissipation=True)
    else:
        getattr(trajectory, f"plot_{quantity}")(ax)
    return _saved(figure, target, force, trajectory.provenance)


def draw_ensemble(ensemble: Ensemble, target: str, force: bool = False) -> Path:
    """Draw an ensemble into a file: the particles at the end and the moments over time."""
    figure = _new(WIDE, ensemble.problem)
    left, right = figure.subplots(1, 2)
    ensemble.plot(left)
    ensemble.plot_moments(right)
    return _saved(figure, target, force, ensemble.provenance)


def draw_plane(record: PhaseDiagram | Curve, target: str, force: bool = False) -> Path:
    """Draw a phase diagram or a curve of special points into a file."""
    figure = _new(PLANE)
    record.plot(figure.subplots())
    return _saved(figure, target, force, record.provenance)


def draw_sweep(sweep: Sweep, target: str, y: str | None = None, force: bool = False) -> Path:
    """Draw a sweep into a file, what is critical or the quantity of a name."""
    from ..plotting import entitle_figure

    figure = _new(SQUARE)
    entitle_figure(figure, sweep.title)
    sweep.plot(y, figure.subplots())
    return _saved(figure, target, force, sweep.provenance)


def draw_record(record: Any, target: str, y: str | None = None, panels: bool = False, force: bool = False) -> Path:
    """Draw a diagram, trajectory, ensemble, comparison, contraction, sweep, phase diagram or curve into a file.

    Raises
    ------
    InvalidInput
        If the quantity or the panels are not of this record.
    """
    if isinstance(record, Diagram):
        return draw(record, target, y, panels, force)
    if panels:
        raise InvalidInput("--panels belongs to diagrams; leave it out for this file")
    if isinstance(record, Trajectory):
        return draw_trajectory(record, target, y or "density", force)
    if isinstance(record, Sweep):
        return draw_sweep(record, target, y, force)
    if y is not None:
        raise InvalidInput("--y belongs to diagrams, trajectories and sweeps; leave it out for this file")
    if isinstance(record, Ensemble):
        return draw_ensemble(record, target, force)
    if isinstance(record, PhaseDiagram | Curve):
        return draw_plane(record, target, force)
    if isinstance(record, Contraction):
        figure = _new(SQUARE, record.problem)
        record.plot(figure.subplots())
        return _saved(figure, target, force, record.provenance)
    comparison: Comparison = record
    return _saved(comparison.plot(), target, force, comparison.provenance)


def _new(size: tuple[float, float], problem: Equation | None = None) -> "Figure":
    """Return a new figure of a size, with a problem as title if one is given."""
    from matplotlib.figure import Figure

    from ..plotting import caption, entitle_figure

    figure = Figure(figsize=size, layout="constrained")
    if problem is not None:
        entitle_figure(figure, caption(problem))
    return figure


def _saved(figure: "Figure", target: str, force: bool, provenance: dict[str, Any]) -> Path:
    from ..plotting import save_figure

    return save_figure(figure, target, force, provenance)
