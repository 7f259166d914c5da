"""Particles on spheres: unit vectors moved along great circles by the drift and by spherical Brownian motion."""

from .custom_velocities import meridian_setting as meridian_setting
from .setting import sphere_setting as sphere_setting
from .velocities import sphere_velocity_setting as sphere_velocity_setting
