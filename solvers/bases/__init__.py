"""Discretisations of the circle and the spheres: modes, transforms, quadrature and the one rule for resolution."""

from .base import EPS as EPS
from .base import RESOLUTION_TOLERANCE as RESOLUTION_TOLERANCE
from .base import SMALL_FIELD as SMALL_FIELD
from .base import Basis as Basis
from .base import Floats as Floats
from .base import Gibbs as Gibbs
from .base import Integers as Integers
from .base import Tailed as Tailed
from .base import greatest as greatest
from .base import log1p_beyond_linear as log1p_beyond_linear
from .base import multiples as multiples
from .base import plus_dyad as plus_dyad
from .base import resolved as resolved
from .cosine import CosineBasis as CosineBasis
from .fourier import FourierBasis as FourierBasis
from .fourier import covariance as covariance
from .gegenbauer import polynomial_table as polynomial_table
from .gegenbauer import sector_functions as sector_functions
from .invariant import FullBasis as FullBasis
from .invariant import InvariantBasis as InvariantBasis
from .kinked import Boltzmann as Boltzmann
from .kinked import KinkedCosineBasis as KinkedCosineBasis
from .kinked import KinkedFourierBasis as KinkedFourierBasis
from .representations import Group as Group
from .spherical import SphericalTransform as SphericalTransform
from .zonal import ZonalBasis as ZonalBasis
