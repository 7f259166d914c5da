"""Pictures of diagrams and states: stable solid, unstable dashed, not counted dotted.

Everything is drawn on matplotlib's own objects, without pyplot and without changing its settings, so that
figures compose with the user's.
"""

from .appearance import COLOURS, UNIFORM_COLOUR
from .comparisons import plot_compared_moments, plot_comparison, plot_distances
from .curves import plot_diagram
from .densities import plot_state
from .ensembles import plot_ensemble, plot_ensemble_moments
from .files import check_figure, save_figure
from .panels import plot_panels
from .quantities import coupling_symbol, critical_mode
from .relaxations import plot_relaxation

__all__ = [
    "COLOURS",
    "UNIFORM_COLOUR",
    "check_figure",
    "coupling_symbol",
    "critical_mode",
    "plot_compared_moments",
    "plot_comparison",
    "plot_diagram",
    "plot_distances",
    "plot_ensemble",
    "plot_ensemble_moments",
    "plot_panels",
    "plot_relaxation",
    "plot_state",
    "save_figure",
]
