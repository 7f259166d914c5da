"""The work a task cannot avoid: counted in an untimed run, and replayed bare for timing."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import lapack

from solvers.circle.stability import Perturbations
from solvers.equations.equation import StationaryEquation

FACTORISATIONS = ("dsysv", "dgesv", "dposv", "dsytrf", "dgetrf", "dpotrf")
DECOMPOSITIONS = ("eigh", "eigvalsh")


@dataclass
class Work:
    """What a task asked of LAPACK, and with which arguments its matrices were built."""

    solver: int = 0
    stability: int = 0
    decompositions: int = 0
    evaluations: list[tuple[StationaryEquation, Any, float]] = field(default_factory=list)
    linearisations: list[tuple[StationaryEquation, Any, float, Any]] = field(default_factory=list)
    counts: list[tuple[Perturbations, Any, Any, int]] = field(default_factory=list)

    def replay(self) -> None:
        """Evaluate, linearise and factorise as often as the task, at its arguments, and nothing else."""
        for equation, b, q in self.evaluations:
            equation.evaluate(b, q)
        for equation, b, q, moments in self.linearisations:
            jacobian, derivative = equation.linearise(b, q, moments)
            sides = np.array((b, derivative))
            if lapack.dposv(jacobian.T, sides.T, lower=1)[2]:
                lapack.dsysv(jacobian.T, sides.T, lower=1, overwrite_a=1, overwrite_b=1)
        for modes, points, parity, residue in self.counts:
            for matrix in modes.matrices(points, parity, residue):
                lapack.dsytrf(matrix.T, lower=1, overwrite_a=1)


def work_of(task: Callable[[], Any]) -> Work:
    """Run a task once with its factorisations and matrices counted."""
    work = Work()
    with (
        _patched(lapack, {name: _counting(name, work) for name in FACTORISATIONS}),
        _patched(np.linalg, {name: _decomposing(name, work) for name in DECOMPOSITIONS}),
        _patched(StationaryEquation, {"evaluate": _evaluating(work), "linearise": _linearising(work)}),
        _patched(Perturbations, {"counts": _stability(work)}),
    ):
        task()
    if work.solver < len(work.linearisations):
        raise RuntimeError("the solver factorises by a routine that is not counted; add it to FACTORISATIONS")
    return work


def _counting(name: str, work: Work) -> Callable[..., Any]:
    original = getattr(lapack, name)

    def counted(*args: Any, **options: Any) -> Any:
        if "solvers.circle.stability" in _callers():
            work.stability += 1
        else:
            work.solver += 1
        return original(*args, **options)

    return counted


def _callers() -> Counter[str]:
    names: Counter[str] = Counter()
    frame = sys._getframe(1)
    while frame is not None:
        names[frame.f_globals.get("__name__", "")] += 1
        frame = frame.f_back
    return names


def _decomposing(name: str, work: Work) -> Callable[..., Any]:
    original = getattr(np.linalg, name)

    def counted(*args: Any, **options: Any) -> Any:
        work.decompositions += 1
        return original(*args, **options)

    return counted


def _evaluating(work: Work) -> Callable[..., Any]:
    original = StationaryEquation.evaluate

    def recorded(self: StationaryEquation, b: Any, q: float) -> Any:
        work.evaluations.append((self, b.copy(), q))
        return original(self, b, q)

    return recorded


def _linearising(work: Work) -> Callable[..., Any]:
    original = StationaryEquation.linearise

    def recorded(self: StationaryEquation, b: Any, q: float, moments: Any) -> Any:
        work.linearisations.append((self, b.copy(), q, moments.copy()))
        return original(self, b, q, moments)

    return recorded


def _stability(work: Work) -> Callable[..., Any]:
    original = Perturbations.counts

    def recorded(self: Perturbations, points: Any, parity: Any, residue: int, neutral: float) -> Any:
        work.counts.append((self, points, parity, residue))
        return original(self, points, parity, residue, neutral)

    return recorded


@contextmanager
def _patched(owner: Any, replacements: dict[str, Any]) -> Iterator[None]:
    originals = {name: getattr(owner, name) for name in replacements}
    for name, replacement in replacements.items():
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(owner, name, original)
