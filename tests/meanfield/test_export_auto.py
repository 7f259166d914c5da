"""AUTO-07p files, read by a strict fixed-column reader that shares nothing with the library's."""

import dataclasses
import itertools
import re

import numpy as np
import pytest
from sample import moments, repulsive_sample, sample

from meanfield import Circle, CosineSeries, InvalidInput, McKeanVlasov, open_diagram
from meanfield.export import read_auto, save

NUMBER = re.compile(r" [ -]\d\.\d{10}E[+-]\d{3}")
# Eleven significant digits are kept.
DIGITS = 6e-11
CODES = {"BP": 1, "LP": 2, "TR": 4, "EP": 9}


def read_b(text):
    """Branches as (header lines, [(BR, PT, TY, LAB)], array of columns), every column checked."""
    branches = []
    for line in text.split("\n")[:-1]:
        assert line.isascii()
        if line[:4] == "   0":
            if not branches or branches[-1][1]:
                branches.append(([], [], []))
            branches[-1][0].append(line)
            continue
        integers = (line[0:4], line[4:10], line[10:14], line[14:19])
        cells = [line[at : at + 19] for at in range(19, len(line), 19)]
        assert all(NUMBER.fullmatch(cell) for cell in cells)
        branches[-1][1].append(tuple(int(cell) for cell in integers))
        branches[-1][2].append([float(cell) for cell in cells])
    return [(head, marks, np.array(columns)) for head, marks, columns in branches]


def numbers(lines, count):
    """Numbers of one record: four blanks, then seven a line."""
    values = []
    for position, line in enumerate(lines):
        assert line[:4] == "    "
        cells = [line[at : at + 19] for at in range(4, len(line), 19)]
        assert all(NUMBER.fullmatch(cell) for cell in cells)
        assert len(cells) == 7 or position == len(lines) - 1
        values += [float(cell) for cell in cells]
    assert len(values) == count
    return np.array(values)


def read_s(text):
    """Labelled points as dictionaries."""
    lines = text.split("\n")[:-1]
    points, at = [], 0
    while at < len(lines):
        head = lines[at]
        widths = [6] * 6 + [8, 6, 8] + [5] * 7
        assert len(head) == sum(widths)
        assert head[0] == " "
        edges = np.concatenate([[0], np.cumsum(widths)])
        fields = [int(head[a:b]) for a, b in itertools.pairwise(edges)]
        br, pt, ty, lab, nfpr, isw, ntpl, nar, rows, ntst, ncol, npar, npari, ndim, ips, ipriv = fields
        assert (nfpr, isw, ntpl, nar, ncol, npari, ips, ipriv) == (1, 1, 1, ndim + 1, 0, 0, 1, 0)
        vector_rows, parameter_rows, direction_rows = ndim // 7 + 1, (npar + 6) // 7, (ndim + 6) // 7
        assert rows == vector_rows + parameter_rows + (2 + direction_rows if ntst else 0)
        body = lines[at + 1 : at + 1 + rows]
        point = {"BR": br, "PT": pt, "TY": ty, "LAB": lab}
        vector = numbers(body[:vector_rows], ndim + 1)
        assert vector[0] == 0.0
        point["U"] = vector[1:]
        if ntst:
            assert body[vector_rows] == "    1"
            point["speed"] = numbers(body[vector_rows + 1 : vector_rows + 2], 1)[0]
            point["direction"] = numbers(body[vector_rows + 2 : vector_rows + 2 + direction_rows], ndim)
        point["PAR"] = numbers(body[rows - parameter_rows :], npar)
        points.append(point)
        at += 1 + rows
    return points


@pytest.fixture
def diagram():
    return sample()


def even(diagram):
    """The diagram without its chiral branch."""
    events = tuple(event for event in diagram.special_points if event.branch < 3)
    return dataclasses.replace(diagram, branches=diagram.branches[:3], special_points=events)


