"""Several densities on the ordinary sphere side by side: the states found, or where branches end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import ITSELF, checked
from ..base import Row
from ..errors import InvalidInput
from ..harmonics import Moments
from ..records.branch import Branch
from ..records.diagram import Diagram
from ..records.state import State
from .globe import colour_bar, globe, mollweide, require_sphere
from .quantities import abscissa, coupling_symbol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
Picture = Literal["globe", "mollweide"]

PICTURES: tuple[Picture, ...] = ("globe", "mollweide")
COLUMNS = {"globe": 3, "mollweide": 2}
SIZES = {"globe": (3.1, 2.7), "mollweide": (4.9, 2.4)}


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Shown(Row):
    """One density of a gallery, with the label above it."""

    title: str
    moments: Moments


@checked
def states_shown(states: Sequence[State]) -> list[Shown]:
    """Return states with their labels."""
    return [Shown(state.label, state.moments) for state in states]


@checked
def branches_shown(diagram: Diagram) -> list[Shown]:
    """Return the last known density of each branch, without the uniform one if there are others."""
    clustered = [branch for branch in diagram.branches if branch.symmetry != 0]
    shown = [_last_of(diagram, branch) for branch in clustered or diagram.branches]
    return [each for each in shown if each is not None]


@checked
def plot_gallery(
    shown: Sequence[Shown], picture: Picture = "globe", view: Annotated[Sequence[float] | None, ITSELF] = None
) -> "Figure":
    """Draw densities on the ordinary sphere side by side, each with its own scale.

    Parameters
    ----------
    picture
        ``globe`` or ``mollweide``.
    view
        Direction from which globes are seen, for all the same; by default for each a sensible one.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidInput
        If there is no density to draw or one is not on the ordinary sphere.
    """
    from matplotlib.figure import Figure

    if not shown:
        raise InvalidInput("there is no density to draw; the file has no branch with known moments")
    for each in shown:
        require_sphere(each.moments, picture)
    columns = min(COLUMNS[picture], len(shown))
    rows = math.ceil(len(shown) / columns)
    width, height = SIZES[picture]
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for ax in axes:
        ax.set_axis_off()
    for ax, each in zip(axes, shown, strict=False):
        if picture == "globe":
            image = globe(ax, each.moments, view=view)
        else:
            image = mollweide(ax, each.moments)
        colour_bar(ax, image)
        ax.set_title(each.title, fontsize=9)
    return figure


def _last_of(diagram: Diagram, branch: Branch) -> Shown | None:
    known = np.flatnonzero(np.all(np.isfinite(branch.cosine), axis=1) & np.all(np.isfinite(branch.sine), axis=1))
    if known.size == 0:
        return None
    point = int(known[-1])
    title = f"{branch.label}, {coupling_symbol(diagram)} = {abscissa(diagram, branch)[point]:.4g}"
    return Shown(title, branch.moments[point])
