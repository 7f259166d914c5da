"""Stationary states at points of the plane of two parameters, and their linearisations, by law."""
