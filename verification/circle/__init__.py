"""The theory of the circle as claims: theorems T1 to T12, evolution, and properties every solver must have."""

from . import uniform  # isort: skip
from . import branches, energies, resonances, families, linearisation, properties  # isort: skip
from . import dynamics, fluctuations  # isort: skip

__all__ = [
    "branches",
    "dynamics",
    "energies",
    "families",
    "fluctuations",
    "linearisation",
    "properties",
    "resonances",
    "uniform",
]
