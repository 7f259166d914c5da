"""Solution of stationary equations: Newton's method from one guess, and searches from many random starts."""
