"""The report as Markdown: one table of rows, one of ratios with their targets."""

import platform
from datetime import UTC, datetime

import numpy as np
import scipy
from rows import Row

from solvers.bases.transforms import backend_name
from solvers.execution.provenance import version

# Computed once in 30 digits from the extended system at the fold.
FOLD = 0.89701509340337279
COLUMNS = (
    "task",
    "modes",
    "points",
    "residuals/point",
    "solver LU/point",
    "stability LU/point",
    "eigen/point",
    "time ms",
    "us/point",
    "kernel us/point",
    "time/kernel",
    "fold error",
)


def report(rows: list[Row], rounds: int) -> str:
    """Return the whole report."""
    return "\n".join(
        [
            *heading(rounds),
            *table(COLUMNS, [cells(row) for row in rows]),
            "",
            *table(("ratio", "value", "target"), ratios(rows)),
        ]
    )


def heading(rounds: int) -> list[str]:
    """Return the lines above the tables of a report: what was timed, where and how."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, {backend_name()}"
    return [
        f"# Benchmarks of meanfield {version()}",
        "",
        f"{datetime.now(tz=UTC):%Y-%m-%d}, {machine}, {versions}.",
        f"CPU time, one thread, minimum of {rounds} interleaved rounds.",
        "",
    ]


def table(head: tuple[str, ...], body: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [head, tuple("---" for _ in head), *body]
    return ["| " + " | ".join(line) + " |" for line in lines]


def cells(row: Row) -> tuple[str, ...]:
    """Return the entries of one row."""
    points, work = row.result.points, row.work
    return (
        row.name,
        "own" if row.modes is None else str(row.modes),
        str(points),
        "" if work is None else f"{len(work.evaluations) / points:.2f}",
        f"{row.solver / points:.2f}",
        "" if work is None else f"{work.stability / points:.2f}",
        "" if work is None else f"{work.decompositions / points:.2f}",
        f"{1e3 * row.seconds:.2f}",
        f"{1e6 * row.seconds / points:.1f}",
        "" if work is None else f"{1e6 * row.kernel / points:.1f}",
        "" if work is None else f"{row.seconds / row.kernel:.2f}",
        f"{abs(row.result.fold - FOLD):.1e}",
    )


def ratios(rows: list[Row]) -> list[tuple[str, ...]]:
    """Return the ratios that have a target, and those to the dense reference."""
    library = backend_name().split()[0]
    found = {(row.name, row.modes): row for row in rows}
    modes = [n for name, n in found if name == f"A trace, {library}" and n is not None]
    traces = {n: found[f"A trace, {library}", n] for n in modes}
    branches = {n: found[f"A branch, {library}", n] for n in modes}
    bare, whole = found[f"B trace, {library}", None], found[f"B diagram to 5, {library}", None]
    free = next(row for row in rows if row.name.startswith("A trace, step 0.2"))
    middle = 32 if 32 in traces else modes[0]
    lines = [
        (f"A trace: time / kernel, n = {middle}", overhead(traces[middle]), "<= 1.6"),
        ("B trace: time / kernel", overhead(bare), "<= 1.6"),
        (f"A branch: time / kernel, n = {middle}", overhead(branches[middle]), ""),
        ("B diagram: time / kernel", overhead(whole), ""),
        (f"A trace: solver factorisations a point, n = {middle}", per_point(traces[middle]), "<= 2.2"),
        ("B diagram: solver factorisations a point", per_point(whole), "<= 2.2"),
        ("A trace, step 0.2: solver factorisations in all", str(free.solver), "<= 100"),
    ]
    for name, group in (("A trace", traces), ("A branch", branches)):
        quotient = group[modes[-1]].seconds / group[middle].seconds
        lines.append((f"{name}: time at n = {modes[-1]} / time at n = {middle}", f"{quotient:.2f}", "<= 1.5"))
    for row in rows:
        if row.backend is not None and row.modes is not None:
            quotient = row.seconds / traces[row.modes].seconds
            lines.append((f"A trace: scipy.fft / {library}, n = {row.modes}", f"{quotient:.2f}", ""))
        if row.work is None and row.modes is not None:
            quotient = row.seconds / traces[row.modes].seconds
            lines.append((f"A: dense reference / trace, n = {row.modes}", f"{quotient:.2f}", ""))
    lines.append((f"A trace: CPU time in ms, n = {middle}", f"{1e3 * traces[middle].seconds:.1f}", "near 7"))
    lines.append(("B diagram: CPU time in ms", f"{1e3 * whole.seconds:.1f}", "near 30"))
    return lines


def overhead(row: Row) -> str:
    """Return the time of a row relative to its kernel."""
    return f"{row.seconds / row.kernel:.2f}"


def per_point(row: Row) -> str:
    """Return the solver's factorisations per point."""
    return f"{row.solver / row.result.points:.2f}"
