r"""Planned real transforms on the circle, by either of two FFT libraries.

Both transforms work on fixed buffers: fill ``input``, call ``execute()``, read ``output`` before the next
call. The buffers make a transform stateful, so every thread needs its own: call :func:`planned` where it is
used. FFTW plans are used when pyfftw is installed; ``scipy.fft`` is the complete fallback and gives the same
numbers up to rounding.

Cosine transform (DCT-I), nodes :math:`\theta_j = \pi j/M`, :math:`j = 0..M`:

.. math:: y_k = x_0 + (-1)^k x_M + 2 \sum_{j=1}^{M-1} x_j \cos(\pi j k/M).

Fourier transform, nodes :math:`\theta_j = 2\pi j/N`: :math:`y_k = \sum_j x_j e^{-i k \theta_j}`,
:math:`k = 0..N/2`.
"""

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import scipy.fft
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


@functools.cache
def fftw() -> Any | None:
    """Return the pyfftw module, or None if it is not installed or MEANFIELD_FFT asks for scipy."""
    if os.environ.get("MEANFIELD_FFT", "").lower() == "scipy":
        return None
    try:
        with _without_dask():
            import pyfftw
    except ImportError:
        return None
    return pyfftw


@contextlib.contextmanager
def _without_dask() -> Iterator[None]:
    """Let an import find no Dask, unless it is there already.

    pyfftw takes all of dask.array, and with it xarray and pandas, for an interface of its own: half a second of
    every command.
    """
    if "dask" in sys.modules:
        yield
        return
    hidden: dict[str, Any] = {"dask": None}
    sys.modules.update(hidden)
    try:
        yield
    finally:
        del sys.modules["dask"]


def backend_name() -> str:
    """Return the name of the FFT library in use, for provenance."""
    library = fftw()
    return "scipy.fft" if library is None else f"pyfftw {library.__version__}"


class CosineTransform:
    """DCT-I on ``intervals + 1`` nodes of the half circle; its own inverse up to ``2 * intervals``."""

    def __init__(self, intervals: int) -> None:
        self.intervals = intervals
        library = fftw()
        if library is None:
            self.input: Floats = np.zeros(intervals + 1)
            self.output: Floats = np.zeros(intervals + 1)
            self.execute: Callable[[], Any] = self._execute_scipy
            return
        self.input = library.zeros_aligned(intervals + 1)
        self.output = library.zeros_aligned(intervals + 1)
        plan = library.FFTW(self.input, self.output, direction="FFTW_REDFT00", flags=("FFTW_ESTIMATE",), threads=1)
        self.execute = plan.execute

    def _execute_scipy(self) -> None:
        self.output[:] = scipy.fft.dct(self.input, type=1)


class FourierTransform:
    """Real-to-complex transform of ``nodes`` values on the whole circle, or of several rows, and its inverse."""

    def __init__(self, nodes: int, rows: int | None = None) -> None:
        self.nodes = nodes
        library = fftw()
        shape = () if rows is None else (rows,)
        if library is None:
            self.values: Floats = np.zeros((*shape, nodes))
            self.coefficients: NDArray[np.complex128] = np.zeros((*shape, nodes // 2 + 1), dtype=complex)
            self.analyse: Callable[[], Any] = self._analyse_scipy
            self.synthesise: Callable[[], Any] = self._synthesise_scipy
            return
        self.values = library.zeros_aligned((*shape, nodes))
        self.coefficients = library.zeros_aligned((*shape, nodes // 2 + 1), dtype=complex)
        forward = library.FFTW(self.values, self.coefficients, flags=("FFTW_ESTIMATE",), threads=1)
        backward = library.FFTW(
            self.coefficients,
            self.values,
            direction="FFTW_BACKWARD",
            flags=("FFTW_ESTIMATE", "FFTW_DESTROY_INPUT"),
            threads=1,
        )
        self.analyse = forward.execute
        self.synthesise = backward.execute

    def _analyse_scipy(self) -> None:
        self.coefficients[:] = scipy.fft.rfft(self.values)

    def _synthesise_scipy(self) -> None:
        self.values[:] = scipy.fft.irfft(self.coefficients, self.nodes, norm="forward")


Transform = TypeVar("Transform", CosineTransform, FourierTransform)


def planned(kind: type[Transform], size: int) -> Transform:
    """Return the cached transform of a kind and size of this thread; planning one costs many transforms.

    Its result must be read before the same transform is used again in the thread.
    """
    wanted: Any = kind
    transform: Transform = _planned(wanted, size, threading.get_ident(), fftw())
    return transform


@functools.lru_cache(maxsize=64)
def _planned(kind: Any, size: int, thread: int, library: Any) -> Any:
    return kind(size)


def waves_at(angles: Floats, degree: int) -> Complexes:
    """Return e^(ilx), l = 0..degree in rows, by doubling."""
    waves = np.empty((degree + 1, angles.size), dtype=complex)
    waves[0] = 1.0
    if degree:
        waves[1] = np.exp(1j * angles)
    known = 1
    while known < degree:
        more = min(known, degree - known)
        np.multiply(waves[1 : more + 1], waves[known], out=waves[known + 1 : known + more + 1])
        known += more
    return waves
