"""The theory of the circle as claims: theorems T1 to T12 and the exact properties every solver must have."""

from . import uniform  # isort: skip
from . import branches, energies, resonances, families, linearisation, fluctuations, properties  # isort: skip

__all__ = [
    "branches",
    "energies",
    "families",
    "fluctuations",
    "linearisation",
    "properties",
    "resonances",
    "uniform",
]
