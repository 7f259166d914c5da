"""Branches along a continuous parameter other than the coupling."""

from .course import InParameter as InParameter
from .course import ParameterRegister as ParameterRegister
from .path import Path as Path
