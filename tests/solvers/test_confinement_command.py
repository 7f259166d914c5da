"""Confinements and neurons on the command line."""

import json
import math

import pytest

from meanfield import Circle, External, McKeanVlasov, Perceptron, Sphere, Transformer, open_diagram
from solvers import stationary_states
from tests.commands import fail, succeed

FORMULA = "0.1*cos(t) + 0.05*sin(2*t)"


def described(capsys, *arguments):
    return json.loads(succeed(capsys, *arguments, "--json"))


def test_a_formula_confines(capsys):
    found = described(
        capsys, "stationary", "transformer", "--beta", "2", "--coupling", "2", "--confinement", FORMULA
    )
    problem = McKeanVlasov(Circle(), Transformer(2.0), 1.0, 2.0, External.from_expression(FORMULA))
    assert McKeanVlasov.from_dict(found["problem"]) == problem
    assert found["critical_coupling"] is None
    states = stationary_states(problem)
    assert [row["label"] for row in found["states"]] == [state.label for state in states]
    assert [row["free_energy_gap"] for row in found["states"]] == [state.free_energy_gap for state in states]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--neurons", "1:0", "0.5:1.2"), Perceptron((1.0, 0.5), (0.0, 1.2))),
        (("--neurons", "-0.5", "--activation", "tanh"), Perceptron((-0.5,), (0.0,), "tanh")),
        (
            ("--neurons", "1e-1:-2", "--confinement", FORMULA),
            External.from_expression(FORMULA) + Perceptron((0.1,), (-2.0,)),
        ),
    ],
)
def test_neurons_confine(options, expected, capsys):
    found = described(capsys, "stationary", "kuramoto", "--coupling", "1", *options)
    assert McKeanVlasov.from_dict(found["problem"]).confinement == expected


def test_neurons_of_a_sphere_have_two_angles(capsys):
    options = ("--domain", "sphere", "--neurons", "1:0.3,2", "0.5:1", "--activation", "tanh")
    found = described(capsys, "stationary", "kuramoto", "--coupling", "1", *options)
    neurons = Perceptron((1.0, 0.5), (0.3, 1.0), "tanh", (2.0, 0.0))
    assert McKeanVlasov.from_dict(found["problem"]).confinement == neurons
    assert found["states"][0]["unstable"] == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--neurons", "1:0.3,2"), "on the circle a direction is one angle"),
        (("--neurons", "1:0.3,2", "--domain", "sphere", "--dimension", "5"), "only the ordinary sphere"),
        (("--neurons", "1:0.3,x", "--domain", "sphere"), "W:A, not '1:0.3,x'"),
        (("--neurons", "1:0.3", "1:1,1", "1:2,4", "--domain", "sphere"), "take smooth neurons"),
    ],
)
def test_directions_that_are_none_are_refused(options, sentence, capsys):
    assert sentence in fail(capsys, 2, "stationary", "kuramoto", "--coupling", "1", *options)


def test_neurons_at_the_poles_of_a_sphere(capsys):
    neurons = ("--neurons", "1:0", "-0.5:3.141592653589793", "--activation", "tanh")
    found = described(capsys, "stationary", "kuramoto", "--domain", "sphere", "--coupling", "2", *neurons)
    assert McKeanVlasov.from_dict(found["problem"]).domain == Sphere(3)
    assert [row["unstable"] for row in found["states"]] == [0]


def test_a_saved_diagram_has_its_confinement(capsys, tmp_path):
    target = tmp_path / "diagram.nc"
    options = ("--confinement", FORMULA, "--neurons", "0.2:1", "--to", str(target))
    succeed(capsys, "bifurcation", "kuramoto", "--coupling", "0", "1", *options)
    confinement = External.from_expression(FORMULA) + Perceptron((0.2,), (1.0,))
    assert open_diagram(target).problem.confinement == confinement


def test_atoms_are_counted_in_the_summary(capsys):
    options = ("--coupling", "0", "--noise", "0", "--confinement", "cos(3*t - 0.5)", "--particles", "60")
    words = succeed(capsys, "particles", "kuramoto", *options, "--until", "4")
    assert "the particles have gathered in 3 atoms of mass" in words
    atoms = described(capsys, "particles", "kuramoto", *options, "--until", "4")["atoms"]
    assert sum(atoms["masses"]) == pytest.approx(1.0, abs=1e-15)
    # The minima of cos(3t - 0.5).
    places = sorted((place - 0.5 / 3) % (2 * math.pi) for place in atoms["places"])
    assert places == pytest.approx([math.pi / 3, math.pi, 5 * math.pi / 3], abs=1e-6)
    assert "atoms" not in described(capsys, "particles", "kuramoto", *options, "--until", "1", "--noise", "0.1")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--neurons", "a:0"), "W:A, not 'a:0'"),
        (("--neurons", "1:"), "W:A, not '1:'"),
        (("--activation", "relu"), "--activation belongs to --neurons"),
        (("--neurons", "1:0", "--activation", "rleu"), "did you mean relu"),
        (("--neurons", "1:0.3", "--domain", "sphere", "--dimension", "4"), "north pole"),
        (("--confinement", "t"), "is the same place"),
        (("--confinement", "sin(t)", "--domain", "sphere"), "angle to the north pole"),
        (("--confinement", "2"), "is constant"),
    ],
)
def test_what_does_not_confine_is_refused_in_a_sentence(options, sentence, capsys):
    assert sentence in fail(capsys, 2, "stationary", "kuramoto", "--coupling", "1", *options)