def written(diagram, tmp_path):
    paths = save(diagram, tmp_path / "run.auto", force=True)
    assert [path.name for path in paths] == ["b.run", "s.run", "c.run", "run.f90", "d.run"]
    texts = [path.read_text(encoding="ascii") for path in paths]
    return texts[0], texts[1], texts[4]


def test_diagram_file(diagram, tmp_path):
    text, _, _ = written(even(diagram), tmp_path)
    sections = read_b(text)
    assert len(sections) == 3
    for index, ((_, marks, columns), branch) in enumerate(zip(sections, diagram.branches, strict=False)):
        assert len(marks) == len(branch)
        assert {mark[0] for mark in marks} == {index + 1}
        assert [abs(mark[1]) for mark in marks] == list(range(1, len(branch) + 1))
        assert [mark[1] < 0 for mark in marks] == (branch.unstable == 0).tolist()
        for mark, label in zip(marks[1:-1], branch.point_labels[1:-1], strict=True):
            assert mark[2] == CODES.get(label, 0)
            assert (mark[3] > 0) == (mark[2] > 0)
        assert np.allclose(columns[:, 0], branch.coupling, rtol=DIGITS, atol=0)
        norm = np.sqrt(np.sum(branch.cosine[:, 1:] ** 2, axis=1))
        assert np.allclose(columns[:, 1], norm, rtol=DIGITS, atol=0)
        assert np.allclose(columns[:, 2:], branch.cosine[:, 1:7], rtol=DIGITS, atol=0)


def test_header_block(diagram, tmp_path):
    text, _, _ = written(even(diagram), tmp_path)
    for head, marks, columns in read_b(text):
        assert len(head[0]) == 5 + 4 * 12
        assert len(head[0].split()) == 5
        assert head[-2] == "   0"
        assert head[-1].startswith("   0    PT  TY  LAB ")
        width = len(head[-1])
        assert width == 19 + 19 * columns.shape[1] + 1 or (width - 20) % 19 == 0
        # AUTO's reader cuts the names by the length of a data line with its line feed.
        names = [head[-1][20 + 19 * at : 39 + 19 * at].rstrip() for at in range(columns.shape[1])]
        assert names == ["   PAR(1)", "   L2-NORM", *(f"     U({k})" for k in range(1, 7))]
        joined = "\n".join(head)
        for key in (
            "EPSL=",
            "EPSU =",
            "EPSS =",
            "DS  =",
            "DSMIN=",
            "DSMAX=",
            "IPS =   1",
            "IPLT=   0",
            "NPAR=",
        ):
            assert key in joined
        assert "   0   User-specified parameter:          1" in head
        assert "   0   Active continuation parameter:     1" in head
        assert int(re.search(r"NDIM=([ \d]{4})", joined).group(1)) == 24
        assert marks[0][1] in (1, -1)


@pytest.mark.parametrize("interval", [(1.0, 4.5), (1.00006, 4.50004), (-4.50004, -1.00006), (0.0, 4.49999)])
def test_header_block_covers_every_point_in_five_digits(diagram, tmp_path, interval):
    """AUTO takes the constants over, and ends a run at its first point if that is outside RL0 and RL1."""
    text, _, _ = written(dataclasses.replace(even(diagram), interval=interval), tmp_path)
    for head, _, _ in read_b(text):
        lower, upper = (float(number) for number in head[0].split()[1:3])
        assert lower <= interval[0]
        assert upper >= interval[1]
        assert (lower, upper) == pytest.approx(interval, rel=1e-4)


def test_steps_are_lengths_along_the_branch(diagram, tmp_path):
    """In all unknowns, since at a fold or a pitchfork the coupling hardly moves."""
    text, _, _ = written(even(diagram), tmp_path)
    for (head, _, _), branch in zip(read_b(text), even(diagram).branches, strict=True):
        start, least, most = (float(number) for number in re.findall(r"= *(-?\d\.\d+E[+-]\d+)", head[2]))
        moments = branch.cosine[:, 1:]
        steps = np.sqrt(np.sum(np.diff(moments, axis=0) ** 2, axis=1) + np.diff(branch.coupling) ** 2)
        assert abs(start) == pytest.approx(steps.mean(), rel=1e-4)
        assert np.sign(start) == np.sign(branch.coupling[1] - branch.coupling[0])
        assert most == pytest.approx(steps.max(), rel=1e-4)
        assert 0 < least < steps.min()


