"""Pictures, tested by the data on their lines."""

import dataclasses
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from sample import repulsive_sample, sample

from meanfield import (
    Circle,
    ComputationFailed,
    ContinuityEquation,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Outcome,
    PhaseLag,
    Sphere,
    Transformer,
)
from meanfield.plotting import (
    caption,
    check_figure,
    critical_mode,
    plot_diagram,
    plot_panels,
    plot_state,
    save_figure,
)
from meanfield.plotting.captions import caption_parts_over, joined
from meanfield.records import segments
from meanfield.wording import describe_over


@pytest.fixture
def diagram():
    return sample()


def pieces(ax, label):
    return [line for line in ax.get_lines() if line.get_gid() == label]


def test_stable_solid_unstable_dashed(diagram):
    ax = plot_diagram(diagram, "m1")
    branch = diagram.branches[1]
    unstable, stable = pieces(ax, "1-cluster")
    fold = branch.point_labels.index("LP")
    assert unstable.get_linestyle() == "--" or unstable.is_dashed()
    assert stable.get_linestyle() == "-"
    expected = np.column_stack([branch.relative_coupling, branch.cosine[:, 1]])
    assert np.array_equal(unstable.get_xydata(), expected[: fold + 1])
    assert np.array_equal(stable.get_xydata(), expected[fold:])


def test_pieces_leave_no_gaps(diagram):
    for branch in diagram.branches:
        parts = list(segments(branch, np.sign(branch.unstable)))
        assert parts[0][0] == 0
        assert parts[-1][1] == len(branch) - 1
        assert all(left[1] == right[0] for left, right in itertools.pairwise(parts))
        assert all(left[2] != right[2] for left, right in itertools.pairwise(parts))


@pytest.mark.parametrize("count_at_fold", [0, 1])
def test_stability_changes_at_the_special_point_whatever_is_counted_there(diagram, count_at_fold):
    branch = diagram.branches[1]
    fold = branch.point_labels.index("LP")
    unstable = branch.unstable.copy()
    unstable[fold] = count_at_fold
    changed = dataclasses.replace(branch, unstable=unstable)
    assert [stop for _, stop, _ in segments(changed, unstable)] == [fold, len(branch) - 1]


def test_stability_changes_at_a_fold_although_a_point_of_equal_free_energy_is_its_neighbour(diagram):
    branch = diagram.branches[1]
    fold = branch.point_labels.index("LP")
    counts = (np.arange(len(branch)) > fold).astype(np.int64)
    labels = [*branch.point_labels]
    labels[fold + 1] = "TR"
    changed = dataclasses.replace(branch, unstable=counts, point_labels=tuple(labels))
    assert list(segments(changed, counts)) == [(0, fold, 0), (fold, len(branch) - 1, 1)]


def test_uncounted_is_dotted(diagram):
    ax = plot_diagram(diagram, "m1")
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        "stable", "unstable", "stability not counted", "branch point", "fold", "equal free energy",
    ]  # fmt: skip
    assert len(pieces(ax, "chiral, from 2-cluster")) == 2


@pytest.mark.parametrize(
    ("y", "values"),
    [
        ("m2", lambda branch: branch.cosine[:, 2]),
        ("m40", lambda branch: np.zeros(len(branch))),
        ("norm", lambda branch: np.sqrt(np.sum(branch.cosine[:, 1:] ** 2 + branch.sine[:, 1:] ** 2, axis=1))),
        ("amplitude", lambda branch: np.max(np.hypot(branch.cosine, branch.sine)[:, 1:], axis=1)),
        ("free_energy_gap", lambda branch: branch.free_energy_gap),
        ("slowest_rate", lambda branch: branch.slowest_rate),
    ],
)
def test_quantities(diagram, y, values):
    ax = plot_diagram(diagram, y)
    for branch in diagram.branches:
        lines = pieces(ax, branch.label)
        drawn = np.concatenate([lines[0].get_xydata(), *(line.get_xydata()[1:] for line in lines[1:])])
        # hypot and the root of a sum of squares differ by rounding.
        assert np.allclose(drawn[:, 1], values(branch), rtol=1e-15, atol=1e-17, equal_nan=True)


def test_markers_sit_on_the_special_points(diagram):
    ax = plot_diagram(diagram, "m1")
    marked = {}
    for line in ax.get_lines():
        if line.get_linestyle() == "None":
            marked.setdefault(line.get_marker(), []).append(tuple(line.get_xydata()[0]))
    for kind, marker in (("fold", "s"), ("transition", "D"), ("branch point", "o")):
        assert marked[marker] == [(event.relative_coupling, event.m1) for event in diagram.events(kind)]
    assert len(marked) == 3


