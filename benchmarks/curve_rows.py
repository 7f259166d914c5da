"""The fold curve and the first-order line of the noisy transformer, and the diagram that they start from."""

from collections.abc import Callable

from rows import cpu
from tables import heading, table

from meanfield import Circle, McKeanVlasov, Transformer
from solvers import bifurcation_diagram, curve

# Milliseconds of CPU time of a curve over beta on a quiet core.
TARGET = 30.0
INTERVAL = (2.5, 20.0)
# kappa/kappa_1 at beta = 20, of independent computations in 12 digits.
AT_THE_END = {"fold": 0.569083035568, "transition": 0.613961525278}


def report(rounds: int) -> str:
    """Return the report of all rows."""
    problem = McKeanVlasov(Circle(), Transformer(beta=5.0))

    def diagram() -> object:
        return bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False, depth=1)

    starts = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1)
    tasks: dict[str, Callable[[], object]] = {"diagram from 0.5 to 3": diagram}
    for kind in AT_THE_END:
        start = starts.events(kind)[0]
        tasks[f"{kind} curve"] = lambda start=start: curve(start, "beta", INTERVAL)
    times = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds + 1):
        for name, task in tasks.items():
            times[name] = min(times[name], cpu(task))
    rows = [("diagram from 0.5 to 3", "", f"{1e3 * times['diagram from 0.5 to 3']:.1f}", "", "")]
    for kind, expected in AT_THE_END.items():
        found, seconds = curve(starts.events(kind)[0], "beta", INTERVAL), times[f"{kind} curve"]
        error = abs(found.relative_coupling[-1] - expected)
        rows.append((f"{kind} curve", str(len(found)), f"{1e3 * seconds:.1f}", f"{TARGET:.0f}", f"{error:.1e}"))
    head = ("task", "points", "time ms", "target ms", "error at beta = 20")
    return "\n".join([*heading(rounds), *table(head, rows)])
