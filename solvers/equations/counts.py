"""The numbers of unstable directions at a state, with what shows that they may change and change back nearby."""

from collections.abc import Hashable, Mapping


class Counts(tuple[int, int]):
    """Numbers of unstable directions: of those that keep the axis of a state, and of the others.

    Attributes
    ----------
    determinants
        Of the matrices in which they were counted, by names of these, as far as they were factorised. Where one
        comes near zero and goes back, two directions may have changed their stability one after the other.
    """

    determinants: Mapping[Hashable, float]

    def __new__(cls, along: int, across: int, determinants: Mapping[Hashable, float] | None = None) -> "Counts":
        """Return the pair of numbers."""
        counts = super().__new__(cls, (along, across))
        counts.determinants = determinants or {}
        return counts

    def __getnewargs__(self) -> tuple[int, int, Mapping[Hashable, float]]:
        """Return what copies are made from."""
        return (*self, self.determinants)
