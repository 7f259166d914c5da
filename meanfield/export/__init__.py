"""Diagrams and states as files and as xarray objects.

=======  =======================================================  =========
suffix   content                                                  read back
=======  =======================================================  =========
.nc      netCDF-4, one group a branch                             exactly
.json    one JSON object                                          exactly
.npz     compressed numpy arrays                                  exactly
.csv     tables of points, NAME.special.csv, NAME.provenance.json no
.mat     MATLAB, in the layout of MatCont                         no
.auto    AUTO-07p: b.NAME, s.NAME, d.NAME, c.NAME, NAME.f90       11 digits
=======  =======================================================  =========

Every file holds the digest of its content, see :mod:`meanfield.export.digests`; what was changed afterwards is
refused when it is opened, and so are files of different sets.

Couplings beyond the range of doubles, such as 2e-343 for a strong transformer, are exact in netCDF, JSON, NPZ and
CSV; MATLAB and AUTO files are refused.
"""

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..base import SavedRecord
from ..equations import Equation
from ..errors import InvalidInput, with_article
from ..records.curves import Curve
from ..records.diagram import Diagram
from ..records.phase_diagram import PhaseDiagram
from ..records.state import StationaryStates
from ..theory import transition_coupling
from . import sets
from .auto_reader import read_auto
from .comparisons import check_comparison_target as check_comparison_target
from .contractions import check_contraction_target as check_contraction_target
from .curves import check_tables_target
from .datasets import RECORD_KINDS as RECORD_KINDS
from .datasets import Content, content_netcdf, save_content, table_object
from .datasets import to_xarray as content_to_xarray
from .ensembles import check_ensemble_target as check_ensemble_target
from .files import Writer, checked_suffix, reading
from .files import bytes_writer as bytes_writer
from .files import check_file as check_file
from .files import existing_file as existing_file
from .files import is_file as is_file
from .files import text_writer as text_writer
from .files import write_files as write_files
from .netcdf import diagram_to_xarray, state_to_xarray
from .records import dump as dump
from .records import load as load
from .records import package_version as package_version
from .records import plain as plain
from .states import STATE_KINDS as STATE_KINDS
from .states import check_states_target as check_states_target
from .states import open_states as open_states
from .states import save_states as save_states
from .states import states_to_json_object as states_to_json_object
from .stores import Result as Result
from .stores import Store as Store
from .sweeps import assembled as assembled
from .sweeps import check_sweep_target as check_sweep_target
from .sweeps import open_stored as open_stored
from .tables import diagram_to_json_object
from .trajectories import check_trajectory_target as check_trajectory_target

if TYPE_CHECKING:
    import xarray

# What users call; the other names are for the commands and solvers.
__all__ = [
    "KINDS",
    "check_writable",
    "diagram_to_json_object",
    "diagram_to_xarray",
    "open_diagram",
    "read_auto",
    "save",
    "state_to_xarray",
    "to_json_object",
    "to_xarray",
]

KINDS = {
    ".nc": "netcdf",
    ".csv": "csv",
    ".json": "json",
    ".npz": "npz",
    ".mat": "mat",
    ".auto": "auto",
}


# What takes the other records apart, by the name of their type.
_CONTENTS = {
    "Trajectory": (".trajectories", "trajectory_content"),
    "Ensemble": (".ensembles", "ensemble_content"),
    "Comparison": (".comparisons", "comparison_content"),
    "Contraction": (".contractions", "contraction_content"),
    "Sweep": (".sweeps", "sweep_content"),
    "Curve": (".curves", "curve_content"),
    "PhaseDiagram": (".curves", "phase_diagram_content"),
}


def save(record: SavedRecord, path: str | Path, kind: str | None = None, force: bool = False) -> tuple[Path, ...]:
    """Write a record, all files of it or none, and return these; see :meth:`SavedRecord.save`.

    Parameters
    ----------
    path
        The file; its suffix chooses the format. Of a diagram ``NAME.auto`` and ``b.NAME`` mean the AUTO files
        b.NAME, s.NAME, d.NAME, NAME.f90 and c.NAME in that directory.
    kind
        The format, for a name whose suffix does not determine it: one of the values of ``KINDS``.
    force
        Whether existing files may be replaced.
    """
    if not isinstance(record, Diagram):
        if isinstance(record, Curve | PhaseDiagram) and _is_auto(Path(path), kind):
            return _save_curves(record, Path(path), force)
        return save_content(_content(record), path, kind, force)
    path, kind = Path(path), _kind(Path(path), kind)
    targets = check_writable(path, force, kind)
    write_files(_writers(record, targets, kind), force)
    return targets


def check_phase_diagram_target(path: str | Path, force: bool = False) -> tuple[Path, ...]:
    """Check, before anything is computed, that a phase diagram could be written to a path; return its files.

    Raises
    ------
    InvalidInput
        If the suffix is none of .nc, .json, .csv and .auto or a file cannot be written there.
    """
    if _is_auto(Path(path), None):
        return check_writable(path, force, "auto")
    checked_suffix(Path(path), (*RECORD_KINDS, ".auto"), "a format of a phase diagram")
    return check_tables_target(path, force)


def _is_auto(path: Path, kind: str | None) -> bool:
    own = path.name.startswith("b.") and path.suffix.lower() not in KINDS
    return kind == "auto" or (kind is None and (own or path.suffix.lower() == ".auto"))


def _save_curves(record: Curve | PhaseDiagram, path: Path, force: bool) -> tuple[Path, ...]:
    from .auto_curves import curve_texts, singular_curves

    targets = check_writable(path, force, "auto")
    curves, left_out = singular_curves(record.curves if isinstance(record, PhaseDiagram) else (record,))
    texts = curve_texts(curves, left_out)
    written = {target: text_writer(text) for target, text in zip(targets, texts, strict=True)}
    write_files(dict(reversed(written.items())), force)
    if left_out:
        warnings.warn(left_out, UserWarning, stacklevel=_level_outside())
    return targets