def test_labels_run_through_the_file(diagram, tmp_path):
    text, solutions, _ = written(even(diagram), tmp_path)
    labels = [mark[3] for _, marks, _ in read_b(text) for mark in marks if mark[3]]
    assert labels == list(range(1, len(labels) + 1))
    assert [point["LAB"] for point in read_s(solutions)] == labels


def test_solution_file(diagram, tmp_path):
    _, text, _ = written(even(diagram), tmp_path)
    points = read_s(text)
    for point in points:
        branch, at = diagram.branches[point["BR"] - 1], point["PT"] - 1
        assert np.allclose(point["U"], branch.cosine[at, 1:], rtol=DIGITS, atol=0)
        assert np.allclose(point["PAR"], [branch.coupling[at], 1.0], rtol=DIGITS, atol=0)
        direction = np.append(point["direction"], point["speed"])
        # Each of the entries is rounded to eleven digits, so the length is too.
        assert abs(np.linalg.norm(direction) - 1) < DIGITS
        tangent = np.append(branch.tangent_cosine[at, 1:], branch.tangent_coupling[at])
        assert np.allclose(direction, tangent / np.linalg.norm(tangent), rtol=2 * DIGITS, atol=1e-300)
    types = {point["TY"] for point in points}
    assert types == {1, 2, 4, 9}


def test_sines_follow_cosines_on_chiral_diagrams(diagram, tmp_path):
    _, text, description = written(diagram, tmp_path)
    last = [point for point in read_s(text) if point["BR"] == 4][-1]
    assert np.allclose(last["U"][:24], diagram.branches[3].cosine[-1, 1:], rtol=DIGITS, atol=0)
    assert np.allclose(last["U"][24:], diagram.branches[3].sine[-1, 1:], rtol=DIGITS, atol=0)
    assert "U(24 + k) = s_k" in description
    assert "Every rotation of a state solves G = 0" in description


def test_negligible_moments_are_dropped(diagram, tmp_path):
    _, text, _ = written(repulsive_sample(), tmp_path)
    assert {point["U"].size for point in read_s(text)} == {1}
    branch = diagram.branches[2]
    cosine = np.where(np.arange(25) > 10, 1e-18, branch.cosine)
    small = dataclasses.replace(
        even(diagram), branches=(dataclasses.replace(branch, cosine=cosine),), special_points=()
    )
    _, text, _ = written(small, tmp_path)
    assert {point["U"].size for point in read_s(text)} == {10}


def test_modes_the_uniform_state_loses_are_kept(diagram, tmp_path):
    """Else AUTO could not leave the uniform branch where no other was followed."""
    uniform = dataclasses.replace(even(diagram), branches=diagram.branches[:1], special_points=())
    for upper, modes in ((2.4, 1), (2.5, 2)):
        _, text, _ = written(dataclasses.replace(uniform, interval=(1.0, upper)), tmp_path)
        assert {point["U"].size for point in read_s(text)} == {modes}
    far = McKeanVlasov(Circle(), CosineSeries((*np.zeros(99), 1.0)))
    _, text, _ = written(dataclasses.replace(uniform, problem=far, interval=(-3.0, 1.0)), tmp_path)
    assert {point["U"].size for point in read_s(text)} == {100}


def test_branches_of_different_size_share_one_dimension(diagram, tmp_path):
    first = diagram.branches[0]
    short = dataclasses.replace(first, **{
        name: getattr(first, name)[:, :4] for name in ("cosine", "sine", "tangent_cosine", "tangent_sine")
    })  # fmt: skip
    mixed = dataclasses.replace(even(diagram), branches=(short, *diagram.branches[1:3]))
    _, text, _ = written(mixed, tmp_path)
    assert {point["U"].size for point in read_s(text)} == {24}


