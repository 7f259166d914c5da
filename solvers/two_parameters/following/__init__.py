"""Following a curve of special points, with the organising points on the way."""