def test_axes_have_symbols(diagram):
    ax = plot_diagram(diagram)
    assert ax.get_xlabel() == r"$\kappa/\kappa_{1}$"
    assert ax.get_ylabel() == r"$\max_k |m_k|$"
    assert plot_diagram(diagram, "m1").get_ylabel() == "$m_{1}$"
    assert ax.get_xlim() == (0.5, 2.25)
    assert critical_mode(diagram) == 1
    free = plot_diagram(repulsive_sample(), "norm")
    assert free.get_xlabel() == r"$\kappa$"
    assert critical_mode(repulsive_sample()) is None
    assert np.array_equal(pieces(free, "uniform")[0].get_xdata(), repulsive_sample().branches[0].coupling)


def test_names_in_words_do_not_overlap(diagram):
    for y in ("m1", "m2", "norm", "amplitude", "free_energy_gap"):
        ax = plot_diagram(diagram, y)
        boxes = [text.get_window_extent() for text in ax.texts]
        assert not any(one.overlaps(two) for at, one in enumerate(boxes) for two in boxes[:at])
        legend = ax.get_legend().get_window_extent()
        assert not any(box.overlaps(legend) for box in boxes)
        words = ", ".join(text.get_text() for text in ax.texts)
        assert all(branch.label in words for branch in diagram.branches)


def crowded(count):
    """The sample with copies of a branch, each with its moments made smaller, and names to tell them apart."""
    original = sample()
    branch = original.branches[1]
    copies = [
        dataclasses.replace(branch, label=f"copy {number}", cosine=branch.cosine * 0.85**number, parent=None)
        for number in range(1, count + 1)
    ]
    return dataclasses.replace(original, branches=(*original.branches, *copies), special_points=())


def pixels_of(ax, diagram, index, y):
    branch = diagram.branches[index]
    points = np.column_stack(
        [branch.relative_coupling, np.max(np.hypot(branch.cosine, branch.sine)[:, 1:], axis=1)]
    )
    fine = np.linspace(0, len(points) - 1, 4000)
    dense = np.column_stack([np.interp(fine, np.arange(len(points)), column) for column in points.T])
    inside = (dense[:, 0] >= ax.get_xlim()[0]) & (dense[:, 0] <= ax.get_xlim()[1])
    return ax.transData.transform(dense[inside])


def away(box, points):
    """Distance of the nearest of points from a box, in points of 1/72 inch."""
    outside = np.maximum(np.maximum([box.x0, box.y0] - points, points - [box.x1, box.y1]), 0.0)
    return float(np.min(np.hypot(*outside.T))) * 72.0 / 100.0


@pytest.mark.parametrize("count", [0, 3, 12])
def test_a_name_is_nearer_to_its_own_curve_than_to_any_other_or_leads_there(count):
    drawn = crowded(count)
    ax = plot_diagram(drawn, "amplitude")
    ax.figure.draw_without_rendering()
    curves = {branch.label: pixels_of(ax, drawn, index, "amplitude") for index, branch in enumerate(drawn.branches)}
    names = {text.get_text(): text for text in ax.texts}
    assert set(names) == set(curves)
    leaders = 0
    for name, text in names.items():
        ends = [text.get_window_extent()]
        if text.arrow_patch is not None:
            leaders += 1
            ends = [
                path.get_extents()
                for path in [text.arrow_patch.get_transform().transform_path(text.arrow_patch.get_path())]
            ]
            assert away(ends[0], curves[name]) < 2.0
            continue
        others = min(away(ends[0], points) for label, points in curves.items() if label != name)
        assert away(ends[0], curves[name]) < others
    assert leaders or count < 12


def test_a_dozen_branches_have_colours_of_their_own():
    ax = plot_diagram(crowded(8), "amplitude", labels=False)
    colours = {line.get_gid(): line.get_color() for line in ax.get_lines() if line.get_gid()}
    assert len(set(colours.values())) == len(colours) == 12


def test_the_problem_is_named(diagram):
    title = plot_diagram(diagram).get_legend().get_title().get_text()
    assert title == "cosine-series (w = [-1, -0.8]) on the circle, $D=1$"
    assert title in plot_panels(diagram).get_suptitle()
    state = diagram.state("1-cluster", 45)
    assert f"1-cluster: {title}" in " ".join(plot_state(state).figure.get_suptitle().split())
    assert rf"$\kappa={state.problem.coupling:.6g}$" in plot_state(state).figure.get_suptitle()


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (McKeanVlasov(Circle(), Transformer(beta=5.0)), r"transformer ($\beta=5$) on the circle, $D=1$"),
        (McKeanVlasov(Sphere(3), MaierSaupe(), 0.5, 7.0), r"maier-saupe on the sphere, $D=0.5$, $\kappa=7$"),
        (
            McKeanVlasov(Circle(), Kuramoto(), confinement=CosineSeries((0.3,))),
            "kuramoto on the circle, $D=1$, confinement cosine-series (w = [0.3])",
        ),
    ],
)
def test_captions(problem, expected):
    assert caption(problem) == expected


