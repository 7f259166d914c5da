"""What users wait for, in two trees, one after the other in every round: python benchmarks/waiting.py BASE TREE.

Every row is a process of its own, whose CPU time is taken around the call alone, of ``--help`` around all of it.
The shortest of the rounds is reported.
"""

import argparse
import os
import resource
import subprocess
import sys

TIMED = """
import time
from meanfield import *
from solvers import *
{before}
started = time.process_time()
{call}
print(time.process_time() - started)
"""
DIAGRAM = "problem = McKeanVlasov({}, Transformer({}))\nbifurcation_diagram(problem, relative=(0.5, 3.0))"
POINT = "problem = McKeanVlasov({}, {})\ncontraction_rate(problem.at(coupling={}))"
# A state is given, so that the search for it is in no other row but its own.
GIVEN = (
    "problem = McKeanVlasov({}, {}, coupling={})\n"
    "state = next(state for state in stationary_states(problem, rates=False) if state.minimiser)"
)
FIELD = (
    "problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9, -1.2)), confinement=CosineSeries((0.0, -0.3)))\n"
    "bifurcation_diagram(problem, (0.0, 1.0), rates=False)"
)
ROD = "problem = McKeanVlasov(Sphere(3), MaierSaupe())\nbifurcation_diagram(problem, relative=(0.5, 3.0))"
CRYSTAL = (
    "problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, -1.0)))\n"
    "bifurcation_diagram(problem, relative=(0.5, 3.0))"
)
SMALL = "problem = McKeanVlasov(Circle(), Kuramoto(), coupling=2.0)\nsimulate(problem, 2, 0.1, 1, step=0.01)"
# What is imported and planned on first use comes before the clock starts.
ROWS = {
    "diagram, beta = 5, without rates": (
        DIAGRAM.format("Circle()", 5.0), "bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False)"
    ),
    "diagram, beta = 5, with rates": (
        DIAGRAM.format("Circle()", 5.0), "bifurcation_diagram(problem, relative=(0.5, 3.0))"
    ),
    "diagram on S^2, beta = 3, without rates": (
        DIAGRAM.format("Sphere(3)", 3.0), "bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False)"
    ),
    "diagram on S^2, beta = 3, with rates": (
        DIAGRAM.format("Sphere(3)", 3.0), "bifurcation_diagram(problem, relative=(0.5, 3.0))"
    ),
    "diagram, beta = 20, without rates": (
        DIAGRAM.format("Circle()", 20.0), "bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False)"
    ),
    "diagram, beta = 20, with rates": (
        DIAGRAM.format("Circle()", 20.0), "bifurcation_diagram(problem, relative=(0.5, 3.0))"
    ),
    "diagram of Maier-Saupe, without rates": (
        ROD, "bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False)"
    ),
    "diagram of Maier-Saupe, with rates": (ROD, "bifurcation_diagram(problem, relative=(0.5, 3.0))"),
    "diagram of degree 3 on S^2, without rates": (
        CRYSTAL, "bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False)"
    ),
    "diagram of degree 3 on S^2, with rates": (CRYSTAL, "bifurcation_diagram(problem, relative=(0.5, 3.0))"),
    "diagram in a field, without rates": (FIELD, "bifurcation_diagram(problem, (0.0, 6.0), rates=False)"),
    "diagram in a field, with rates": (FIELD, "bifurcation_diagram(problem, (0.0, 6.0))"),
    "contraction rate, beta = 5": (
        DIAGRAM.format("Circle()", 5.0), "contraction_rate(problem.at(coupling=0.3081900))"
    ),
    "contraction rate, Kuramoto": (
        POINT.format("Circle()", "Kuramoto()", 2.5), "contraction_rate(problem.at(coupling=3.0))"
    ),
    "contraction rate, Keller-Segel": (
        POINT.format("Circle()", "KellerSegel()", 18.0), "contraction_rate(problem.at(coupling=19.0))"
    ),
    "contraction rate in a field": (FIELD, "contraction_rate(problem.at(coupling=3.0))"),
    "contraction rate on S^2, beta = 3": (
        POINT.format("Sphere(3)", "Transformer(3.0)", 1.9), "contraction_rate(problem.at(coupling=2.0))"
    ),
    "contraction rate on S^4, beta = 3": (
        POINT.format("Sphere(5)", "Transformer(3.0)", 4.0), "contraction_rate(problem.at(coupling=4.1))"
    ),
    "contraction rate of a state on S^2, beta = 3": (
        GIVEN.format("Sphere(3)", "Transformer(3.0)", 2.0), "contraction_rate(problem, state=state)"
    ),
    "contraction rate without noise, beta = 1": (
        POINT.format("Circle()", "Kuramoto()", 2.5),
        "contraction_rate(McKeanVlasov(Circle(), Transformer(1.0), noise=0.0, coupling=1.0))",
    ),
    "contraction rate without noise, beta = 4": (
        POINT.format("Circle()", "Kuramoto()", 2.5),
        "contraction_rate(McKeanVlasov(Circle(), Transformer(4.0), noise=0.0, coupling=1.0))",
    ),
    "contraction rate without noise on S^2, beta = 1": (
        POINT.format("Circle()", "Kuramoto()", 2.5),
        "contraction_rate(McKeanVlasov(Sphere(3), Transformer(1.0), noise=0.0, coupling=1.0))",
    ),
    "Hegselmann-Krause, R = 0.5, diagram without rates": (
        DIAGRAM.format("Circle()", 5.0),
        "bifurcation_diagram(McKeanVlasov(Circle(), HegselmannKrause(0.5)), relative=(0.5, 3.0), rates=False)",
    ),
    "Hegselmann-Krause, R = 0.5, diagram with rates": (
        DIAGRAM.format("Circle()", 5.0),
        "bifurcation_diagram(McKeanVlasov(Circle(), HegselmannKrause(0.5)), relative=(0.5, 3.0))",
    ),
    "Hegselmann-Krause, R = 0.5, contraction rate": (
        POINT.format("Circle()", "Kuramoto()", 2.5),
        "contraction_rate(McKeanVlasov(Circle(), HegselmannKrause(0.5), coupling=122.0))",
    ),
    "Hegselmann-Krause, R = 0.5, contraction rate of a state": (
        GIVEN.format("Circle()", "HegselmannKrause(0.5)", 122.0), "contraction_rate(problem, state=state)"
    ),
    "phase diagram of the transformer, beta = 1 .. 10": (
        DIAGRAM.format("Circle()", 5.0), "phase_diagram(problem, ('beta', (1.0, 10.0)), relative=(0.4, 1.6))"
    ),
    "2 particles, 400 replicas, 300 steps": (
        SMALL, "simulate(problem, 2, 3.0, 1, step=0.01, replicas=400)"
    ),
}  # fmt: skip
COMMANDS = ("bifurcation", "phase", "stationary", "rate", "evolve", "particles", "compare", "verify", "show")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def seconds(tree: str, name: str, threads: int | None) -> float:
    """Return the CPU time of a row in a tree, with a number of threads or what the libraries take."""
    # Modules are compiled once, as those that are installed are.
    left_out = (*THREADS, "PYTHONDONTWRITEBYTECODE")
    others = {key: value for key, value in os.environ.items() if key not in left_out}
    environment = others | {"PYTHONPATH": tree} | ({} if threads is None else dict.fromkeys(THREADS, str(threads)))
    if name in ROWS:
        before, call = ROWS[name]
        code = TIMED.format(before=before, call=call)
    else:
        code = f"from meanfield.cli import main; main([{name.split()[0]!r}, '--help'])"
    spent = _children()
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tree, capture_output=True, text=True, check=True
    )
    return float(done.stdout) if name in ROWS else _children() - spent


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("trees", nargs=2, help="two checkouts")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", default="", help="rows whose name contains this")
    options.add_argument("--threads", type=int, help="of linear algebra; by default what the libraries take")
    given = options.parse_args()
    names = [name for name in [*ROWS, *(f"{command} --help" for command in COMMANDS)] if given.only in name]
    shortest = {(tree, name): float("inf") for name in names for tree in given.trees}
    for _ in range(given.rounds):
        for tree, name in shortest:
            shortest[tree, name] = min(shortest[tree, name], seconds(tree, name, given.threads))
    print("| row | first ms | second ms | ratio |\n|---|---|---|---|")
    for name in names:
        one, other = (1e3 * shortest[tree, name] for tree in given.trees)
        print(f"| {name} | {one:.0f} | {other:.0f} | {one / other:.2f} |")


if __name__ == "__main__":
    main()
