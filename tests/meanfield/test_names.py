"""A name means one thing everywhere, and one that means nothing is refused with the nearest that does."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from sample import sample
from sphere_sample import cubic, nematic, place

from meanfield import Circle, InvalidInput, Sphere
from meanfield.export import save, to_json_object
from meanfield.export.states import state_rows
from meanfield.harmonics import moment_columns, moments_of
from meanfield.plotting.quantities import values_of
from meanfield.records.point_types import POINT_NAMES
from solvers import VonMises, contraction_rate, evolve, simulate
from tests.campaigns.files import KURAMOTO, ON_SPHERE
from verification import compare


@pytest.mark.parametrize("kind", POINT_NAMES)
def test_every_name_of_a_special_point_means_its_type(kind):
    diagram = sample()
    if kind == "Hopf":
        # Under a free energy there are none.
        point = replace(diagram.special_points[0], type="Hopf")
        diagram = replace(diagram, special_points=(*diagram.special_points, point))
    expected = [point for point in diagram.special_points if point.type == kind]
    assert expected
    for name in (kind, *POINT_NAMES[kind]):
        variants = {
            name,
            f"{name}s",
            name.upper(),
            name.title(),
            name.replace(" ", "_"),
            f" {name.replace(' ', '-')} ",
        }
        for variant in variants:
            assert diagram.events(variant) == expected, variant


def test_the_words_of_summary_and_files_mean_their_events(tmp_path):
    diagram = sample()
    # An event stands in a line of its own, name first.
    words = {line.strip().split("  ")[0] for line in diagram.summary().splitlines() if "  relative " in line}
    found = {event.type for word in words for event in diagram.events(word)}
    assert found == {"branch point", "fold", "transition"}
    labels = {label for branch in diagram.branches for label in branch.point_labels if label}
    assert {event.type for label in labels for event in diagram.events(label)} == set(POINT_NAMES) - {"Hopf"}
    assert diagram.events("equal free energies") == diagram.events("transition")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("flod", "did you mean fold"), ("transitoin", "did you mean transition"), ("homoclinic", "there are")],
)
def test_an_unknown_type_is_refused(name, nearest):
    with pytest.raises(InvalidInput, match=rf"no special point is called '{name}'; .*{nearest}"):
        sample().events(name)


@pytest.mark.parametrize("wrong", [3, "", ["fold"], b"fold", True])
def test_what_is_no_name_is_refused(wrong):
    with pytest.raises(InvalidInput, match="no special point is called"):
        sample().events(wrong)


def test_branches_by_label_and_index():
    diagram = sample()
    for index, branch in enumerate(diagram.branches):
        assert diagram.branch(index) is diagram.branch(branch.label) is branch
        of_branch = [event for event in diagram.special_points if event.branch == index]
        assert diagram.events(branch=index) == diagram.events(branch=branch.label) == of_branch
    for wrong in ("1cluster", "2 cluster", 9, -5, True, 1.0):
        for act in (
            diagram.branch,
            lambda label: diagram.events("fold", label),
            lambda label: diagram.state(label, 0),
        ):
            with pytest.raises(InvalidInput, match=r"no branch is labelled .*'2-cluster'"):
                act(wrong)
    with pytest.raises(InvalidInput, match="did you mean 1-cluster"):
        diagram.branch("1cluster")


@pytest.mark.parametrize("point", [60, -61, 1.5, True])
def test_points_that_are_not_there(point):
    with pytest.raises(InvalidInput, match="the branch '1-cluster' has 60 points and none of number"):
        sample().state("1-cluster", point)


def test_distances_that_are_not_there():
    relaxation = contraction_rate(KURAMOTO.at(coupling=1.0))
    with pytest.raises(InvalidInput, match=r"the distance 'w2' was not followed; .*W2"):
        relaxation.fit("w2")
    comparison = compare(KURAMOTO.at(coupling=1.0), VonMises(0.0, 1.0), 0.2, particles=(20, 40), seed=1, replicas=3)
    assert comparison.fit("w1") is not None
    with pytest.raises(InvalidInput, match="no distance is called 'w1-independent'; did you mean w1_independent"):
        comparison.fit("w1-independent")


def lengths_and_axis(domain, layout, cosine, sine, degree):
    """The length of all moments of a degree and the one about the pole, summed one by one."""
    if layout == "degree":
        return abs(cosine[degree]), cosine[degree]
    places = [place(degree, order) for order in range(degree + 1)]
    return np.sqrt(sum(cosine[at] ** 2 + sine[at] ** 2 for at in places)), cosine[places[0]]


@pytest.mark.parametrize("build", [nematic, cubic])
def test_moments_of_a_name_are_the_same_in_tables_plots_and_records(tmp_path, build):
    diagram = build()
    points, special, _ = save(diagram, tmp_path / "run.csv")
    with points.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert any(float(row["p2"]) < -0.1 or float(row["p4"]) < -0.01 for row in rows)
    for degree in (1, 2, 3, 4):
        drawn = {
            kind: np.concatenate([values_of(diagram, branch, f"{kind}{degree}") for branch in diagram.branches])
            for kind in "mp"
        }
        states = [diagram.state(int(row["branch"]), int(row["point"])) for row in rows]
        for number, (row, state, other) in enumerate(zip(rows, states, state_rows(states), strict=True)):
            length, axis = lengths_and_axis(diagram.problem.domain, state.layout, state.cosine, state.sine, degree)
            for kind, value in (("m", length), ("p", axis)):
                name = f"{kind}{degree}"
                assert float(row[name]) == drawn[kind][number] == other[name] == pytest.approx(value, rel=1e-15)
    with special.open(newline="", encoding="utf-8") as stream:
        for row, event in zip(csv.DictReader(stream), diagram.special_points, strict=True):
            assert (float(row["m1"]), float(row["m2"])) == (event.m1, event.m2)
            assert float(row["p2"]) == event.moment("p2")
            assert event.m2 == pytest.approx(abs(event.moment("p2")), abs=1e-14)


def test_trajectories_and_ensembles_have_the_same_names():
    # About the south pole odd moments are negative.
    problem = ON_SPHERE.at(coupling=4.0)
    trajectory = evolve(problem, VonMises(np.pi, 1.0), 0.5, times=3)
    row = to_json_object(trajectory)["rows"][-1]
    assert row["p1"] == trajectory.cosine[-1, 1] < 0.0
    assert (row["m1"], row["m2"]) == (-row["p1"], row["p2"])
    ensemble = simulate(problem, 50, 0.1, 1, initial=VonMises(np.pi, 5.0))
    row = to_json_object(ensemble)["rows"][-1]
    assert row["p1"] == pytest.approx(float(ensemble.cosine[0, -1, 1]), rel=1e-14)
    assert row["p1"] < 0.0 < row["m1"] == row["order_parameter"]
    with_sines = evolve(KURAMOTO.at(coupling=3.0), VonMises(0.7, 1.0), 0.5, times=3)
    row = to_json_object(with_sines)["rows"][-1]
    assert (row["m2"], row["s2"]) == (with_sines.cosine[-1, 2], with_sines.sine[-1, 2])


def test_names_of_moments():
    assert moment_columns(Circle()) == ("m1", "m2", "m3", "m4")
    assert moment_columns(Sphere(4))[4:] == ("p1", "p2", "p3", "p4")
    moments = np.array([1.0, -0.5, 0.25])
    assert moments_of(Circle(), "degree", moments, moments).named("m9") == 0.0
    for domain, wrong in (
        (Circle(), "p1"),
        (Sphere(3), "s1"),
        (Circle(), "m0"),
        (Circle(), "m"),
        (Circle(), "m-1"),
    ):
        with pytest.raises(InvalidInput, match="no moment is called"):
            moments_of(domain, "degree", moments, moments).named(wrong)


def test_tables_name_the_branch(tmp_path):
    diagram = sample()
    points, special, _ = save(diagram, tmp_path / "run.csv")
    for path in (points, special):
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                assert row["branch_label"] == diagram.branches[int(row["branch"])].label


def test_the_angles_of_a_trajectory_are_those_of_a_state():
    polar, azimuth = np.array([0.3, 1.2]), np.array([0.1, 2.0])
    trajectory = evolve(ON_SPHERE.at(coupling=4.0), VonMises(0.4, 1.0, azimuth=0.3), 0.2, times=3)
    assert trajectory.layout == "order"
    state = (
        sample()
        .state("1-cluster", 9)
        .replace(problem=trajectory.problem, cosine=trajectory.cosine[1], sine=trajectory.sine[1], layout="order")
    )
    assert np.array_equal(trajectory.density(polar, azimuth, index=1), state.density(polar, azimuth))
    on_circle = evolve(KURAMOTO.at(coupling=3.0), VonMises(0.0, 1.0), 0.2, times=3)
    with pytest.raises(InvalidInput, match=r"the number of the time by name: density\(angle, index=0\)"):
        on_circle.density(polar, 1)
    for wrong in (len(on_circle), -len(on_circle) - 1, 0.5, True):
        with pytest.raises(InvalidInput, match="times and none of number"):
            on_circle.density(polar, index=wrong)


def test_an_unknown_quantity_is_refused():
    for wrong in ("p1", "m0", "energy", "s1"):
        with pytest.raises(InvalidInput, match=f"cannot plot '{wrong}'; give m1, m2"):
            sample().plot(wrong, Figure().subplots())
