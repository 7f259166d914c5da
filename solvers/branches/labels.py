"""Labels, "NAME from PARENT", unique in one result."""

import re
from collections.abc import Collection, Sequence
from itertools import count

from meanfield import State

NUMBER = re.compile(r" \(\d+\)")


def untaken(label: str, taken: Collection[str]) -> str:
    """Return a label, its name numbered from (2) on if it is taken; a number after the parent is the parent's."""
    end = re.search(r",| from |$", label)
    assert end is not None
    name, origin = label[: end.start()], label[end.start() :]
    candidates = (f"{name} ({number}){origin}" if number > 1 else label for number in count(1))
    return next(candidate for candidate in candidates if candidate not in taken)


def own_name(label: str) -> str:
    """Return the name in a label, such as "1-cluster" of "1-cluster (2) from 2-cluster"."""
    return unnumbered(re.split(r",| from ", label)[0])


def unnumbered(label: str) -> str:
    """Return a label without the numbers that make it and its parents unique."""
    return NUMBER.sub("", label)


def told_apart(states: Sequence[State]) -> list[State]:
    """Return states in their order, with numbers in labels that an earlier state has."""
    labels: list[str] = []
    for state in states:
        labels.append(untaken(state.label, labels))
    return [state.replace(label=label) for state, label in zip(states, labels, strict=True)]
