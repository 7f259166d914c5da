"""Compilation by numba, the extra ``fast``: the one place that asks whether it is there and what it is for."""

import functools
import logging
import os
from collections.abc import Callable
from typing import Any, TypeVar

# Matrices of more rows are factorised faster by LAPACK.
MOST_ROWS = 64

logger = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])


def available() -> bool:
    """Return whether numba can be imported."""
    return numba_module() is not None


@functools.cache
def numba_module() -> Any | None:
    """Return numba, loaded by the first call, or None if it cannot be imported."""
    try:
        import numba
    except ImportError as error:
        # An installed numba refuses versions of numpy it does not know.
        logger.info("numba is not used: %s", error)
        return None
    return numba


@functools.cache
def continuation_compiled() -> bool:
    """Return whether branches are followed by compiled code: if MEANFIELD_CONTINUATION asks for numba.

    It is not chosen on its own: loading numba takes as long as ten diagrams, and no result should depend, be it by
    rounding, on what its process has done before.
    """
    return os.environ.get("MEANFIELD_CONTINUATION", "").lower() == "numba" and available()


def matrices_compiled(rows: int) -> bool:
    """Return whether matrices of some rows are made and factorised by compiled code."""
    return 0 < rows <= MOST_ROWS and continuation_compiled()


def continuation_name() -> str:
    """Return the name of what compiles the continuation, for provenance; "" if nothing does."""
    numba = numba_module() if continuation_compiled() else None
    return "" if numba is None else f"numba {numba.__version__}"


def compiled(function: Function, **options: Any) -> Function:
    """Return a function that is compiled when it is first called, with options of ``numba.njit``.

    Without numba it is the function itself.
    """
    numba = numba_module()
    if numba is None:
        return function
    try:
        faster: Function = numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:
        # There is no directory for the cache that could be written.
        faster = numba.njit(nogil=True, **options)(function)
    return faster
