"""Everything shown to a reader runs: the scripts of the gallery with their pinned numbers, and the quick starts."""

import re
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meanfield import maier_saupe_transition, tricritical_beta
from tests import problems

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("[0-9]*.py"))


@pytest.fixture(autouse=True)
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw without a screen and close what was drawn."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot

    monkeypatch.setattr(matplotlib.pyplot, "show", lambda: None)
    yield matplotlib.pyplot
    matplotlib.pyplot.close("all")


def run(number: int) -> dict[str, Any]:
    (script,) = (path for path in SCRIPTS if path.name.startswith(f"{number:02d}_"))
    return runpy.run_path(str(script), run_name="__main__")


def visible(axes: Any) -> bool:
    """Whether some curve lies inside the limits."""
    (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    points = np.concatenate([np.asarray(line.get_xydata(), dtype=float) for line in axes.get_lines()])
    inside = (points[:, 0] >= left) & (points[:, 0] <= right) & (points[:, 1] >= low) & (points[:, 1] <= high)
    return bool(inside.any())


def test_all_scripts_are_numbered() -> None:
    assert [path.name[:3] for path in SCRIPTS] == [f"{number:02d}_" for number in range(1, len(SCRIPTS) + 1)]
    assert {path.name for path in EXAMPLES.glob("*.py")} == {path.name for path in SCRIPTS}


def test_bifurcation_diagram(pyplot: Any) -> None:
    space = run(1)
    figure = pyplot.gcf()
    assert len(figure.axes) == 12
    assert all(visible(axes) for axes in figure.axes)
    diagrams = space["compute"]()
    space["check"](diagrams)
    (fold,) = diagrams[3.0].events("fold")
    (transition,) = diagrams[3.0].events("transition")
    assert fold.relative_coupling < transition.relative_coupling < 1
    with pytest.raises(AssertionError):
        space["check"](diagrams | {5.0: diagrams[3.0]})


def test_critical_couplings(pyplot: Any) -> None:
    space = run(2)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    space["check"](space["thresholds"])
    # As beta -> 0, b_1 -> 1/2 and kappa_n/kappa_1 -> n! (2/beta)^(n-1), with relative corrections of beta^2.
    small = np.array([1e-3])
    assert np.allclose(space["curvatures"](small), 0.5, atol=1e-3)
    assert np.allclose(space["relative_couplings"](small)[0, :3], [1, 4e3, 2.4e7], rtol=1e-6)
    with pytest.raises(AssertionError):
        space["check"](space["thresholds"] | {3: space["thresholds"][3] * (1 + 1e-11)})


def test_free_energy(pyplot: Any) -> None:
    space = run(3)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    diagrams = space["diagrams"]
    space["check"](diagrams)
    relative, gap, slopes = space["envelope"](diagrams[8.0])
    # The minimum of affine functions of the coupling is concave, so its slope never increases.
    assert np.all(np.diff(relative) >= 0)
    assert np.all(np.diff(slopes) <= 1e-12)
    assert np.all(np.diff(gap) <= 0)


def test_truncated_potentials(pyplot: Any) -> None:
    space = run(4)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    space["check"]()
    error = space["error"]
    for beta in (8.0, 20.0):
        assert error(beta, 8, 1) < error(beta, 4, 1) < error(beta, 2, 1)
        assert error(beta, 8, 3) < error(beta, 4, 3)
    assert error(20.0, 8, 2) > 10 * error(8.0, 8, 2)


def test_resonance(pyplot: Any) -> None:
    space = run(5)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    space["check"](space["diagrams"])
    assert abs(space["secondary"](1.5) / problems.TWO_MODES.exact("secondary coupling") - 1) < 1e-13
    with pytest.raises(AssertionError):
        space["check"](space["diagrams"] | {0.9: space["diagrams"][1.0]})


def test_contraction(pyplot: Any) -> None:
    space = run(14)
    assert visible(pyplot.gcf().axes[0])
    contraction, ensembles = space["contraction"], space["ensembles"]
    space["check"](contraction, ensembles)
    slowest = replace(contraction, rates=(replace(contraction.rates[0], rate=2.0 * np.e), *contraction.rates[1:]))
    with pytest.raises(AssertionError):
        space["check"](slowest, ensembles)


def test_softmax_attention(pyplot: Any) -> None:
    space = run(15)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    diagrams = space["diagrams"]
    space["check"](diagrams)
    with pytest.raises(AssertionError):
        space["check"](diagrams | {"softmax": diagrams["unnormalised"]})


def test_mass_in_flight(pyplot: Any) -> None:
    space = run(16)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    trajectory = space["trajectory"]
    flow = trajectory.flow_map
    denser = flow.densities * np.exp(0.1 * flow.time[:, np.newaxis])
    with pytest.raises(AssertionError):
        space["check"](replace(trajectory, flow_map=replace(flow, densities=denser)))


def test_staircase_of_tokens(pyplot: Any) -> None:
    space = run(17)
    assert all(visible(axes) for axes in pyplot.gcf().axes)
    climbs = space["climbs"]
    for beta in climbs:
        with pytest.raises(AssertionError):
            space["check"](climbs | {beta: climbs[beta]._replace(energy=climbs[beta].energy + 2e-3)})
    with pytest.raises(AssertionError):
        space["check"](climbs | {4.0: climbs[4.0]._replace(angles=climbs[4.0].angles + 1e-4)})


def test_tokens_on_the_sphere(pyplot: Any) -> None:
    space = run(18)
    axes = pyplot.gcf().axes
    assert len(axes) == 6
    assert visible(axes[-1])
    clouds = space["clouds"]
    last = max(clouds)
    starts = clouds[0.0].positions[0]
    assert np.abs(np.linalg.norm(starts, axis=1) - 1.0).max() < 1e-12
    with pytest.raises(AssertionError):
        space["check"](clouds | {last: clouds[7.0]})


def test_phase_diagrams_of_the_transformer(pyplot: Any) -> None:
    space = run(19)
    points = [diagram.events("tricritical")[0].values[0] for diagram in space["found"]]
    # The closed forms in d are computed apart from the roots in any parameter.
    assert points == pytest.approx([tricritical_beta(1, domain) for domain in space["DOMAINS"]], rel=1e-12)
    # The two states are stable together in a window that grows with the dimension.
    shares = [sum(r.area for r in diagram.regions if r.stable == 2) for diagram in space["found"]]
    assert shares == sorted(shares)
    assert all(visible(ax) for ax in pyplot.gcf().axes)


def test_cusp(pyplot: Any) -> None:
    space = run(20)
    (cusp,) = space["phases"].events("cusp")
    assert cusp.values == pytest.approx([-0.5830789009561255304, 2.021439651928438208], abs=1e-9)
    folds = [len(diagram.events("fold")) for diagram in space["diagrams"]]
    assert folds == [2 if value < cusp.values[0] else 0 for value in space["SHOWN"]]
    assert visible(pyplot.gcf().axes[0])


def test_isotropic_nematic(pyplot: Any) -> None:
    phases = run(21)["phases"]
    fold, line = (next(curve for curve in phases.curves if curve.type == kind) for kind in ("fold", "transition"))
    # Onsager's rods alone; the share 1e-6 of the other term moves the quotients by as much, times slopes below one.
    assert fold.relative_coupling[0] == pytest.approx(8.8765804297958885 / (32 / np.pi), abs=1e-6)
    assert line.relative_coupling[0] == pytest.approx(9.0119727414812875 / (32 / np.pi), abs=1e-6)
    assert np.all(fold.relative_coupling < 1.0)
    assert visible(pyplot.gcf().axes[0])


def test_nematic_in_a_field(pyplot: Any) -> None:
    phases = run(22)["phases"]
    kinds = [point.type for point in phases.special_points]
    assert sorted(kinds) == ["cusp", "end point", "tricritical", "triple point"]
    (triple,) = phases.events("triple point")
    # The isotropic-nematic transition without a field; -cos^2 is -2/3 P_2 and a constant.
    assert triple.coupling == pytest.approx(maier_saupe_transition(3).ratio / 1.5, rel=1e-11)
    assert all(region.agrees for region in phases.regions)
    assert visible(pyplot.gcf().axes[0])


def test_active_rotators(pyplot: Any) -> None:
    """Densities settle where a state is stable, and do not where none is."""
    space = run(23)
    diagram, runs = space["found"], space["runs"]
    assert {curve.type for curve in diagram.curves} == {"Hopf", "fold"}
    assert space["double"].status == "converged"
    ranges = [float(np.ptp(moment[times > 40.0])) for times, moment in runs]
    assert ranges[0] < 1e-2
    assert min(ranges[1:]) > 1.0
    assert all(visible(axes) for axes in pyplot.gcf().get_axes())


def test_particles(pyplot: Any) -> None:
    space = run(6)
    figure = pyplot.gcf()
    assert len(figure.axes) == 3
    assert all(visible(axes) for axes in figure.axes)
    relaxation, fluctuations = space["relaxation"], space["fluctuations"]
    assert relaxation.warnings == ()
    with pytest.raises(AssertionError):
        space["check"](relaxation, fluctuations | {0.75: fluctuations[0.4]})
    biased = replace(relaxation, moments=replace(relaxation.moments, expected=relaxation.moments.expected + 1e-5))
    with pytest.raises(AssertionError):
        space["check"](biased, fluctuations)


def test_relaxation(pyplot: Any) -> None:
    space = run(7)
    figure = pyplot.gcf()
    assert all(visible(axes) for axes in figure.axes if axes.get_lines())
    trajectory, state = space["trajectory"], space["state"]
    with pytest.raises(AssertionError):
        space["check"](trajectory, state.replace(slowest_rate=1.001 * state.slowest_rate))
    with pytest.raises(AssertionError):
        space["check"](
            replace(
                trajectory, observables={**trajectory.observables, "dissipation": 1.01 * trajectory.dissipation}
            ),
            state,
        )


def test_staircase(pyplot: Any) -> None:
    space = run(8)
    figure = pyplot.gcf()
    assert all(visible(axes) for axes in figure.axes if axes.get_lines())
    trajectory, levels = space["trajectory"], space["levels"]
    # Four steps: most of the logarithm of the time is spent near one of the levels.
    near = [np.abs(trajectory.free_energy_gap - gap).min() < 0.05 for gap in space["GAPS"].values()]
    assert all(near)
    slopes = np.diff(trajectory.free_energy_gap) / np.diff(np.log(trajectory.time))
    assert np.mean(slopes > -0.1) > 0.7
    assert slopes.min() < -10.0
    with pytest.raises(AssertionError):
        space["check"](trajectory, levels | {3: levels[2]})


def test_transformer_sphere(pyplot: Any) -> None:
    space = run(9)
    figure = pyplot.gcf()
    assert all(visible(axes) for axes in figure.axes if axes.get_lines())
    assert sum(bool(axes.get_images()) for axes in figure.axes) == 3
    diagrams = space["diagrams"]
    # Near its onset the branch is the parabola drawn beneath it.
    branch = diagrams[1.0].branch("zonal 1")
    squares, detuning = branch.moment(1)[1:5] ** 2, branch.relative_coupling[1:5] - 1
    ratio = 0.19452804946532512  # I_(5/2)(1) / I_(3/2)(1)
    assert abs(np.polyfit(squares, detuning / squares, 2)[-1] / (0.6 * (1 - 3 * ratio) / (1 - ratio)) - 1) < 1e-4
    with pytest.raises(AssertionError):
        space["check"](diagrams | {1.0: diagrams[3.0]})


def test_maier_saupe(pyplot: Any) -> None:
    space = run(10)
    figure = pyplot.gcf()
    assert all(visible(axes) for axes in figure.axes if axes.get_lines())
    assert sum(bool(axes.get_images()) for axes in figure.axes) == 2
    diagram = space["diagram"]
    (fold,) = diagram.events("fold")
    # The value in print is not what the closed form has as its minimum.
    assert abs(fold.coupling - 6.731393) > 9e-5
    others = tuple(event for event in diagram.events() if event.type != "fold")
    with pytest.raises(AssertionError):
        space["check"](replace(diagram, special_points=(*others, replace(fold, coupling=6.731393))))


def test_onsager(pyplot: Any) -> None:
    space = run(11)
    figure = pyplot.gcf()
    assert len(figure.axes) == 3
    assert all(visible(axes) for axes in figure.axes)
    diagrams = space["diagrams"]
    # Of both potentials the branch passes through the uniform state with the slope -5/7.
    for diagram in diagrams.values():
        branch = diagram.branch("prolate")
        order, detuning = branch.moment(2)[1:5], branch.relative_coupling[1:5] - 1
        assert abs(np.polyfit(order, detuning / order, 3)[-1] + 5 / 7) < 1e-4
    with pytest.raises(AssertionError):
        space["check"](diagrams | {"Onsager": diagrams["Maier and Saupe"]})


def test_octahedral_state(pyplot: Any) -> None:
    space = run(12)
    figure = pyplot.gcf()
    assert all(visible(axes) for axes in figure.axes if axes.get_lines() and not axes.get_images())
    assert sum(bool(axes.get_images()) for axes in figure.axes) == 5
    # The curve begins at the critical coupling with the slope of the invariant's third moment.
    coupling, mean, _ = space["curve"](1e-4)
    assert abs((coupling / 9 - 1) / mean - problems.OCTAHEDRAL.exact("slope at onset")) < 1e-3
    # Mirrored, the cubic branch is not on the curve.
    diagram = space["diagram"]
    branches = tuple(
        replace(branch, label={"cubic": "octahedral", "octahedral": "cubic"}.get(branch.label, branch.label))
        for branch in diagram.branches
    )
    assert space["distance"](diagram, "cubic") < 1e-10
    assert space["distance"](replace(diagram, branches=branches), "cubic") > 1.0


def test_high_dimension(pyplot: Any) -> None:
    space = run(13)
    figure = pyplot.gcf()
    assert len(figure.axes) == 2
    assert all(visible(axes) for axes in figure.axes)
    # Each curve on the right is a probability density of the angle.
    for line in figure.axes[1].get_lines():
        angles, law = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert abs(np.trapezoid(law, angles) - 1) < 1e-4
    diagrams = space["diagrams"]
    with pytest.raises(AssertionError):
        space["check"](diagrams | {16: diagrams[8]})


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_quick_start(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyplot: Any) -> None:
    text = (EXAMPLES.parent / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), space)
    exact = problems.TRANSFORMER.exact
    assert abs(space["fold"].relative_coupling - exact("fold") / exact("critical coupling")) < 1e-12
    assert space["state"].label == "1-cluster (2)"
    assert (tmp_path / "diagram.csv").is_file()
    if "trajectory" in space:
        assert space["trajectory"].outcome.name == "STATIONARY"


