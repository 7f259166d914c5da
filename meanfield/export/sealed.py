"""netCDF files as bytes: written and read where the name does not matter, and sealed against damage.

The library takes backslashes, number signs and the like in a name for more than letters, and may crash on a damaged
file. So it is given names of ours and memory only. A seal at the end, the SHA-256 of everything before it, which
netCDF ignores, tells damage before the library sees it.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput

if TYPE_CHECKING:
    import xarray

SEAL = b"\nmeanfield sha256 "
SEAL_LENGTH = len(SEAL) + 64 + 1


def netcdf_bytes(write: Callable[[Path], Any]) -> bytes:
    """Return what a function writes as a netCDF file at the path it is given, sealed."""
    with TemporaryDirectory(prefix="meanfield-") as directory:
        path = Path(directory) / "content.nc"
        write(path)
        content = path.read_bytes()
    return content + SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n"


@contextmanager
def opened(path: Path, check: bool = True) -> Iterator[Any]:
    """Yield a netCDF file as a ``netCDF4.Dataset`` in memory.

    Raises
    ------
    InvalidInput
        If its seal is broken.
    """
    content = path.read_bytes()
    if check:
        _require_seal(content)
    import netCDF4

    with netCDF4.Dataset("content.nc", memory=content) as dataset:
        yield dataset


def group(dataset: Any, name: str | None = None, decode: bool = True) -> "xarray.Dataset":
    """Return a group of an opened file, loaded."""
    import xarray
    from xarray.backends import NetCDF4DataStore

    store: Any = NetCDF4DataStore
    return xarray.open_dataset(store(dataset, group=name), decode_cf=decode).load()


def _require_seal(content: bytes) -> None:
    # Whoever appends to the file takes the seal away; then the digest within tells.
    seal = content[-SEAL_LENGTH:]
    digest = hashlib.sha256(content[:-SEAL_LENGTH]).hexdigest().encode()
    if seal.startswith(SEAL) and seal != SEAL + digest + b"\n":
        raise InvalidInput(
            "it is damaged: its content does not agree with its digest; take another copy, or open it unchecked "
            "with check=False"
        )
