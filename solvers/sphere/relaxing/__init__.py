"""How densities relax to stable states of spheres."""
