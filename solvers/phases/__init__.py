"""Phase diagrams: curves in a window of two parameters, the regions between them, and what is stable there."""
