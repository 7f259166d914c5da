"""The largest systems the solvers accept; beyond them a state is refused, with the size it would need."""

MAX_NODES = 8192
MAX_UNKNOWNS = 1024
# Dense tables of polynomials take 150 MB at this size, those of spherical harmonics about as much.
MAX_ZONAL_NODES = 4096
MAX_SPHERICAL_DEGREE = 256
# All harmonics up to this degree decide the stability of states on S^2 without an axis: four thousand.
MAX_HARMONIC_DEGREE = 64
# Largest degree in time evolution.
MAX_DEGREE = 2048