def _level_outside() -> int:
    """Return how far up the stack, as warnings count from the caller, whoever calls the package stands."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == __name__.partition(".")[0]:
        frame, level = frame.f_back, level + 1
    return level


def to_xarray(record: SavedRecord) -> "xarray.Dataset | xarray.DataTree":
    """Return a record as a labelled dataset, a diagram as a tree with a group for each branch."""
    if isinstance(record, Diagram):
        return diagram_to_xarray(record)
    return content_to_xarray(_content(record))


def to_json_object(record: SavedRecord) -> dict[str, Any]:
    """Return a record without its arrays as one object that JSON can hold, as ``--json`` prints it."""
    return diagram_to_json_object(record) if isinstance(record, Diagram) else table_object(_content(record))


def encoded(record: SavedRecord | StationaryStates) -> tuple[str, bytes]:
    """Return the name of a file, such as ``diagram.nc``, and its bytes, which hold a record exactly."""
    if isinstance(record, StationaryStates):
        critical = transition_coupling(record[0].problem) if record else None
        return "states.json", dump(states_to_json_object(record, critical, coefficients=True)).encode()
    if isinstance(record, Diagram):
        from . import netcdf

        return "diagram.nc", netcdf.diagram_netcdf(record)
    content = _content(record)
    return f"{content.record}.nc", content_netcdf(content)


def _content(record: SavedRecord) -> Content:
    module, name = _CONTENTS[type(record).__name__]
    content: Content = getattr(import_module(module, __package__), name)(record)
    return content


def check_writable(path: str | Path, force: bool = False, kind: str | None = None) -> tuple[Path, ...]:
    """Check, before anything is computed, that :func:`save` could write to a path.

    Returns
    -------
    tuple of Path
        The files it would write.

    Raises
    ------
    InvalidInput
        If the suffix is unknown or a file cannot be written there.
    """
    from . import files

    targets = _targets(Path(path), _kind(Path(path), kind))
    if files.is_directory(Path(path)):
        files.check_file(path, force)
    for target in targets:
        files.check_file(target, force)
    return targets


@checked
def open_diagram(path: str | Path, problem: Equation | None = None, *, check: bool = True) -> Diagram:
    """Read a diagram from netCDF, JSON or NPZ (exactly) or from AUTO files (eleven digits).

    Parameters
    ----------
    path
        A file written by :func:`save`, or AUTO files as ``NAME.auto`` or ``b.NAME``.
    problem
        The equation, needed for AUTO files that were not written by meanfield.
    check
        Whether to compare the content with its digest or, in a file from before there were digests, with what is
        possible at all.

    Raises
    ------
    InvalidInput
        If the file is missing, truncated, changed, of another origin or of a format that is not read, or one of
        several that do not belong together.
    """
    path = Path(path)
    kind = _kind(path, None)
    if kind == "csv" and check:
        sets.require_tables(path)
    if kind not in (*_READERS, "auto"):
        raise InvalidInput(
            f"{path} cannot be read back: {kind} files do not hold whole results; give .nc, .json, .npz or .auto"
        )
    if kind == "auto":
        # Of three files the sentences name the one.
        return read_auto(path, problem, check=check)
    existing_file(path)
    with reading(path, f"not {with_article(kind)} file: it cannot be read as a diagram"):
        return _READERS[kind](path, check)


def _kind(path: Path, kind: str | None) -> str:
    if kind is None:
        if path.name.startswith("b.") and len(path.name) > 2 and path.suffix.lower() not in KINDS:
            return "auto"
        return KINDS[checked_suffix(path, KINDS, "a format")]
    if kind not in KINDS.values():
        raise InvalidInput(f"the kind {kind!r} is none of {', '.join(KINDS.values())}")
    return kind


def _targets(path: Path, kind: str) -> tuple[Path, ...]:
    from . import auto, tables

    if kind == "csv":
        return tables.csv_paths(path)
    return auto.auto_targets(path) if kind == "auto" else (path,)


def _writers(diagram: Diagram, targets: tuple[Path, ...], kind: str) -> dict[Path, Writer]:
    from . import auto, matlab, netcdf, tables

    if kind in ("csv", "auto"):
        texts = tables.csv_texts(diagram) if kind == "csv" else auto.auto_texts(diagram)
        written = {target: text_writer(text) for target, text in zip(targets, texts, strict=True)}
        # The last says which the others are, and goes first.
        return dict(reversed(written.items()))
    (path,) = targets
    if kind == "netcdf":
        return {path: lambda temporary: bytes_writer(netcdf.diagram_netcdf(diagram))(temporary)}
    if kind == "json":
        return {path: text_writer(tables.json_text(diagram))}
    return {path: bytes_writer(matlab.mat_bytes(diagram) if kind == "mat" else tables.npz_bytes(diagram))}


def _read_netcdf(path: Path, check: bool) -> Diagram:
    from .netcdf import diagram_from_netcdf

    return diagram_from_netcdf(path, check)


def _read_json(path: Path, check: bool) -> Diagram:
    from .tables import diagram_from_json

    return diagram_from_json(path.read_text(encoding="utf-8"), check)


def _read_npz(path: Path, check: bool) -> Diagram:
    from .tables import diagram_from_npz

    return diagram_from_npz(path, check)


_READERS: dict[str, Callable[[Path, bool], Diagram]] = {
    "netcdf": _read_netcdf,
    "json": _read_json,
    "npz": _read_npz,
}