def long_branch(size):
    branch = sample().branches[0]
    arrays = {
        field.name: np.resize(getattr(branch, field.name), (size, *getattr(branch, field.name).shape[1:]))
        for field in dataclasses.fields(branch)
        if isinstance(getattr(branch, field.name), np.ndarray)
    }
    arrays["coupling"] = np.linspace(1.0, 1.9, size)
    arrays["unstable"] = np.zeros(size, dtype=np.int64)
    arrays["observables"] = {name: np.resize(values, size) for name, values in branch.observables.items()}
    return dataclasses.replace(branch, **arrays, point_labels=("",) * size)


@pytest.mark.parametrize("size", [9999, 10003])
def test_point_numbers_wrap(tmp_path, size):
    diagram = dataclasses.replace(repulsive_sample(), branches=(long_branch(size), sample().branches[0]))
    text, _, _ = written(diagram, tmp_path)
    (_, marks, _), _ = read_b(text)
    assert [-mark[1] for mark in marks] == [point % 9999 + 1 for point in range(size)]
    imported = read_auto(tmp_path / "run.auto")
    assert [len(branch) for branch in imported.branches] == [size, 15]


def test_unknown_moments_and_numbers_are_never_written(diagram, tmp_path):
    branch = diagram.branches[1]
    cosine = branch.cosine.copy()
    cosine[3, 2] = np.nan
    broken = dataclasses.replace(diagram, branches=(dataclasses.replace(branch, cosine=cosine),), special_points=())
    with pytest.raises(InvalidInput, match="not known"):
        save(broken, tmp_path / "run.auto")
    assert not list(tmp_path.iterdir())


def test_points_without_direction(diagram, tmp_path):
    branch = diagram.branches[0]
    still = dataclasses.replace(
        branch, tangent_coupling=np.zeros(len(branch)), tangent_cosine=np.zeros_like(branch.cosine)
    )
    _, text, _ = written(dataclasses.replace(even(diagram), branches=(still,), special_points=()), tmp_path)
    assert all("direction" not in point for point in read_s(text))


def test_description_lets_a_user_write_the_model(diagram, tmp_path):
    _, _, text = written(even(diagram), tmp_path)
    assert "U(k) = m_k, k = 1..24" in text
    assert "rho ~ exp(-sum_j (PAR(1) w_j m_j + v_j) cos(j theta) / PAR(2))" in text
    assert table(text) == (24, {1: (-1.0, 0.0), 2: (-0.8, 0.0)})


def table(text):
    """The n and the multipliers (w_j, v_j) of a d. file as the model file of the documentation reads them."""
    lines = iter(text.splitlines())
    (count,) = (int(line[4:]) for line in iter(lambda: next(lines), "    j  w_j  v_j") if line.startswith("n = "))
    rows = [line.split() for line in iter(lambda: next(lines), "")]
    assert all(len(row) == 3 for row in rows)
    return count, {int(degree): (float(w), float(v)) for degree, w, v in rows}


def described_defect(point, description):
    """Defect of 0 = G as the d. file describes it, at a point of the s. file, by the trapezoid rule."""
    n, multipliers = table(description)
    angle = 2 * np.pi * np.arange(512) / 512
    coupling, noise = point["PAR"]
    cosine, sine = point["U"][:n], np.resize(point["U"][n:], n) if point["U"].size > n else np.zeros(n)
    field = np.zeros_like(angle)
    for j, (w, v) in multipliers.items():
        m, s = (cosine[j - 1], sine[j - 1]) if j <= n else (0.0, 0.0)
        field -= ((coupling * w * m + v) * np.cos(j * angle) + coupling * w * s * np.sin(j * angle)) / noise
    weight = np.exp(field - field.max())
    weight /= weight.sum()
    waves = np.outer(np.arange(1, n + 1), angle)
    means = np.concatenate([np.cos(waves) @ weight, np.sin(waves) @ weight])[: point["U"].size]
    return np.max(np.abs(means - point["U"]))


