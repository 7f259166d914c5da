"""Records as pictures in files, as the commands write them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..comparisons import Comparison
from ..diagrams import Diagram
from ..ensembles import Ensemble
from ..errors import InvalidInput
from ..trajectories import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAJECTORY_QUANTITIES = ("density", "energy", "moments")
WIDE, SQUARE = (9.6, 3.8), (6.0, 4.0)


def draw(diagram: Diagram, target: str, y: str = "amplitude", panels: bool = False, force: bool = False) -> Path:
    """Draw a diagram into a file, one quantity or the four panels."""
    figure = diagram.plot_panels() if panels else _new(SQUARE)
    if not panels:
        diagram.plot(y, figure.subplots())
    return _saved(figure, target, force, diagram.provenance)


def draw_trajectory(trajectory: Trajectory, target: str, quantity: str = "density", force: bool = False) -> Path:
    """Draw a trajectory into a file: its density over time and angle, its energy or its moments.

    Raises
    ------
    InvalidInput
        If the quantity is none of these.
    """
    if quantity not in TRAJECTORY_QUANTITIES:
        raise InvalidInput(
            f"cannot draw {quantity!r} of a trajectory; give one of {', '.join(TRAJECTORY_QUANTITIES)}"
        )
    figure = _new(SQUARE)
    ax = figure.subplots()
    if quantity == "density":
        trajectory.plot(ax)
    elif quantity == "energy":
        trajectory.plot_energy(ax, dissipation=True)
    else:
        trajectory.plot_moments(ax)
    return _saved(figure, target, force, trajectory.provenance)


def draw_ensemble(ensemble: Ensemble, target: str, force: bool = False) -> Path:
    """Draw an ensemble into a file: the particles at the end and the moments over time."""
    figure = _new(WIDE)
    left, right = figure.subplots(1, 2)
    ensemble.plot(left)
    ensemble.plot_moments(right)
    return _saved(figure, target, force, ensemble.provenance)


def draw_record(record: Any, target: str, y: str | None = None, panels: bool = False, force: bool = False) -> Path:
    """Draw whatever record it is into a file.

    Raises
    ------
    InvalidInput
        If the quantity or the panels are not of this record.
    """
    if isinstance(record, Diagram):
        return draw(record, target, y or "amplitude", panels, force)
    if panels:
        raise InvalidInput("--panels belongs to diagrams; leave it out for this file")
    if isinstance(record, Trajectory):
        return draw_trajectory(record, target, y or "density", force)
    if y is not None:
        raise InvalidInput("--y belongs to diagrams and trajectories; leave it out for this file")
    if isinstance(record, Ensemble):
        return draw_ensemble(record, target, force)
    comparison: Comparison = record
    return _saved(comparison.plot(), target, force, comparison.provenance)


def _new(size: tuple[float, float]) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def _saved(figure: "Figure", target: str, force: bool, provenance: dict[str, Any]) -> Path:
    from ..plotting import save_figure

    return save_figure(figure, target, force, provenance)
