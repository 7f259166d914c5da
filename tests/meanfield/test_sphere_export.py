"""Files of states and diagrams on spheres, read back by the library and by readers of their own."""

import csv
import dataclasses
import json
import re

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.special import eval_gegenbauer
from sphere_sample import cubic, fisher, nematic, octahedral, place
from test_export_auto import DIGITS, read_b, read_s
from test_export_roundtrip import EXACT, assert_same

from meanfield import Branch, Diagram, InvalidInput, Kuramoto, McKeanVlasov, Outcome, Sphere, open_diagram
from meanfield.export import save, state_to_xarray
from meanfield.export.states import save_states


def turned(diagram):
    """The diagram with branches by order turned about the axis by 30 degrees, so that there are sines."""
    branches = []
    for branch in diagram.branches:
        if branch.layout == "order":
            degrees = [(n, m) for n in range(40) for m in range(n + 1)][: branch.cosine.shape[1]]
            angle = np.pi / 6 * np.array([m for _, m in degrees])
            branch = dataclasses.replace(
                branch, cosine=branch.cosine * np.cos(angle), sine=branch.cosine * np.sin(angle)
            )
        branches.append(branch)
    return dataclasses.replace(diagram, branches=tuple(branches))


def with_events(diagram):
    """The diagram with a special point of its own on the octahedral branch, beside those by degree."""
    branch = diagram.branches[1]
    event = dataclasses.replace(
        diagram.special_points[0], branch=1, point=3, type="fold", coupling=float(branch.coupling[3]),
        cosine=branch.cosine[3], sine=branch.sine[3], layout=branch.layout, kernel_dimension=None,
    )  # fmt: skip
    return dataclasses.replace(diagram, special_points=(*diagram.special_points, event))


def fisher_diagram(dimension, noise=1.0):
    """The states exp(a u)/Z of W = -u at this noise, as one branch without and with rows beyond the columns."""
    states = [fisher(a, dimension) for a in (0.5, 1.0, 2.0, 3.5)]
    coupling = noise * np.array([state.coupling for state in states])
    cosine = np.array([state.cosine for state in states])
    branch = Branch(
        label="zonal 1", parent=None, symmetry=1, coupling=coupling, relative_coupling=coupling / dimension / noise,
        cosine=cosine, sine=np.zeros_like(cosine), arclength=np.arange(4.0), observables={"free_energy_gap": np.zeros(4)},
        unstable=np.zeros(4, dtype=np.int64), slowest_rate=np.ones(4), residual=np.zeros(4),
        modes=np.full(4, 28), tangent_coupling=np.ones(4), tangent_cosine=np.ones_like(cosine),
        tangent_sine=np.zeros_like(cosine), point_labels=("BP", "", "", "EP"), outcome=Outcome.LEFT_INTERVAL,
    )  # fmt: skip
    return Diagram(
        problem=McKeanVlasov(Sphere(dimension), Kuramoto(), noise=noise), interval=(noise, 20 * noise),
        critical_coupling=dimension * noise, branches=(branch,), special_points=(),
    )  # fmt: skip


