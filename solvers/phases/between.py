"""Curves that no section meets: sections that differ inside one face have one between them.

Such a curve may cross the window from below to above between two sections, as one does that begins in an organising
point outside of it.
"""

from collections.abc import Iterator

from .faces import differing
from .found import Found
from .plane import subdivided

# Sections between others at most, and the share of the interval within which two are not divided further.
MOST, NARROW = 16, 1.0 / 512.0
# Where two sections are divided: not at the middle, which may be a place of more symmetry.
SHARE = 0.47


def values_between(found: Found) -> Iterator[float]:
    """Yield values of the parameter between sections that differ inside a face, those farthest apart first.

    The sections at these, and the curves that they meet, are to be added before the next one is asked for.
    """
    low, high = found.window.interval
    for _ in range(MOST):
        pairs = [(right - left, left) for left, right in _differing(found)]
        if not pairs:
            return
        width, left = max(pairs)
        if width <= NARROW * (high - low):
            return
        yield left + SHARE * width


def _differing(found: Found) -> Iterator[tuple[float, float]]:
    """Yield the values of neighbouring sections that differ inside a face."""
    slabs, faces = subdivided(found.borders)
    cells = [cell for slab in slabs for cell in slab]
    for face in dict.fromkeys(faces.tolist()):
        own = [cell for cell, number in zip(cells, faces, strict=True) if number == face]
        for one, other in differing(found.window, own, found.sections):
            yield one.value, other.value