def test_the_described_equation_holds_at_the_written_points(diagram, tmp_path):
    _, text, description = written(even(diagram), tmp_path)
    for point in read_s(text):
        # Eleven digits of kappa and U, amplified by kappa (at most 4.5) and the width of the state.
        assert described_defect(point, description) < 20 * DIGITS


@pytest.mark.parametrize("turned", [False, True])
def test_the_described_equation_has_confinement_and_sines(diagram, tmp_path, turned):
    """W = -cos t and V = h cos 2t: exp((kappa m_1 cos t - h cos 2t)/D), or turned by a quarter with -h."""
    noise, height = 0.7, 0.5
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), noise=noise, confinement=CosineSeries((0.0, height)))
    fields = np.linspace(0.5, 2.0, 15)
    states = np.array([moments(a, height / noise if turned else -height / noise) for a in fields])
    coupling = noise * fields / states[:, 1]
    rotated = states * 1j ** np.arange(states.shape[1]) if turned else states.astype(complex)
    branch = dataclasses.replace(diagram.branches[0], coupling=coupling, cosine=rotated.real, sine=rotated.imag, **{
        name: np.zeros_like(states) for name in ("tangent_cosine", "tangent_sine")
    })  # fmt: skip
    confined = dataclasses.replace(diagram, problem=problem, branches=(branch,), special_points=())
    _, text, description = written(confined, tmp_path)
    points = read_s(text)
    assert points
    for point in points:
        assert bool(np.any(point["U"][24:])) == turned
        assert described_defect(point, description) < 20 * DIGITS
    assert ("Every rotation" in description) is False


@pytest.mark.parametrize("name", ["run.auto", "b.run"])
def test_import_of_our_files(diagram, tmp_path, name):
    diagram = even(diagram)
    save(diagram, tmp_path / name)
    imported = open_diagram(tmp_path / name)
    assert imported.problem == diagram.problem
    assert imported.interval == diagram.interval
    assert imported.provenance == diagram.provenance
    assert imported.warnings[:2] == diagram.warnings
    assert "eleven digits" in imported.warnings[2]
    for ours, theirs in zip(diagram.branches, imported.branches, strict=True):
        assert (ours.label, ours.parent, ours.symmetry, ours.outcome) == (
            theirs.label, theirs.parent, theirs.symmetry, theirs.outcome,
        )  # fmt: skip
        assert np.allclose(ours.coupling, theirs.coupling, rtol=DIGITS, atol=0)
        assert np.allclose(ours.cosine[:, :7], theirs.cosine[:, :7], rtol=DIGITS, atol=0)
        labelled = np.array([bool(label) for label in theirs.point_labels])
        assert np.allclose(ours.cosine[labelled], theirs.cosine[labelled], rtol=DIGITS, atol=0)
        assert np.all(np.isnan(theirs.cosine[~labelled, 7:]))
        assert np.array_equal(theirs.unstable == 0, ours.unstable == 0)
        assert np.all(np.isnan(theirs.residual))
    assert [event.row()["coupling"] for event in imported.special_points] == [
        event.coupling for event in diagram.special_points
    ]


