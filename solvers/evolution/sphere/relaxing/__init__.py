"""Relaxation of densities to stable states of spheres."""

from .choice import neighbourhood as neighbourhood
