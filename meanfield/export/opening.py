"""Opening a file whose record is not known beforehand: a diagram, a trajectory, a curve and others."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from . import records
from .files import is_file
from .stores import MANIFEST

DIAGRAM = "diagram"
_OPENERS = {
    "trajectory": (".trajectories", "open_trajectory"),
    "ensemble": (".ensembles", "open_ensemble"),
    "comparison": (".comparisons", "open_comparison"),
    "contraction": (".contractions", "open_contraction"),
    "sweep": (".sweeps", "open_sweep"),
    "curve": (".curves", "open_curve"),
    "phase diagram": (".curves", "open_phase_diagram"),
}


def record_of(path: str | Path) -> str:
    """Return the kind of record in a file or store; what is damaged or does not state it counts as a diagram."""
    path = Path(path)
    if is_file(path / MANIFEST):
        return "sweep"
    readers: dict[str, Callable[[Path], str]] = {".nc": _in_netcdf, ".json": _in_json}
    reader = readers.get(path.suffix.lower())
    if reader is None or not is_file(path):
        return DIAGRAM
    try:
        return reader(path)
    except Exception:
        # Opening it as a diagram says what is wrong with it.
        return DIAGRAM


def open_record(path: str | Path, *, check: bool = True) -> Any:
    """Read a file and return its record, of whichever kind.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, in a file from before there were digests, with what is
        possible at all.

    Returns
    -------
    Diagram, Trajectory, Ensemble, Comparison, Contraction, Sweep, Curve or PhaseDiagram

    Raises
    ------
    InvalidInput
        If the file is missing, damaged or holds no such record.
    """
    module, name = _OPENERS.get(record_of(path), (".", "open_diagram"))
    return getattr(import_module(module, __package__), name)(path, check=check)


def _in_netcdf(path: Path) -> str:
    from .sealed import netcdf_groups

    return str(netcdf_groups(path)["/"].attrs.get("record", DIAGRAM))


def _in_json(path: Path) -> str:
    values = records.load(path.read_text(encoding="utf-8"))
    return str(values.get("record", DIAGRAM)) if isinstance(values, dict) else DIAGRAM