FOREIGN_B = """\
   0   0.0000E+00  1.5000E+01 -1.0000E+02  1.0000E+02
   0   EPSL=  1.0000E-07   EPSU =  1.0000E-07   EPSS =  1.0000E-05
   0   NDIM=   2   IPS =   1   IRS =   0   ILP =   1
   0   User-specified parameter:            1
   0
   0    PT  TY  LAB     PAR(1)             L2-NORM            U(1)               U(2)           \x20
   1    -1   9    1  1.0000000000E+000  0.0000000000E+000  0.0000000000E+000  0.0000000000E+000
   1    -2   1    2  2.0000000000E+000  0.0000000000E+000  0.0000000000E+000  0.0000000000E+000
   1     3   9    3  3.0000000000E+000  0.0000000000E+000  0.0000000000E+000  0.0000000000E+000
   2     1  12    4  1.9000000000E+000  5.0990195136E-001  5.0000000000E-001  1.0000000000E-001
   2    -2   0    0  2.5000000000E+000  6.0827625303E-001  6.0000000000E-001  1.0000000000E-001
   2    -3  -9    5  2.6000000000E+000  7.0710678119E-001  7.0000000000E-001  1.0000000000E-001
"""


def foreign_s(label, kappa, vector):
    u = "".join(
        f"{value:19.10E}".replace("E+", "E+0").replace("E-", "E-0")[1:].rjust(19) for value in [0.0, *vector]
    )
    head = [1, 1, 9, label, 1, 1]
    return (
        "".join(f"{v:6d}" for v in head) + f"{1:8d}{len(vector) + 1:6d}{2:8d}"
        + "".join(f"{v:5d}" for v in [0, 0, 1, 0, len(vector), 1, 0])
        + f"\n    {u}\n    {f'{kappa:.10E}'.replace('E+', 'E+0'):>19}\n"
    )  # fmt: skip


def foreign(tmp_path, third=()):
    points = [
        (1, 1.0, (0, 0)),
        (2, 2.0, (0, 0)),
        (3, 3.0, (0, 0)),
        (4, 1.9, (0.5, 0.1)),
        (5, 2.6, (0.7, 0.1)),
    ]
    (tmp_path / "b.run").write_text(FOREIGN_B)
    texts = [foreign_s(label, kappa, (*vector, *third)) for label, kappa, vector in points]
    (tmp_path / "s.run").write_text("".join(texts))
    return tmp_path / "b.run"


def test_import_of_files_of_auto(diagram, tmp_path):
    path = foreign(tmp_path)
    with pytest.raises(InvalidInput, match="does not say which equation"):
        open_diagram(path)
    imported = open_diagram(path, problem=diagram.problem)
    assert [len(branch) for branch in imported.branches] == [3, 3]
    assert [branch.label for branch in imported.branches] == ["uniform", "branch 2"]
    assert [branch.symmetry for branch in imported.branches] == [0, 1]
    assert imported.branches[1].point_labels == ("LP", "", "EP")
    assert imported.branches[1].unstable.tolist() == [-1, 0, 0]
    assert imported.branches[1].cosine[1].tolist() == [1.0, 0.6, 0.1]
    assert imported.critical_coupling == 2.0
    assert [(event.type, event.coupling) for event in imported.special_points] == [
        ("branch point", 2.0),
        ("fold", 1.9),
    ]
    assert imported.special_points[0].unstable_before == 0
    assert imported.special_points[1].kernel_dimension is None
    assert imported.interval == (1.0, 3.0)


def test_parameters_printed_behind_the_unknowns_are_none(diagram, tmp_path):
    path = foreign(tmp_path, third=(0.25,))
    text = FOREIGN_B.replace("parameter:            1", "parameters:         1   2").replace(
        "NDIM=   2", "NDIM=   3"
    )
    rows = [line + ("  7.0000000000E+000" if line[:4] != "   0" else "") for line in text.splitlines()]
    path.write_text("\n".join(rows) + "\n")
    cosine = open_diagram(path, problem=diagram.problem).branches[1].cosine
    assert cosine[[0, 2]].tolist() == [[1.0, 0.5, 0.1, 0.25], [1.0, 0.7, 0.1, 0.25]]
    assert cosine[1, :3].tolist() == [1.0, 0.6, 0.1]
    assert np.isnan(cosine[1, 3])


