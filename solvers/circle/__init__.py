"""What is particular to the circle: its symmetries, the branches they allow, and its linearisation."""
