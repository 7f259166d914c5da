"""The theory of attention as claims, without noise on circle and spheres, with noise on the circle."""

from . import clusters, contraction, gradients, growth

__all__ = ["clusters", "contraction", "gradients", "growth"]
