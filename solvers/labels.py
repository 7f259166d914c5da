"""Labels of which no two in one answer are the same."""

from collections.abc import Collection, Sequence
from itertools import count

from meanfield import State


def untaken(label: str, taken: Collection[str]) -> str:
    """Return a label, numbered from (2) on if it is taken."""
    candidates = (label if number == 1 else f"{label} ({number})" for number in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)


def told_apart(states: Sequence[State]) -> list[State]:
    """Return states in their order, those whose label an earlier one has numbered."""
    labels: list[str] = []
    for state in states:
        labels.append(untaken(state.label, labels))
    return [state.replace(label=label) for state, label in zip(states, labels, strict=True)]
