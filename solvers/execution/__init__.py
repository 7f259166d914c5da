"""What the runs of all solvers have in common: checks of arguments, defaults, threads, compilation and checkpoints.

Executors, the functions that watch a run, and the provenance of its result are here as well.
"""
