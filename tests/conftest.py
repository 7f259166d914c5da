"""Marks the tests of ``slow.txt``, which take about a second of one core or more."""

from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("slow.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that the list names, with all their parameters or with some."""
    slow = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        path = item.path.relative_to(SLOW.parent).as_posix()
        if slow & {f"{path}::{item.name}", f"{path}::{item.name.partition('[')[0]}"}:
            item.add_marker(pytest.mark.slow)
