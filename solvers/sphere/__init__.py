"""The solvers on spheres: their symmetries, the branches they allow, and their linearisation."""

from .geometry import SPHERE as SPHERE
from .geometry import SphereGeometry as SphereGeometry
from .groups import TRIVIAL as TRIVIAL
from .groups import Group as Group
from .groups import symmetry_of_field as symmetry_of_field
from .polyhedral import invariant_equation as invariant_equation
from .recognition import recognised as recognised
from .recognition import stabiliser as stabiliser
