"""The commands that solve, one file each; only the chosen one is imported."""

from .initial_option import add_initial as add_initial
from .initial_option import initial_of as initial_of