def test_evolution_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyplot: Any) -> None:
    text = (EXAMPLES.parent / "docs/evolution.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/evolution.md", "exec"), space)
    assert space["trajectory"].outcome.name == "STATIONARY"
    assert (space["pair"].outcome.name, space["pair"].unstable) == ("METASTABLE", 2)
    assert {file.name for file in tmp_path.iterdir()} == {"trajectory.nc", "film.gif", "run.a", "run.b"}


def test_spheres_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyplot: Any) -> None:
    text = (EXAMPLES.parent / "docs/spheres.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/spheres.md", "exec"), space)
    assert abs(space["fold"].coupling - problems.SPHERICAL_ATTENTION.exact("fold")) < 1e-11
    assert space["octahedral"].branch("octahedral").layout == "order"
    assert space["found"].multiplicities[:3] == (1, 2, 2)
    assert space["trajectory"].outcome.name == "STATIONARY"
    assert abs(space["trajectory"].order_parameter()[-1] - space["state"].order_parameter()) < 1e-8


def test_sweeps_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyplot: Any) -> None:
    text = (EXAMPLES.parent / "docs/sweeps.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/sweeps.md", "exec"), space)
    found = space["found"]
    assert space["diagram"].problem.law.beta == 4.0
    # Above the tricritical beta the transition is of first order and has a fold.
    without = [beta < tricritical_beta() for beta in space["betas"]]
    assert np.isnan(space["folds"].min("special_point")).values.tolist() == without
    np.testing.assert_equal(space["folds"].min("special_point").values, found.numbers["lowest_fold"])
