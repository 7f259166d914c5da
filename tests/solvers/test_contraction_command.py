"""The command ``rate`` without noise."""

import json
import math

import pytest

from meanfield import open_contraction
from tests.commands import fail, succeed

PLAIN = ("rate", "transformer", "--noise", "0", "--beta", "0.5", "--coupling", "1")


def test_one_object_in_json(capsys):
    printed = json.loads(succeed(capsys, *PLAIN, "--json"))
    assert {"rate", "error", "quantity", "local_rate", "governed_by", "window", "theory"} <= printed.keys()
    assert abs(printed["rate"] - math.exp(-0.5)) <= printed["error"] <= 1e-11
    assert printed["local_rate"] == pytest.approx(2 * math.exp(0.5), rel=1e-12)
    assert (printed["quantity"], printed["governed_by"]) == ("1 - r", "separatrix")


def test_the_text_states_quantity_and_reason(capsys):
    text = succeed(capsys, *PLAIN, "--quantity", "w2")
    assert "contraction rate of W2: 0.30326532985" in text
    assert "the separatrix governs, since" in text
    assert "10000 particles follow the local rate" in text


def test_files_and_pictures(capsys, tmp_path):
    path, picture = tmp_path / "found.json", tmp_path / "found.png"
    succeed(capsys, *PLAIN, "--initial", "von-mises", "--mean", "1", "--to", str(path), "--plot", str(picture))
    found = open_contraction(path)
    assert found.limit_point == pytest.approx(1.0, abs=1e-9)
    assert picture.stat().st_size > 0
    assert "exists" in fail(capsys, 2, *PLAIN, "--to", str(path))
    succeed(capsys, "plot", str(path), "--to", str(tmp_path / "again.png"))
    assert "the separatrix governs" in succeed(capsys, "show", str(path))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--initial", "uniform"), "the uniform density is stationary"),
        (("--quantity", "W9"), "unknown quantity 'W9'"),
        (("--mean", "1"), "--mean belongs to a named density"),
        (("--no-fit",), "--no-fit belongs to rates with noise"),
        (("--to", "rates.txt"), "rates.txt"),
    ],
)
def test_mistakes_are_one_sentence(capsys, arguments, sentence):
    assert sentence in fail(capsys, 2, *PLAIN, *arguments)


@pytest.mark.parametrize("arguments", [("--quantity", "W2"), ("--initial", "uniform"), ("--to", "a.nc")])
def test_options_that_need_no_noise(capsys, arguments):
    noisy = ("rate", "kuramoto", "--coupling", "1")
    assert "belongs to contraction without noise" in fail(capsys, 2, *noisy, *arguments)
