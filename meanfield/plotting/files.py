"""Figures as files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".pdf", ".svg")
RESOLUTION = 300


@checked
def check_figure(path: str | Path, force: bool = False) -> Path:
    """Check, before anything is drawn, that a figure could be written, and return its path.

    Raises
    ------
    InvalidInput
        If the suffix is none of .png, .pdf and .svg, the file cannot be written there, or matplotlib not be loaded.
    """
    from ..export.files import check_file, checked_suffix

    path = Path(path)
    checked_suffix(path, FORMATS, "a picture format")
    check_file(path, force)
    require_matplotlib()
    return path


def require_matplotlib() -> None:
    """Check, before anything is computed, that matplotlib can be loaded.

    Raises
    ------
    InvalidInput
        If it does not know the backend that the environment asks for; it refuses to be loaded then.
    """
    try:
        import matplotlib  # noqa: F401
    except ValueError as error:
        raise InvalidInput(
            f"matplotlib knows no backend {os.environ.get('MPLBACKEND', '')!r}, as MPLBACKEND asks for; unset it, "
            "or set it to agg"
        ) from error


@checked
def save_figure(
    figure: "Figure", path: str | Path, force: bool = False, provenance: dict[str, Any] | None = None
) -> Path:
    """Write a figure as PNG (300 dots an inch), PDF or SVG; an existing file survives any failure.

    Parameters
    ----------
    force
        Whether an existing file may be replaced.
    provenance
        Kept in the file's metadata.

    Raises
    ------
    InvalidInput
        If the suffix is none of .png, .pdf and .svg or the file cannot be written there.
    ComputationFailed
        If the disk refuses.
    """
    from ..export.files import write_files
    from ..export.records import dump

    path = check_figure(path, force)
    suffix = path.suffix.lower().removeprefix(".")
    field = {"png": "Description", "pdf": "Subject", "svg": "Description"}[suffix]
    metadata = {} if provenance is None else {field: dump(provenance)}

    def write(temporary: Path) -> None:
        figure.savefig(temporary, format=suffix, dpi=RESOLUTION, metadata=metadata)

    write_files({path: write}, force)
    return path
