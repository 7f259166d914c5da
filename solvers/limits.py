"""The largest systems the solvers accept; beyond them a state is refused, with the size it would need."""

MAX_NODES = 8192
MAX_UNKNOWNS = 1024
# Largest degree in time evolution.
MAX_DEGREE = 2048
