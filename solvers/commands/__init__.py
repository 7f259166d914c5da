"""The commands that solve, one file each; only the one chosen is imported."""
