"""The verbs: stationary states, bifurcation diagrams, evolution, contraction rates and particles."""

from .branches.continuation import Arclength as Arclength
from .checkpoints import Checkpoint as Checkpoint
from .circle.spectra import spectral_gap as spectral_gap
from .circle.spectra import spectrum as spectrum
from .diagram import Progress as Progress
from .diagram import bifurcation_diagram as bifurcation_diagram
from .diagram import explore as explore
from .evolution import ETDRK4 as ETDRK4
from .evolution import LSODA as LSODA
from .evolution import Bumps as Bumps
from .evolution import PerturbedUniform as PerturbedUniform
from .evolution import RandomPerturbation as RandomPerturbation
from .evolution import Samples as Samples
from .evolution import VonMises as VonMises
from .evolution import evolve as evolve
from .evolution import initial_from as initial_from
from .evolution import moments_of as moments_of
from .particles import Advance as Advance
from .particles import EulerMaruyama as EulerMaruyama
from .particles import MomentDrift as MomentDrift
from .particles import PairDrift as PairDrift
from .particles import WeakSecondOrder as WeakSecondOrder
from .particles import simulate as simulate
from .particles import simulation as simulation
from .relaxation import contraction_rate as contraction_rate
from .stationary import stationary_states as stationary_states
