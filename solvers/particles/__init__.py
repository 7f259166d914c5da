"""Particle systems: the drift from moments, time-stepping schemes, replicas and their ensemble."""

from meanfield.lazy import moved

from .drift import MomentDrift as MomentDrift
from .drift import PairDrift as PairDrift
from .euler_maruyama import EulerMaruyama as EulerMaruyama
from .leimkuhler_matthews import LeimkuhlerMatthews as LeimkuhlerMatthews
from .runge_kutta import RungeKutta4 as RungeKutta4
from .second_order import WeakSecondOrder as WeakSecondOrder

__getattr__ = moved(__name__, {"simulate": "solvers", "simulation": "solvers"})
