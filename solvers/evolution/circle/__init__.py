"""Evolution on the circle."""
