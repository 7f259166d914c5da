"""Default options, apart from the solvers: the command line shows them without loading these."""

# Equal intervals after which an evolution records.
TIMES = 100
# Moments of particles that are recorded.
DEGREES = 6
# Schemes for particles, the default first: names in records and on the command line, and where their classes are.
SCHEMES = {
    "weak-second-order": "solvers.particles.second_order:WeakSecondOrder",
    "euler-maruyama": "solvers.particles.euler_maruyama:EulerMaruyama",
    "leimkuhler-matthews": "solvers.particles.leimkuhler_matthews:LeimkuhlerMatthews",
    "runge-kutta-4": "solvers.particles.runge_kutta:RungeKutta4",
}
SCHEME, SCHEME_WITHOUT_NOISE = next(iter(SCHEMES)), "runge-kutta-4"
