"""Evolution on spheres: systems of equations, initial densities, axes, and rest."""
