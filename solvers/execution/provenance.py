"""Provenance of results: versions, problem, options and time, as plain values that every format can hold."""

import functools
import importlib.metadata
import platform
from datetime import UTC, datetime
from typing import Any

import numpy as np
import scipy

from meanfield import Equation

from ..bases.spherical import harmonics_backend_name
from ..bases.transforms import backend_name
from .compiling import continuation_name


@functools.cache
def version() -> str:
    """Return the installed version of the package, or "unknown" in a bare source tree."""
    try:
        return importlib.metadata.version("meanfield-pde")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def provenance(problem: Equation, options: dict[str, Any], cpu_seconds: float) -> dict[str, Any]:
    """Return the provenance of a result.

    On the ordinary sphere with the library that sums harmonics, on the circle without a confinement with the one
    that compiles the continuation, if one does.
    """
    compiler = continuation_name() if problem.domain.turns and problem.confinement is None else ""
    return {
        "meanfield_version": version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "transforms": backend_name(),
        **({"harmonics": harmonics_backend_name()} if problem.domain.has_azimuth else {}),
        **({"continuation": compiler} if compiler else {}),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu_seconds": round(cpu_seconds, 3),
        "problem": problem.to_dict(),
        "options": options,
    }
