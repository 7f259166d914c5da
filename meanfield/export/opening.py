"""Opening a file of ours without being told what it holds: a diagram, a trajectory, an ensemble or a comparison."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import records
from .files import is_file

DIAGRAM = "diagram"


def record_of(path: str | Path) -> str:
    """Return the kind of record in a file; whatever does not say so, or is damaged, is taken for a diagram."""
    path = Path(path)
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
    """Read whatever record a file holds.

    Parameters
    ----------
    check
        Whether to compare the content with its digest or, in a file from before there were digests, with what is
        possible at all.

    Returns
    -------
    Diagram, Trajectory, Ensemble or Comparison

    Raises
    ------
    InvalidInput
        If the file is missing, damaged or holds no such record.
    """
    kind = record_of(path)
    if kind == "trajectory":
        from .trajectories import open_trajectory

        return open_trajectory(path, check=check)
    if kind == "ensemble":
        from .ensembles import open_ensemble

        return open_ensemble(path, check=check)
    if kind == "comparison":
        from .comparisons import open_comparison

        return open_comparison(path, check=check)
    from . import open_diagram

    return open_diagram(path, check=check)


def _in_netcdf(path: Path) -> str:
    from .sealed import netcdf_groups

    return str(netcdf_groups(path)["/"].attrs.get("record", DIAGRAM))


def _in_json(path: Path) -> str:
    values = records.load(path.read_text(encoding="utf-8"))
    return str(values.get("record", DIAGRAM)) if isinstance(values, dict) else DIAGRAM
