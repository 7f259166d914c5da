"""Particle systems: the drift from moments, time-stepping schemes, replicas and their ensemble."""

from .drift import MomentDrift as MomentDrift
from .drift import PairDrift as PairDrift
from .schemes import EulerMaruyama as EulerMaruyama
from .schemes import WeakSecondOrder as WeakSecondOrder
