"""Evolution in time: initial densities, integrators, and the trajectory they leave."""

from .initial import Initial as Initial
from .initial import moments_of as moments_of
from .starts import Bumps as Bumps
from .starts import PerturbedUniform as PerturbedUniform
from .starts import RandomPerturbation as RandomPerturbation
from .starts import Samples as Samples
from .starts import VonMises as VonMises
