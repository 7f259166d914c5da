"""The verbs: stationary states, bifurcation diagrams, evolution, contraction rates and particles.

Names are loaded on first use, so that a command answers ``--help`` before any solver is loaded.
"""

from typing import TYPE_CHECKING

from meanfield.lazy import on_first_use

if TYPE_CHECKING:
    from .branches.arclength import Arclength as Arclength
    from .curves import curve as curve
    from .diagram import bifurcation_diagram as bifurcation_diagram
    from .ensemble import simulate as simulate
    from .evolution import ETDRK4 as ETDRK4
    from .evolution import LSODA as LSODA
    from .evolution import Bumps as Bumps
    from .evolution import Characteristics as Characteristics
    from .evolution import Mixture as Mixture
    from .evolution import PerturbedUniform as PerturbedUniform
    from .evolution import RandomPerturbation as RandomPerturbation
    from .evolution import Samples as Samples
    from .evolution import VonMises as VonMises
    from .evolution import WatanabeStrogatz as WatanabeStrogatz
    from .evolution import Watson as Watson
    from .evolution import initial_from as initial_from
    from .execution.arguments import require_on_failure as require_on_failure
    from .execution.checkpoints import Checkpoint as Checkpoint
    from .execution.watching import Watch as Watch
    from .execution.watching import unwatched as unwatched
    from .particles import EulerMaruyama as EulerMaruyama
    from .particles import LeimkuhlerMatthews as LeimkuhlerMatthews
    from .particles import MomentDrift as MomentDrift
    from .particles import PairDrift as PairDrift
    from .particles import RungeKutta4 as RungeKutta4
    from .particles import WeakSecondOrder as WeakSecondOrder
    from .particles.schemes import schemes as schemes
    from .particles.stepping import Scheme as Scheme
    from .phase import phase_diagram as phase_diagram
    from .relaxation import contraction_rate as contraction_rate
    from .spectra import spectral_gap as spectral_gap
    from .spectra import spectrum as spectrum
    from .stationary import stationary_states as stationary_states
    from .sweeping import sweep as sweep
    from .trajectory import evolve as evolve
    from .trajectory import moments_of as moments_of

_HOMES = {
    "Arclength": "branches.arclength",
    "Bumps": "evolution",
    "Characteristics": "evolution",
    "Checkpoint": "execution.checkpoints",
    "ETDRK4": "evolution",
    "EulerMaruyama": "particles",
    "LSODA": "evolution",
    "LeimkuhlerMatthews": "particles",
    "Mixture": "evolution",
    "MomentDrift": "particles",
    "PairDrift": "particles",
    "PerturbedUniform": "evolution",
    "RandomPerturbation": "evolution",
    "RungeKutta4": "particles",
    "Samples": "evolution",
    "Scheme": "particles.stepping",
    "VonMises": "evolution",
    "Watch": "execution.watching",
    "WatanabeStrogatz": "evolution",
    "Watson": "evolution",
    "WeakSecondOrder": "particles",
    "bifurcation_diagram": "diagram",
    "contraction_rate": "relaxation",
    "curve": "curves",
    "evolve": "trajectory",
    "initial_from": "evolution",
    "moments_of": "trajectory",
    "phase_diagram": "phase",
    "require_on_failure": "execution.arguments",
    "schemes": "particles.schemes",
    "simulate": "ensemble",
    "spectral_gap": "spectra",
    "spectrum": "spectra",
    "stationary_states": "stationary",
    "sweep": "sweeping",
    "unwatched": "execution.watching",
}

# What users call; the other names are for the packages above.
__all__ = [
    "ETDRK4",
    "LSODA",
    "Arclength",
    "Bumps",
    "Characteristics",
    "Checkpoint",
    "EulerMaruyama",
    "LeimkuhlerMatthews",
    "Mixture",
    "MomentDrift",
    "PairDrift",
    "PerturbedUniform",
    "RandomPerturbation",
    "RungeKutta4",
    "Samples",
    "VonMises",
    "WatanabeStrogatz",
    "Watson",
    "WeakSecondOrder",
    "bifurcation_diagram",
    "contraction_rate",
    "curve",
    "evolve",
    "initial_from",
    "moments_of",
    "phase_diagram",
    "simulate",
    "spectral_gap",
    "spectrum",
    "stationary_states",
    "sweep",
]

# Generators of the version before.
_FORMER = {"explore": "bifurcation_diagram", "simulation": "simulate"}

__getattr__, __dir__ = on_first_use(globals(), _HOMES, _FORMER)
