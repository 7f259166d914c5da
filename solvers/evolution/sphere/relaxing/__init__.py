"""How densities relax to stable states of spheres."""

from .choice import neighbourhood as neighbourhood