def table(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def zonal():
    return nematic()


@pytest.fixture(scope="module")
def full():
    return with_events(turned(cubic()))


@pytest.fixture(params=["zonal", "full"])
def diagram(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("suffix", EXACT)
def test_bit_exact(tmp_path, diagram, suffix):
    (path,) = save(diagram, tmp_path / f"run{suffix}")
    assert_same(diagram, open_diagram(path))


@pytest.mark.parametrize("suffix", EXACT)
def test_dimensions_survive(tmp_path, suffix):
    diagram = fisher_diagram(17)
    (path,) = save(diagram, tmp_path / f"run{suffix}")
    assert open_diagram(path).problem.domain == Sphere(17)
    assert_same(diagram, open_diagram(path))


def test_files_from_before_there_was_a_layout(tmp_path, zonal):
    (path,) = save(zonal, tmp_path / "run.json")
    values = json.loads(path.read_text())
    for record in (*values["branches"], *values["special_points"]):
        assert record.pop("layout") == "degree"
    path.write_text(json.dumps(values))
    assert_same(zonal, open_diagram(path))


def test_json_by_its_own_reader(tmp_path, full):
    (path,) = save(full, tmp_path / "run.json")
    values = json.loads(path.read_text())
    assert values["problem"]["domain"] == {"name": "sphere", "dimension": 3}
    assert [branch["layout"] for branch in values["branches"]] == ["degree", "order", "order"]
    assert values["branches"][1]["sine"][2] == full.branches[1].sine[2].tolist()
    assert values["special_points"][-1]["layout"] == "order"


def test_xarray_names_degree_and_order(tmp_path, full):
    import xarray

    (path,) = save(full, tmp_path / "run.nc")
    with xarray.open_datatree(path) as tree:
        assert (tree.attrs["domain"], int(tree.attrs["dimension"])) == ("sphere", 3)
        uniform, octahedral, events = (tree[name] for name in ("branch_000", "branch_001", "special_points"))
        assert uniform["cosine"].dims == ("point", "degree")
        assert uniform["cosine"].attrs["long_name"] == "moment of the density with P_l"
        assert octahedral["cosine"].dims == ("point", "harmonic")
        assert octahedral.attrs["layout"] == "order"
        assert octahedral["cosine"].attrs["long_name"] == "moment of the density with e^c_lm"
        assert octahedral["sine"].attrs["long_name"] == "moment of the density with e^s_lm"
        pairs = list(zip(octahedral["degree"].values, octahedral["order"].values, strict=True))
        assert [pair for pair in pairs if pair[0] == 2] == [(2, 0), (2, 1), (2, 2)]
        # The octahedral state along z has c_44/c_40 = sqrt(5/7), here turned by 30 degrees.
        c, s = (octahedral[name].values[-1] for name in ("cosine", "sine"))
        at = pairs.index((4, 4))
        ratio = np.hypot(c[at], s[at]) / c[pairs.index((4, 0))]
        assert ratio == pytest.approx(np.sqrt(5 / 7), rel=1e-12)
        assert s[at] / c[at] == pytest.approx(np.tan(4 * np.pi / 6), rel=1e-12)
        assert list(events["layout"].values) == ["degree", "order"]
        for node in tree.subtree:
            for name, variable in node.dataset.variables.items():
                assert variable.attrs["long_name"], name


def test_state_dataset():
    state = octahedral(2.0)
    dataset = state_to_xarray(state)
    assert dataset["cosine"].dims == ("harmonic",)
    assert (dataset.attrs["domain"], dataset.attrs["dimension"], dataset.attrs["layout"]) == ("sphere", 3, "order")
    assert float(dataset["cosine"][place(4, 0)]) == state.cosine[place(4, 0)]
    assert int(dataset["degree"][place(4, 3)]) == 4
    assert int(dataset["order"][place(4, 3)]) == 3
    assert state_to_xarray(fisher(2.0, 5)).attrs["dimension"] == 5


def test_matlab_names_the_moments(tmp_path, zonal, full):
    (path,) = save(full, tmp_path / "full.mat")
    entry = loadmat(path, squeeze_me=True, struct_as_record=False)["branches"][1]
    names, branch = entry.state_names.tolist(), full.branches[1]
    assert entry.layout == "order"
    assert len(names) == entry.x.shape[0]
    for prefix, moments in (("c", branch.cosine), ("s", branch.sine)):
        for degree, order in ((1, 0), (4, 0), (4, 4), (16, 16)):
            row = entry.x[names.index(f"{prefix}_{degree}_{order}")]
            assert np.array_equal(row, moments[:, place(degree, order)])
    assert np.array_equal(entry.x[names.index("coupling")], branch.coupling)
    (path,) = save(zonal, tmp_path / "zonal.mat")
    entry = loadmat(path, squeeze_me=True, struct_as_record=False)["branches"][1]
    assert entry.state_names[:2].tolist() == ["p1", "p2"]
    assert np.array_equal(entry.x[1], zonal.branches[1].cosine[:, 2])


def test_tables_hold_moments_by_degree(tmp_path, zonal, full):
    points, special, provenance = save(zonal, tmp_path / "zonal.csv")
    rows = [row for row in table(points) if row["branch"] == "1"]
    assert [float(row["m2"]) for row in rows] == zonal.branches[1].cosine[:, 2].tolist()
    assert [row["type"] for row in table(special)] == ["branch point", "fold", "transition"]
    assert json.loads(provenance.read_text())["problem"]["domain"]["name"] == "sphere"
    points, *_ = save(full, tmp_path / "full.csv")
    rows = [row for row in table(points) if row["branch"] == "1"]
    branch = full.branches[1]
    places = slice(place(4, 0), place(5, 0))
    lengths = np.sqrt(np.sum(branch.cosine[:, places] ** 2 + branch.sine[:, places] ** 2, axis=1))
    assert np.allclose([float(row["m4"]) for row in rows], lengths, rtol=8 * np.finfo(float).eps, atol=0)
    assert all(abs(float(row["m1"])) < 1e-14 for row in rows)


@pytest.mark.parametrize("suffix", [".json", ".npz", ".csv"])
def test_files_of_states(tmp_path, suffix):
    states = (octahedral(2.0), fisher(2.0))
    path = save_states(states, tmp_path / f"states{suffix}", 9.0)
    if suffix == ".csv":
        rows = table(path)
        assert float(rows[0]["m4"]) == states[0].moment(4)
        assert float(rows[1]["m1"]) == states[1].cosine[1]
    elif suffix == ".json":
        rows = json.loads(path.read_text())["states"]
        assert [row["layout"] for row in rows] == ["order", "degree"]
        assert [row["cosine"] for row in rows] == [state.cosine.tolist() for state in states]
    else:
        with np.load(path, allow_pickle=False) as archive:
            rows = json.loads(str(archive["header"]))["states"]
            assert [row["layout"] for row in rows] == ["order", "degree"]
            assert np.array_equal(archive["state_0_cosine"], states[0].cosine)


def described_defect(point, text, dimension):
    """Defect of 0 = G as the d. file of a sphere describes it, with Gegenbauer polynomials of scipy."""
    (count,) = re.findall(r"^n = (\d+)$", text, re.MULTILINE)
    listed = re.search(r"^    j  w_j  v_j  N_j\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)[1]
    nodes, weights = np.polynomial.legendre.leggauss(400)
    polar, order = np.pi / 2 * (nodes + 1), dimension / 2 - 1
    # Of these degrees and dimensions sin^(d-2) is smooth enough over half a turn for Gauss's rule.
    weights = weights * np.sin(polar) ** (dimension - 2)
    polynomial = lambda l: eval_gegenbauer(l, order, np.cos(polar)) / eval_gegenbauer(l, order, 1.0)  # noqa: E731, E741
    coupling, noise = point["PAR"]
    field = np.zeros_like(polar)
    for row in listed.splitlines():
        degree, w, v, repeated = row.split()
        assert int(repeated) == Sphere(dimension).multiplicity(int(degree))
        moment = point["U"][int(degree) - 1] if int(degree) <= int(count) else 0.0
        field -= (coupling * float(w) * moment + float(v)) / noise * polynomial(int(degree))
    density = weights * np.exp(field - field.max())
    means = [density @ polynomial(degree) / density.sum() for degree in range(1, point["U"].size + 1)]
    return np.abs(np.array(means) - point["U"]).max()


def test_the_described_equation_holds(tmp_path, zonal):
    cases = [(zonal, 3), (fisher_diagram(3, 0.7), 3), (fisher_diagram(6), 6)]
    for number, (diagram, dimension) in enumerate(cases):
        _, solutions, *_, description = save(diagram, tmp_path / f"run{number}.auto")
        points = read_s(solutions.read_text())
        assert points
        for point in points:
            # Eleven digits of kappa and U, amplified by kappa.
            assert described_defect(point, description.read_text(), dimension) < 100 * DIGITS


def test_auto_files_are_read_back(tmp_path, zonal):
    diagram, *_ = save(zonal, tmp_path / "run.auto")
    imported = open_diagram(tmp_path / "run.auto")
    assert imported.problem == zonal.problem
    assert len(read_b(diagram.read_text())) == 3
    for ours, theirs in zip(zonal.branches, imported.branches, strict=True):
        assert (ours.label, ours.symmetry, ours.layout) == (theirs.label, theirs.symmetry, theirs.layout)
        assert np.allclose(ours.coupling, theirs.coupling, rtol=DIGITS, atol=0)
        assert np.allclose(ours.cosine[:, :7], theirs.cosine[:, :7], rtol=DIGITS, atol=1e-300)
    assert [event.type for event in imported.special_points] == ["branch point", "fold", "transition"]


def test_foreign_auto_files_are_moments_about_an_axis(tmp_path, zonal):
    *_, description = save(zonal, tmp_path / "run.auto")
    description.unlink()
    imported = open_diagram(tmp_path / "run.auto", problem=zonal.problem)
    assert imported.critical_coupling == pytest.approx(3.75, rel=1e-14)
    assert [branch.symmetry for branch in imported.branches] == [0, 2, 2]
    assert "moments about an axis of symmetry" in imported.warnings[-1]


@pytest.mark.parametrize(("upper", "degrees"), [(3.74, 1), (3.76, 2)])
def test_degrees_the_uniform_state_loses_are_kept(tmp_path, zonal, upper, degrees):
    """Degree 2 becomes critical at N_2 D/|w_2| = 5/(4/3)."""
    uniform = dataclasses.replace(
        zonal, branches=zonal.branches[:1], special_points=(), interval=(2.6, upper)
    )  # fmt: skip
    _, solutions, *_ = save(uniform, tmp_path / "run.auto")
    assert {point["U"].size for point in read_s(solutions.read_text())} == {degrees}


def test_auto_refuses_densities_without_an_axis(tmp_path, full):
    sentence = (
        r"branches 'octahedral', 'cube' of this diagram have none; write \.nc, \.json, \.npz or \.mat instead"
    )
    with pytest.raises(InvalidInput, match=sentence):
        save(full, tmp_path / "run.auto")
    one = dataclasses.replace(full, branches=full.branches[:2])
    with pytest.raises(InvalidInput, match=r"branch 'octahedral' of this diagram has none"):
        save(one, tmp_path / "run.auto")
    assert list(tmp_path.iterdir()) == []


def damaged(tmp_path, diagram, change):
    (path,) = save(diagram, tmp_path / "run.json", force=True)
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    return path


def set_layout(values, layout):
    values["branches"][1]["layout"] = layout


def cut_one_place(values):
    branch = values["branches"][1]
    for name in ("cosine", "sine", "tangent_cosine", "tangent_sine"):
        branch[name] = [row[:-1] for row in branch[name]]


def cut_sines(values):
    values["branches"][1]["sine"] = [row[:-1] for row in values["branches"][1]["sine"]]


def on_circle(values):
    values["problem"]["domain"] = {"name": "circle"}


def in_four_dimensions(values):
    values["problem"]["domain"] = {"name": "sphere", "dimension": 4}


def event_by_degree(values):
    values["special_points"][-1]["layout"] = "degree"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda values: set_layout(values, "orders"), "must be 'degree' or 'order', not 'orders'"),
        (lambda values: set_layout(values, 3), "must be 'degree' or 'order', not 3"),
        (lambda values: set_layout(values, None), "must be 'degree' or 'order', not None"),
        (cut_one_place, "'octahedral' are by degree and order and 152 in number"),
        (cut_sines, "the moments of branch 'octahedral' differ in number"),
        (on_circle, "which they are not on the circle"),
        (in_four_dimensions, "which they are not on the sphere of dimension 4"),
        (event_by_degree, "special point 1 are by degree, unlike those of its branch"),
    ],
)
def test_damaged_layouts_are_refused_in_words(tmp_path, full, change, words):
    path = damaged(tmp_path, full, change)
    with pytest.raises(InvalidInput, match="cannot be read") as caught:
        open_diagram(path)
    assert words in str(caught.value)
