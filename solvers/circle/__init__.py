"""The solvers on the circle: its symmetries, the branches they allow, and its linearisation."""

from .geometry import CIRCLE as CIRCLE
from .geometry import CircleGeometry as CircleGeometry
from .rotating import rotating_waves as rotating_waves
