"""Evolution in time: initial densities, integrators, and trajectories."""

from meanfield.lazy import moved

from .characteristics import Characteristics as Characteristics
from .described import initial_from as initial_from
from .exponential import ETDRK4 as ETDRK4
from .initial import Initial as Initial
from .multistep import LSODA as LSODA
from .running import Evolution as Evolution
from .running import Frame as Frame
from .starts import Bumps as Bumps
from .starts import Mixture as Mixture
from .starts import PerturbedUniform as PerturbedUniform
from .starts import RandomPerturbation as RandomPerturbation
from .starts import Samples as Samples
from .starts import VonMises as VonMises
from .starts import Watson as Watson
from .watanabe_strogatz import WatanabeStrogatz as WatanabeStrogatz

__getattr__ = moved(__name__, {"evolve": "solvers", "moments_of": "solvers"})
