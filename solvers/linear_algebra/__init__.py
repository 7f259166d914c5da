"""Linear algebra of symmetric matrices: inertia by factorisation, eigenvalues with error bounds, and projectors."""
