"""The former place of the parts of a comparison, which are in :mod:`meanfield.records.comparison`."""

from .lazy import moved

__getattr__ = moved(__name__, dict.fromkeys(("Comparison", "Fit", "Means"), "meanfield.records.comparison"))
