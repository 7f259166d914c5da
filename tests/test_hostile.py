"""Wrong values for every argument of every public callable; see :mod:`tests.hostile`."""

import contextlib
from importlib import import_module

import pytest

from tests import hostile


@pytest.mark.parametrize("each", list(hostile.targets()), ids=lambda each: each.name)
def test_wrong_values_are_refused_in_a_sentence(each, monkeypatch):
    # Pictures of spheres, which nobody looks at, have few pixels.
    drawing = import_module("meanfield.plotting.globe")
    monkeypatch.setattr(drawing, "FEWEST_PIXELS", 48)
    monkeypatch.setattr(drawing, "MOST_PIXELS", 48)
    with contextlib.chdir(hostile.materials()["folder"]):
        found = list(hostile.attempts(each))
    assert [str(one) for one in found if one.kind in ("raised", "did not end")] == []


def test_the_judge_tells_what_is_wrong():
    def endless(number):
        while True:
            pass

    def raw(number):
        return [][number]

    for call, kind in ((endless, "did not end"), (raw, "raised"), (lambda number: number, "answered")):
        one = hostile.Target("call", call, {"number": 1}, ("number",))
        assert hostile.attempt(one, "number", "0", limit=0.05).kind == kind
