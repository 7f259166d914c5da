import dataclasses

import numpy as np
import pytest
from sample import repulsive_sample, sample
from sphere_sample import cubic, nematic

from meanfield import Circle, CosineSeries, Kuramoto, McKeanVlasov, Transformer
from meanfield.summary import leading_degree, stability_in_words, summarise
from meanfield.wording import WIDTH, describe


def indent(line):
    return len(line) - len(line.lstrip())


def find(lines, text):
    (found,) = [at for at, line in enumerate(lines) if line.lstrip().startswith(text)]
    return found


def test_branches_stand_under_their_branch_points():
    lines = summarise(sample()).splitlines()
    uniform, first, second, chiral = (
        find(lines, f"{label}: ") for label in ("uniform", "1-cluster", "2-cluster", "chiral, from 2-cluster")
    )
    assert uniform < first < second < chiral
    for parent, child in ((uniform, first), (uniform, second), (second, chiral)):
        assert lines[child - 1].split()[:2] == ["branch", "point"]
        assert indent(lines[parent]) < indent(lines[child - 1]) < indent(lines[child])


def test_each_special_point_has_one_line_with_twelve_digits():
    diagram = sample()
    lines = summarise(diagram).splitlines()
    fold = diagram.events("fold")[0]
    line = lines[find(lines, "fold")]
    assert f"{fold.coupling:.12g}" in line
    assert f"relative {fold.relative_coupling:.9g}" in line
    assert f"m1 {fold.m1:.6g}" in line
    assert "unstable 1 -> 0" in line
    assert find(lines, "equal free energy")
    assert sum(line.lstrip().startswith("branch point") for line in lines) == 3


def test_on_spheres_points_show_the_lowest_degree_that_their_branch_has():
    diagram = nematic()
    lines = summarise(diagram).splitlines()
    for name, type in (("fold", "fold"), ("equal free energy", "transition")):
        (event,) = diagram.events(type)
        assert f"m2 {event.m2:.6g}" in lines[find(lines, name)]
    degrees = [leading_degree(branch) for branch in (*diagram.branches, *cubic().branches)]
    assert degrees == [1, 2, 2, 1, 4, 4]
    # On the circle a vanishing first moment tells clusters apart.
    assert [leading_degree(branch) for branch in sample().branches] == [1, 1, 1, 1]


def test_width_and_warnings():
    diagram = sample()
    warnings = ("word " * 60, *diagram.warnings)
    long = dataclasses.replace(diagram, warnings=warnings)
    text = summarise(long)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.index("Warnings") > text.index("chiral, from 2-cluster: ")
    assert "the branch 'chiral, from 2-cluster' has unknown stability" in text
    assert "Warnings" not in summarise(repulsive_sample())


def test_nothing_happens():
    text = summarise(repulsive_sample())
    assert "no positive critical coupling" in text
    assert "nothing happens on the branches followed in this range" in text


def test_every_branch_is_shown_whatever_its_parent():
    diagram = sample()
    orphan = dataclasses.replace(diagram.branches[3], parent=99)
    loop = dataclasses.replace(diagram.branches[2], parent=4)
    odd = dataclasses.replace(diagram, branches=(*diagram.branches[:2], loop, orphan))
    lines = summarise(odd).splitlines()
    for branch in odd.branches:
        find(lines, f"{branch.label}: ")


def test_stability_in_words():
    diagram = sample()
    assert stability_in_words(diagram.branches[0]) == (
        "stable from 1 to 2; unstable (2 directions) from 2 to 2.5; unstable (4 directions) from 2.5 to 4.5"
    )
    assert "stability not counted" in stability_in_words(diagram.branches[3])
    branch = diagram.branches[1]
    flipping = dataclasses.replace(branch, unstable=np.arange(len(branch)) % 2)
    assert stability_in_words(flipping).endswith("more changes")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (McKeanVlasov(Circle(), Kuramoto()), "kuramoto on the circle, noise D = 1"),
        (
            McKeanVlasov(Circle(), Transformer(beta=5), noise=0.5, coupling=0.3),
            "transformer (beta = 5) on the circle, noise D = 0.5, coupling kappa = 0.3",
        ),
        (
            McKeanVlasov(Circle(), CosineSeries((-1.0,) * 9), confinement=Kuramoto()),
            "cosine-series (w = [-1, -1, -1, -1, -1, -1, ...]) on the circle, noise D = 1, confinement kuramoto",
        ),
    ],
)
def test_describe(problem, words):
    assert describe(problem) == words


def test_couplings_beyond_doubles_are_readable():
    diagram = repulsive_sample()
    branch = diagram.branches[0]
    tiny = dataclasses.replace(branch, coupling=np.longdouble(10) ** -400 * np.arange(1, len(branch) + 1))
    assert "e-400" in summarise(dataclasses.replace(diagram, branches=(tiny,)))
