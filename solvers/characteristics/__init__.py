"""Equations without noise along their characteristics: the collapse of a density to a point, and its rates."""

from ..evolution.medium import Medium as Medium
from ..evolution.medium import medium_of as medium_of
from .densities import ON_CIRCLE as ON_CIRCLE
from .densities import ON_SPHERES as ON_SPHERES
from .densities import LabelDensities as LabelDensities
from .densities import Start as Start
from .labels import LabelDensity as LabelDensity
from .limit import LimitFlow as LimitFlow
from .limit import limit_flow as limit_flow
from .measured import FORWARD as FORWARD
from .rates import ENERGY_GAP as ENERGY_GAP
from .rates import MULTIPLES as MULTIPLES
from .rates import Contraction as Contraction
from .rates import contraction as contraction
