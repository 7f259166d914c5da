"""The structure of the packages does not get worse: no number of ``tests/house.py`` grows."""

import ast
import re
from pathlib import Path

import pytest

from tests import structure
from tests.house import House, _asks, passed_by

# What there is today; each may fall and none may rise. The aim is twelve files that ask, and no circle.
LIMITS = {
    "files that switch on the domain": 3,
    "circles of imports": 0,
    "files in circles": 0,
    "files over 500 lines": 0,
    "functions over 60 lines": 0,
    "median lines of a file": 150,
    "median lines of a function": 7,
}


@pytest.fixture(scope="module")
def house():
    return structure.house()


@pytest.mark.parametrize("name", LIMITS)
def test_no_number_grows(house, name):
    assert house.counts()[name] <= LIMITS[name]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("isinstance(problem.domain, Circle)", True),
        ("isinstance(basis, CosineBasis | FourierBasis)", True),
        ("domain.dimension == 2", True),
        ("self.dimension > 3", True),
        ("state.layout == 'order'", True),
        ("one.layout != other.layout", True),
        ("domain == Sphere(3)", True),
        ("domain.name == 'circle'", True),
        ("state.moments.has_axis", False),
        ("dimension + 2", False),
        ("isinstance(value, float)", False),
        ("figure.layout is None", False),
    ],
)
def test_what_counts_as_asking(text, asks):
    assert _asks(ast.parse(text, mode="eval").body) is asks


def test_tests_go_through_the_fronts_of_rooms(house):
    assert not list(passed_by(house, Path(__file__).parent))


def test_what_a_front_offers_is_told_from_what_only_has_its_name(house, tmp_path):
    """A name of an inner module alone, one of another function in the front, and one that is not there at all."""
    (tmp_path / "test_one.py").write_text(
        "from meanfield.errors import InvalidInput, did_you_mean\n"
        "from solvers.bases.zonal import ZonalBasis\n"
        "from verification.claims import compare\n"
        "from verification.claims import Claim\n"
        "from verification import matching\n"
    )
    assert list(passed_by(house, tmp_path)) == [
        "test_one.py:1 InvalidInput, which meanfield offers, from meanfield.errors",
        "test_one.py:2 ZonalBasis, which solvers.bases offers, from solvers.bases.zonal",
        "test_one.py:4 Claim, which verification offers, from verification.claims",
    ]


def test_lazy_imports_and_fronts_count(tmp_path):
    """Three files import each other through a front and inside of functions."""
    package = tmp_path / "solvers"
    package.mkdir()
    (package / "__init__.py").write_text("from .first import one as one\n")
    (package / "first.py").write_text("def one():\n    from .second import two\n    return two\n")
    (package / "second.py").write_text("from . import third\n\ndef two():\n    return third\n")
    (package / "third.py").write_text(
        "from typing import TYPE_CHECKING\nfrom solvers import one\n\nif TYPE_CHECKING:\n    from .fourth import four\n"
    )
    (package / "fourth.py").write_text("from .third import one\n\nfour = one\n")
    for other in ("meanfield", "verification"):
        (tmp_path / other).mkdir()
    assert House(tmp_path).circles == [["solvers.first", "solvers.second", "solvers.third"]]


def test_every_file_of_the_solvers_stands_in_a_layer(house):
    """What is added at the top of the package has to say in the contract where it belongs."""
    rooms = {room for row in structure.layers()["solvers"] for room in row}
    tops = {".".join(module.split(".")[:2]) for module in house.imports if module.startswith("solvers.")}
    assert tops == rooms


def test_the_picture_shows_every_layer_with_arrows_that_go_down_or_along(house, tmp_path):
    """As the import contract says, that of CONTRIBUTING as well; a room that does not exist has no files."""
    modules, drawn = house.imports, tmp_path / "structure.svg"
    structure.draw(drawn)
    pictures = [path.read_text() for path in (structure.ROOT / "docs" / "structure.svg", drawn)]
    # Boxes and arrows are patches, and what is written in the drawing stands there as comments.
    kept, now = ((picture.count('id="patch_'), re.findall("<!-- (.*) -->", picture)) for picture in pictures)
    assert kept == now, "python tests/structure.py docs/structure.svg draws it anew"
    for rows in structure.layers().values():
        levels = {room: level for level, row in enumerate(rows) for room in row}
        found = structure.imports(rows)
        assert all(levels[start] <= levels[end] for start, end in found)
        assert structure.arrows(found) <= found
        for room in levels:
            assert any(module == room or module.startswith(f"{room}.") for module in modules), room
        assert {room.partition(".")[2] for room in levels} <= set(now[1])
