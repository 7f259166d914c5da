"""Pictures of diagrams and states: stable solid, unstable dashed, not counted dotted.

Everything is drawn on matplotlib's own objects, without pyplot and without changing its settings, so that
figures compose with the user's.
"""

from .appearance import COLOURS, UNIFORM_COLOUR, style_handles
from .captions import caption, entitle_figure
from .characteristics import plot_characteristics, plot_tail
from .clouds import plot_cloud
from .comparisons import plot_compared_moments, plot_comparison, plot_distances
from .contractions import plot_contraction
from .curves import plot_diagram
from .densities import plot_state
from .ensembles import plot_ensemble, plot_ensemble_moments
from .files import check_figure, save_figure
from .gallery import PICTURES, Picture, Shown, branches_shown, plot_gallery, states_shown
from .globe import globe, mollweide, plot_globe, plot_mollweide
from .panels import plot_panels
from .phase_diagrams import plot_curve, plot_phase_diagram
from .quantities import coupling_symbol, critical_mode
from .relaxations import plot_relaxation
from .sweeps import plot_sweep
from .trajectories import animate, check_film, plot_energy, plot_moments, plot_trajectory

__all__ = [
    "COLOURS",
    "PICTURES",
    "UNIFORM_COLOUR",
    "Picture",
    "Shown",
    "animate",
    "branches_shown",
    "caption",
    "check_figure",
    "check_film",
    "coupling_symbol",
    "critical_mode",
    "entitle_figure",
    "globe",
    "mollweide",
    "plot_characteristics",
    "plot_cloud",
    "plot_compared_moments",
    "plot_comparison",
    "plot_contraction",
    "plot_curve",
    "plot_diagram",
    "plot_distances",
    "plot_energy",
    "plot_ensemble",
    "plot_ensemble_moments",
    "plot_gallery",
    "plot_globe",
    "plot_mollweide",
    "plot_moments",
    "plot_panels",
    "plot_phase_diagram",
    "plot_relaxation",
    "plot_state",
    "plot_sweep",
    "plot_tail",
    "plot_trajectory",
    "save_figure",
    "states_shown",
    "style_handles",
]