HALF = McKeanVlasov(Circle(), Transformer(beta=0.5), noise=0.5, coupling=0.5)


@pytest.mark.parametrize(
    ("problem", "parameter", "text", "drawn"),
    [
        (HALF, "beta", "transformer (beta) on the circle, noise D = 0.5, coupling kappa = 0.5",
         r"transformer ($\beta$) on the circle, $D=0.5$, $\kappa=0.5$"),
        (HALF, "noise", "transformer (beta = 0.5) on the circle, noise D, coupling kappa = 0.5",
         r"transformer ($\beta=0.5$) on the circle, $D$, $\kappa=0.5$"),
        (McKeanVlasov(Circle(), CosineSeries((-1.0, 0.5, -1.0))), "w2",
         "cosine-series (w = [-1, w2, -1]) on the circle, noise D = 1",
         "cosine-series (w = [-1, $w_{2}$, -1]) on the circle, $D=1$"),
        (ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.5)), "lag",
         "kuramoto with the phase lag on the circle, noise D = 1",
         "kuramoto with the phase lag on the circle, $D=1$"),
    ],
)  # fmt: skip
def test_a_parameter_that_varies_is_named_without_a_value(problem, parameter, text, drawn):
    assert describe_over(problem, parameter, (0.25, 1.0)) == text
    assert joined(caption_parts_over(problem, parameter, (0.25, 1.0))) == drawn


def test_where_a_branch_was_left_there_is_a_mark(diagram):
    branch = diagram.branches[1]
    last = len(branch) - 1
    end = next(event for event in diagram.special_points if event.branch == 1 and event.type != "transition")
    for outcome, marks in ((Outcome.NOT_RESOLVED, 1), (Outcome.LEFT_INTERVAL, 0)):
        event = dataclasses.replace(
            end, type="endpoint", point=last, description=str(outcome),
            relative_coupling=branch.relative_coupling[last], cosine=branch.cosine[last], sine=branch.sine[last],
        )  # fmt: skip
        branches = (diagram.branches[0], dataclasses.replace(branch, outcome=outcome), *diagram.branches[2:])
        left = dataclasses.replace(diagram, branches=branches, special_points=(event,))
        ax = plot_diagram(left, "m1")
        crosses = [line.get_xydata()[0] for line in ax.get_lines() if line.get_marker() == "x"]
        assert len(crosses) == marks
        assert ("followed no further" in [text.get_text() for text in ax.get_legend().get_texts()]) is bool(marks)
        assert all(
            np.array_equal(cross, (branch.relative_coupling[last], branch.cosine[last, 1])) for cross in crosses
        )


