"""Marks the tests of ``slow.txt``, which take more than five seconds of one core."""

from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")


def slow_tests() -> set[str]:
    """Names of tests as ``file::test``, each with all its parameters."""
    lines = SLOW.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow tests, and refuse names in the list that their file no longer has."""
    slow = slow_tests()
    names: dict[str, set[str]] = {}
    for item in items:
        path = item.path.relative_to(SLOW.parent).as_posix()
        name = f"{path}::{getattr(item, 'originalname', None) or item.name}"
        names.setdefault(path, set()).add(name)
        if name in slow:
            item.add_marker(pytest.mark.slow)
    # A file of which only a part was asked for says nothing about the rest.
    if not any("::" in argument for argument in config.args):
        gone = sorted(
            name for name in slow if name.partition("::")[0] in names and name not in names[name.partition("::")[0]]
        )
        if gone:
            raise pytest.UsageError(f"{SLOW.name} names tests that there are not: {', '.join(gone)}")
