"""The theory of attention as claims, without noise on circle and spheres, with noise on the circle."""

from . import (
    clusters,
    cones,
    contraction,
    dominance,
    energy,
    equiangular,
    gathering,
    gradients,
    growth,
    kernels,
    metastability,
    noise,
    tokens,
)

__all__ = [
    "clusters",
    "cones",
    "contraction",
    "dominance",
    "energy",
    "equiangular",
    "gathering",
    "gradients",
    "growth",
    "kernels",
    "metastability",
    "noise",
    "tokens",
]
