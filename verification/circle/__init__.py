"""The theory of the circle as claims: theorems T1 to T12, confinements, evolution, particles, properties."""

from . import uniform  # isort: skip
from . import branches, energies, resonances, unfolding, families, linearisation, properties  # isort: skip
from . import dynamics, confined, outcomes, cusps  # isort: skip
from . import fluctuations, schemes, bands, distances  # isort: skip

__all__ = [
    "bands",
    "branches",
    "confined",
    "cusps",
    "distances",
    "dynamics",
    "energies",
    "families",
    "fluctuations",
    "linearisation",
    "outcomes",
    "properties",
    "resonances",
    "schemes",
    "unfolding",
    "uniform",
]
