"""What the numbers of a density mean: modes of every domain, sums of harmonics, quadrature, packed moments."""

from .circle import CircleModes as CircleModes
from .full import SphereModes as SphereModes
from .integrals import converged as converged
from .modes import Layout as Layout
from .modes import Modes as Modes
from .moments import Moments as Moments
from .moments import moment_columns as moment_columns
from .moments import moments_of as moments_of
from .packing import degrees_and_orders as degrees_and_orders
from .packing import degrees_of_places as degrees_of_places
from .packing import largest_degree as largest_degree
from .packing import moduli as moduli
from .packing import packed as packed
from .packing import packed_size as packed_size
from .packing import place as place
from .packing import zonal_places as zonal_places
from .polynomials import multiplicities as multiplicities
from .quadrature import gauss_rule as gauss_rule
from .quadrature import polynomials as polynomials
from .sums import full_density as full_density
from .sums import polynomials_at as polynomials_at
from .sums import zonal_density as zonal_density
from .sums import zonal_sensitivity as zonal_sensitivity
from .sums import zonal_sum as zonal_sum
from .table import modes_of as modes_of
from .zonal import ZonalModes as ZonalModes
