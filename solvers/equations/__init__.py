"""Stationary equations: unknowns, residual and Jacobian under each law, and what a domain adds as its geometry."""
