"""What a comparison takes where nothing is asked for, apart from it: the command line shows it without solvers."""

SIZES = (1000, 4000, 16000)
REPLICAS = 32
TIMES = 40
DEGREES = 2