@pytest.mark.parametrize(
    ("free", "words"),
    [
        ("parameter:     2", r"b\.run follows parameter 2; this diagram can follow parameter 1 alone"),
        ("parameters:    1   2", r"b\.run has curves in 2 parameters, 1 and 2, and a diagram has one"),
        ("parameters:    2   1", r"b\.run has curves in 2 parameters, 2 and 1, and a diagram has one"),
    ],
)
def test_curves_in_other_parameters_are_refused(diagram, tmp_path, free, words):
    path = foreign(tmp_path)
    path.write_text(FOREIGN_B.replace("   0\n", f"   0   Active continuation {free}\n   0\n", 1))
    with pytest.raises(InvalidInput, match=words):
        open_diagram(path, problem=diagram.problem)


def test_repeated_labels_belong_to_the_branches_in_order(diagram, tmp_path):
    """As AUTO writes them when one run is appended to another."""
    path = foreign(tmp_path)
    path.write_text(FOREIGN_B.replace("  12    4", "  12    1").replace("  -9    5", "  -9    3"))
    points = [(1, 1.0, (0, 0)), (2, 2.0, (0, 0)), (3, 3.0, (0, 0)), (1, 1.9, (0.5, 0.1)), (3, 2.6, (0.7, 0.1))]
    (tmp_path / "s.run").write_text("".join(foreign_s(*point) for point in points))
    imported = open_diagram(path, problem=diagram.problem)
    assert imported.branches[0].cosine[[0, 2]].tolist() == [[1.0, 0.0, 0.0]] * 2
    assert imported.branches[1].cosine[[0, 2]].tolist() == [[1.0, 0.5, 0.1], [1.0, 0.7, 0.1]]


def test_what_auto_leaves_at_a_branch_point_is_no_moment(diagram, tmp_path):
    path = foreign(tmp_path)
    path.write_text(
        FOREIGN_B.replace("2.0000000000E+000  0.0000000000E+000", "2.0000000000E+000  3.0000000000E-008")
    )
    text = (tmp_path / "s.run").read_text()
    solution = foreign_s(2, 2.0, (3e-8, 0))
    (tmp_path / "s.run").write_text(text.replace(foreign_s(2, 2.0, (0, 0)), solution))
    imported = open_diagram(path, problem=diagram.problem)
    assert imported.branches[0].cosine[1, 1] == 3e-8
    assert imported.branches[0].label == "uniform"


@pytest.mark.parametrize("which", ["b.run", "s.run"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.9999])
def test_truncated(diagram, tmp_path, which, share):
    save(diagram, tmp_path / "run.auto")
    path = tmp_path / which
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidInput, match=which.replace(".", r"\.")):
        open_diagram(tmp_path / "run.auto")


@pytest.mark.parametrize("which", ["b.run", "s.run"])
def test_truncated_at_the_end_of_a_line(diagram, tmp_path, which):
    save(diagram, tmp_path / "run.auto")
    path = tmp_path / which
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InvalidInput, match="truncated"):
        open_diagram(tmp_path / "run.auto")


@pytest.mark.parametrize("which", ["b.run", "s.run", "d.run"])
def test_damaged(diagram, tmp_path, which):
    save(diagram, tmp_path / "run.auto")
    path = tmp_path / which
    path.write_text(path.read_text().replace("1", "x"))
    if which == "d.run":
        with pytest.raises(InvalidInput, match="is damaged"):
            open_diagram(tmp_path / "run.auto")
        return
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_diagram(tmp_path / "run.auto")


def test_other_content(tmp_path):
    (tmp_path / "b.run").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(InvalidInput, match="not plain text"):
        open_diagram(tmp_path / "b.run")
    (tmp_path / "b.run").write_text("theta,rho\n1,2\n")
    with pytest.raises(InvalidInput, match="line 1 cannot be read"):
        open_diagram(tmp_path / "b.run")
    (tmp_path / "b.run").write_text(FOREIGN_B)
    with pytest.raises(InvalidInput, match=r"s\.run does not exist"):
        open_diagram(tmp_path / "b.run")
