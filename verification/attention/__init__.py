"""The theory of attention as claims, without noise on circle and spheres, with noise on the circle."""

from . import clusters, contraction, energy, gathering, gradients, growth, noise, tokens

__all__ = ["clusters", "contraction", "energy", "gathering", "gradients", "growth", "noise", "tokens"]
