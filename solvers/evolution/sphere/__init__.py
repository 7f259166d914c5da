"""What evolution must know of the sphere: systems of equations, initial densities, axes, and rest."""
