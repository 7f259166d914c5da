"""Default options of comparisons, apart from them: the command line shows these without loading solvers."""

SIZES = (1000, 4000, 16000)
REPLICAS = 32
TIMES = 40
DEGREES = 2