def test_two_diagrams_in_one_axes_are_told_apart(diagram):
    other = dataclasses.replace(
        diagram, problem=dataclasses.replace(diagram.problem, noise=2.0), interval=(0.2, diagram.interval[1])
    )
    ax = plot_diagram(diagram)
    first = list(ax.get_lines())
    assert plot_diagram(other, ax=ax) is ax
    second = [line for line in ax.get_lines() if line not in first]
    assert len({line.get_color() for line in first}) == len({line.get_color() for line in second}) == 1
    assert first[0].get_color() != second[0].get_color()
    legend = ax.get_legend()
    named = {
        text.get_text(): line.get_color() for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert (named["$D=1$"], named["$D=2$"]) == (first[0].get_color(), second[0].get_color())
    assert legend.get_title().get_text() == "cosine-series (w = [-1, -0.8]) on the circle"
    low = 0.2 / diagram.critical_coupling
    assert ax.get_xlim() == (low, 2.25)
    assert [text.get_text() for text in ax.texts].count("1-cluster") == 2
    ax.clear()
    plot_diagram(other, ax=ax, legend=False)
    assert len({line.get_color() for line in ax.get_lines()}) > 1


def test_names_given_to_diagrams_are_in_the_legend(diagram):
    ax = plot_diagram(diagram, label="here")
    plot_diagram(diagram, ax=ax, label="there", color="red")
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["here", "there"]


def test_the_same_problem_twice_is_numbered(diagram):
    ax = plot_diagram(diagram, "m1")
    plot_diagram(diagram, "m1", ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["diagram 1", "diagram 2"]
    ax = plot_diagram(diagram, "m1")
    plot_diagram(diagram, "m2", ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["$m_{1}$", "$m_{2}$"]


def test_couplings_in_two_units_are_refused(diagram):
    ax = plot_diagram(diagram)
    with pytest.raises(InvalidInput, match="axes of their own"):
        plot_diagram(repulsive_sample(), ax=ax)


def test_branches_that_coincide_share_a_name(diagram):
    texts = [text.get_text() for text in plot_diagram(diagram, "m1").texts]
    assert "uniform, 2-cluster" in texts


def test_draws_on_the_axes_given_with_the_style_given(diagram):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot_diagram(diagram, "m1", ax, color="red", linewidth=3.0, legend=False, labels=False) is ax
    assert {line.get_color() for line in ax.get_lines()} == {"red"}
    assert ax.get_legend() is None
    assert not ax.texts
    assert diagram.plot("m1", ax) is ax


def test_state(diagram):
    state = diagram.state("1-cluster", 45)
    ax = plot_state(state, color="green")
    level, line = ax.get_lines()
    assert set(level.get_ydata()) == {1 / (2 * np.pi)}
    assert np.array_equal(line.get_ydata(), state.density(line.get_xdata()))
    assert line.get_color() == "green"
    assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1.0, rel=1e-14)


def test_panels(diagram):
    figure = plot_panels(diagram)
    amplitude, energy, rate, density = figure.axes
    assert energy.get_ylabel() == "$(F - F_0)/D$"
    assert pieces(amplitude, "1-cluster")
    assert pieces(rate, "2-cluster")
    curves = [line for line in density.get_lines() if line.get_label()[0] != "_"]
    branch = diagram.branches[1]
    assert 3 <= len(curves) <= 6
    for curve in curves:
        assert len(curve.get_xdata()) > 512
        assert np.min(np.abs(branch.relative_coupling - float(curve.get_label()))) < 5e-3
    assert density.get_ylim()[1] > max(np.max(curve.get_ydata()) for curve in curves)
    assert len(figure.legends) == 1
    assert amplitude.get_legend() is None


def test_panels_with_nothing_known():
    diagram = repulsive_sample()
    branch = diagram.branches[0]
    unknown = np.full(len(branch), np.nan)
    bare = dataclasses.replace(branch, slowest_rate=unknown, observables={"free_energy_gap": unknown})
    figure = plot_panels(dataclasses.replace(diagram, branches=(bare,)))
    assert [text.get_text() for text in figure.axes[2].texts] == ["not computed"]


def test_panels_of_an_imported_diagram(diagram, tmp_path):
    from meanfield import open_diagram
    from meanfield.export import save

    save(diagram, tmp_path / "run.auto")
    figure = plot_panels(open_diagram(tmp_path / "run.auto"))
    assert len(figure.axes[3].get_lines()) > 2


@pytest.mark.parametrize("y", ["m0", "m", "mm", "energy", "m-1", "m\N{SUPERSCRIPT TWO}"])
def test_unknown_quantity(diagram, y):
    with pytest.raises(InvalidInput, match="cannot plot"):
        plot_diagram(diagram, y)


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_save(diagram, tmp_path, suffix):
    figure = plot_diagram(diagram).figure
    path = save_figure(figure, tmp_path / f"a{suffix}", provenance={"command": "meanfield"})
    assert path.read_bytes()[:4] in (b"\x89PNG", b"%PDF", b"<?xm")
    with pytest.raises(InvalidInput, match="exists already"):
        save_figure(figure, path)
    save_figure(figure, path, force=True)
    assert [entry.name for entry in tmp_path.iterdir()] == [f"a{suffix}"]


def test_provenance_travels_in_the_picture(diagram, tmp_path):
    from PIL import Image

    path = save_figure(plot_diagram(diagram).figure, tmp_path / "a.png", provenance={"command": "x"})
    with Image.open(path) as image:
        assert json.loads(image.info["Description"]) == {"command": "x"}
        assert image.size == (1680, 1140)


def test_unknown_picture_format(diagram, tmp_path):
    for name in ("a.jpeg", "a"):
        with pytest.raises(InvalidInput, match=r"\.png, \.pdf, \.svg"):
            check_figure(tmp_path / name)


def test_failure_keeps_the_old_picture(diagram, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    figure = plot_diagram(diagram).figure
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(ComputationFailed, match="No space left"):
        save_figure(figure, path, force=True)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.png"]


def test_nothing_heavy_is_imported_and_no_style_is_changed():
    code = (
        "import sys; import meanfield.plotting, meanfield.summary\n"
        "heavy = {'matplotlib', 'xarray', 'pandas', 'netCDF4', 'scipy.io'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "import matplotlib\n"
        "def style(): return {k: matplotlib.rcParams[k] for k in matplotlib.rcParams if k != 'backend'}\n"
        "before = style()\n"
        "from sample import sample; from meanfield.plotting import *\n"
        "plot_panels(sample()); assert style() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    import pathlib

    here = pathlib.Path(__file__).parent
    paths = f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent.parent)!r}]\n"
    subprocess.run([sys.executable, "-c", paths + code], check=True)
