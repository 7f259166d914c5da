"""What is taken where nothing is asked for, apart from the solvers: the command line shows it without them."""

# Equal intervals after which an evolution records.
TIMES = 100
# Moments of particles that are recorded.
DEGREES = 6
# Names of the schemes for particles, the default first.
WEAK_SECOND_ORDER, EULER_MARUYAMA = "weak-second-order", "euler-maruyama"
