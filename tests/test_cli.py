"""The command line: what every command prints and writes, seen from outside."""

import csv
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import ClassVar

import numpy as np
import pytest

import meanfield.command_line.progress
import meanfield.potentials
import solvers.diagram
from meanfield import (
    Circle,
    CosineSeries,
    InvalidInput,
    McKeanVlasov,
    Transformer,
    branch_shape,
    critical_couplings,
    open_diagram,
    tricritical_beta,
)
from meanfield.cli import _commands, _description, main
from meanfield.command_line import formatted, table
from meanfield.export.states import PLACE_COLUMNS as STATE_PLACE_COLUMNS
from meanfield.export.states import RESULT_COLUMNS as STATE_RESULT_COLUMNS
from meanfield.records.columns import PLACE_COLUMNS, RESULT_COLUMNS, SPECIAL_COLUMNS
from solvers.relaxation import uniform_rate
from tests import problems

# Of an equation with a free energy.
COLUMNS_OF_POINTS = (*PLACE_COLUMNS, "free_energy_gap", *RESULT_COLUMNS)
COLUMNS_OF_STATES = (*STATE_PLACE_COLUMNS, "free_energy_gap", *STATE_RESULT_COLUMNS)

EPS = np.finfo(float).eps


def run(capsys, *arguments):
    """Return exit code, standard output and standard error of a command run in this process."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def succeed(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert code == 0, err
    return out


def strict_json(text):
    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    return json.loads(text, parse_constant=refuse)


def process(*arguments, **settings):
    code = "import sys; from meanfield.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **settings)


def test_help_lists_every_command_with_its_description(capsys):
    out = succeed(capsys, "--help")
    for name in ("bifurcation", "stationary", "rate", "theory", "show", "plot", "export"):
        line = next(line for line in out.splitlines() if line.split()[:1] == [name])
        assert line.endswith("."), line


def test_description_is_the_docstring_of_the_function_that_runs():
    for name in ("bifurcation", "theory"):
        entry = _commands()[name]
        assert _description(entry) == entry.load().__doc__.splitlines()[0]


def test_version(capsys):
    assert succeed(capsys, "--version").startswith("meanfield ")


def test_command_help_exits_with_success(capsys):
    assert "--tolerance" in succeed(capsys, "bifurcation", "--help")


def test_theory_prints_closed_forms_to_twelve_digits(capsys):
    out = succeed(capsys, "theory", "transformer", "--beta", "5", "--modes", "3")
    problem = problems.TRANSFORMER.problem
    shape = branch_shape(problem, 2)
    for value in (*critical_couplings(problem, 3)[1:], shape.curvature, shape.quartic, tricritical_beta(3)):
        assert f"{float(value):.13g}" in out
    assert "subcritical" in out
    assert max(map(len, out.splitlines())) <= 100


def test_theory_json_has_the_numbers_themselves(capsys):
    values = strict_json(succeed(capsys, "theory", "transformer", "--beta", "5", "--modes", "2", "--json"))
    problem = problems.TRANSFORMER.problem
    assert [row["coupling"] for row in values["modes"]] == critical_couplings(problem, 2)[1:].tolist()
    assert values["modes"][1]["b2"] == branch_shape(problem, 2).quartic
    assert values["global_criterion"]["continuous"] is False


def test_theory_leaves_unknown_numbers_out(capsys):
    row = strict_json(succeed(capsys, "theory", "kuramoto", "--modes", "2", "--json"))["modes"][1]
    assert (row["coupling"], row["b1"], row["type"]) == (None, None, None)


def test_theory_gives_growth_rates_at_a_coupling(capsys):
    arguments = ("theory", "kuramoto", "--coupling", "3", "--modes", "2", "--json")
    rates = [row["growth_rate"] for row in strict_json(succeed(capsys, *arguments))["modes"]]
    assert rates == [0.5, -4.0]


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no extended precision")
def test_couplings_below_the_smallest_double_are_printed(capsys):
    arguments = ("theory", "transformer", "--beta", "800", "--modes", "1")
    assert "2.081340307828e-343" in succeed(capsys, *arguments)
    assert '"coupling": 2.08134030782820' in succeed(capsys, *arguments, "--json")
    half = succeed(capsys, *arguments, "--coupling", "1.0406701539141011e-343", "--json")
    assert strict_json(half)["modes"][0]["growth_rate"] == pytest.approx(-0.5, rel=1e-12)


@pytest.mark.parametrize(
    "arguments",
    [
        ("cosine-series", "--coefficients", "-1", "-0.9"),
        ("custom", "--coefficients", "-1", "-9e-1"),
        ("custom", "--coefficients", "-1.", "-.9"),
        ("custom", "--expression", "-cos(t) - 0.9*cos(2*t)"),
        ("custom", "--expression=-cos(t) - 0.9*cos(2*t)"),
        ("custom", "--expression", "-cos(t)-0.9*cos(2*t)"),
    ],
)
def test_values_may_start_with_a_minus(capsys, arguments):
    values = strict_json(succeed(capsys, "theory", *arguments, "--modes", "2", "--json"))
    # Coefficients of a formula are computed, with an error of a few roundings of max |W| = 1.9.
    assert [row["multiplier"] for row in values["modes"]] == pytest.approx([-1.0, -0.9], abs=8 * EPS)


@pytest.mark.parametrize("beta", ["-5", "-5e0", "-.5"])
def test_negative_beta(capsys, beta):
    values = strict_json(succeed(capsys, "theory", "transformer", "--beta", beta, "--json"))
    assert values["problem"]["potential"]["parameters"]["beta"] == float(beta)


def test_a_number_that_is_given_twice_is_refused(capsys):
    code, _, error = run(capsys, "theory", "custom", "--expression", "-b*cos(t)", "--given", "b=1", "b=2")
    assert code == 2
    assert "--given has b twice" in error


def test_negative_range(capsys):
    arguments = (
        "bifurcation",
        "logarithmic",
        "--sign",
        "-1",
        "--coupling",
        "-3",
        "-1e-3",
        "--no-rates",
        "--json",
    )
    assert strict_json(succeed(capsys, *arguments))["interval"] == [-3.0, -0.001]


def test_options_may_stand_before_the_potential(capsys):
    values = strict_json(succeed(capsys, "theory", "--noise", "2", "--json", "kuramoto"))
    assert values["critical_coupling"] == 4.0


def test_bifurcation_prints_the_summary(capsys):
    exact = problems.TRANSFORMER.exact
    out = succeed(capsys, "bifurcation", "transformer", "--beta", "5", "--no-rates")
    assert f"critical coupling {exact('critical coupling'):.12g}" in out
    assert f"{exact('fold'):.12g}" in out


def test_bifurcation_json_has_the_keys_of_the_tables(capsys):
    arguments = ("bifurcation", "transformer", "--beta", "5", "--relative", "0.8", "1.2", "--json")
    code, out, _ = run(capsys, *arguments)
    values = strict_json(out)
    assert code == 0
    assert out.count("\n") == 1
    assert set(values["points"][0]) == set(COLUMNS_OF_POINTS)
    assert set(values["special_points"][0]) == set(SPECIAL_COLUMNS)
    assert values["provenance"]["command"] == "meanfield " + " ".join(arguments)


def test_bifurcation_writes_every_file_and_its_origin(capsys, tmp_path):
    names = [tmp_path / name for name in ("a.nc", "a.json", "a.npz", "a.csv", "a.mat", "a.auto")]
    targets = [text for name in names for text in ("--to", str(name))]
    pictures = ("--plot", str(tmp_path / "a.png"), "--panels", str(tmp_path / "b.pdf"))
    arguments = ("bifurcation", "kuramoto", "--noise", "2", "--depth", "1")
    code, out, err = run(capsys, *arguments, *targets, *pictures, "--quiet")
    assert (code, out, err) == (0, "", "")
    for suffix in (".nc", ".json", ".npz"):
        origin = open_diagram(tmp_path / f"a{suffix}").provenance
        assert origin["configuration"]["noise"] == 2.0
        assert origin["configuration"]["depth"] == 1
        assert origin["command"].startswith("meanfield bifurcation kuramoto --noise 2 --depth 1 --to ")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "b.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "b.a").exists()
    assert (tmp_path / "a.special.csv").exists()


def test_a_range_without_bifurcation_is_a_result(capsys):
    out = succeed(capsys, "bifurcation", "kuramoto", "--coupling", "0", "1", "--no-rates")
    assert "no bifurcation" in out


def test_located_points_do_not_depend_on_the_tolerance(capsys):
    found = []
    for tolerance in ("1e-2", "1e-5"):
        arguments = ("transformer", "--beta", "5", "--relative", "0.8", "1.2", "--no-rates", "--json")
        values = strict_json(succeed(capsys, "bifurcation", *arguments, "--tolerance", tolerance))
        found.append([row["coupling"] for row in values["special_points"] if row["type"] != "endpoint"])
    assert len(found[0]) == 3
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("stationary", "kuramoto", "--coupling", "3"), "search: 2 states"),
        (("rate", "kuramoto", "--coupling", "3"), "search: 2 states"),
        (("verify", "circle.T8"), "circle.T8 on kuramoto: holds"),
    ],
)
def test_verbose_reports_and_quiet_is_silent(capsys, arguments, expected):
    _, out, err = run(capsys, *arguments, "-v")
    assert expected in err
    assert succeed(capsys, *arguments) == out
    if arguments[0] != "rate":
        assert run(capsys, *arguments, "--quiet") == (0, "", "")


def test_verbose_prints_a_line_a_branch(capsys):
    _, _, err = run(capsys, "bifurcation", "kuramoto", "--no-rates", "-v")
    assert "1-cluster" in err
    _, _, silent = run(capsys, "bifurcation", "kuramoto", "--no-rates")
    assert "1-cluster" not in silent


def test_the_bar_appears_when_a_single_branch_takes_long(capsys, monkeypatch):
    right = solvers.diagram.bifurcation_diagram

    def slow(*arguments, **settings):
        time.sleep(0.3)
        return right(*arguments, **settings)

    monkeypatch.setattr(solvers.diagram, "bifurcation_diagram", slow)
    for shown_after, options in ((0.05, ()), (0.05, ("--quiet",)), (10.0, ())):
        monkeypatch.setattr(meanfield.command_line.progress, "SHOWN_AFTER", shown_after)
        code, _, err = run(capsys, "bifurcation", "kuramoto", "--no-rates", *options)
        assert code == 0
        assert ("branches" in err) == (shown_after < 1 and not options)


EVERY_COMMAND = [
    "theory transformer --beta 5 --modes 100",
    "bifurcation kuramoto --no-rates --to a.nc",
    "stationary kuramoto --coupling 3",
    "rate kuramoto --coupling 3 --no-fit",
    "evolve kuramoto --coupling 3 --until 1 --to b.json",
    "particles kuramoto --coupling 3 --until 0.1 --particles 10",
    "compare kuramoto --coupling 1 --until 0.1 --particles 10 20 --replicas 2",
    "sweep kuramoto --over noise 1 2 2 --no-rates --store runs",
    "phase cosine-series --coefficients -1 -0.4 -0.5 --over w3 -0.6 -0.5 --coupling 1.9 2.1",
    "verify circle.T1",
    "show a.nc",
    "plot a.nc --to a.png",
    "export a.nc --to a.csv",
]


def test_every_command_has_a_bar(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(meanfield.command_line.progress, "SHOWN_AFTER", 0.0)
    for command in EVERY_COMMAND:
        _, _, err = run(capsys, *command.split())
        assert "\r" in err, command
    commands = {entry.name for entry in entry_points(group="meanfield.commands")}
    assert {command.split()[0] for command in EVERY_COMMAND} == commands


def test_configuration_is_below_the_command_line(capsys, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        'potential = "transformer"\nbeta = 5\nrelative = [0.5, 3]\nmax_step = 0.1\nno-rates = true\n'
        f'to = ["{tmp_path}/from_config.json"]\n'
    )
    target = tmp_path / "a.json"
    coupling = ("--coupling", "0.1", "0.15")
    succeed(capsys, "bifurcation", "--config", str(config), "--beta", "4", *coupling, "--to", str(target))
    diagram = open_diagram(target)
    assert diagram.problem.potential == Transformer(4.0)
    assert diagram.interval == (0.1, 0.15)
    assert diagram.provenance["configuration"]["max-step"] == 0.1
    assert not (tmp_path / "from_config.json").exists()
    succeed(capsys, "bifurcation", "--config", str(config), "--quiet")
    assert open_diagram(tmp_path / "from_config.json").problem.potential == Transformer(5.0)


def test_configuration_takes_texts_that_start_with_a_minus(capsys, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text('potential = "custom"\nexpression = "-cos(t)"\nmodes = 1\n')
    values = strict_json(succeed(capsys, "theory", "--config", str(config), "--json"))
    assert values["critical_coupling"] == pytest.approx(2.0, rel=8 * EPS)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no extended precision")
def test_configuration_takes_numbers_below_the_smallest_double(capsys, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text('potential = "transformer"\nbeta = 800\ncoupling = 1.040_670_153_914_101_1e-343\nmodes = 1\n')
    values = strict_json(succeed(capsys, "theory", "--config", str(config), "--json"))
    assert values["modes"][0]["growth_rate"] == pytest.approx(-0.5, rel=1e-12)


def test_the_command_line_puts_what_it_excludes_out_of_force(capsys, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text("quiet = true\n")
    arguments = ("stationary", "kuramoto", "--coupling", "3", "--config", str(config))
    assert run(capsys, *arguments) == (0, "", "")
    _, out, err = run(capsys, *arguments, "-v")
    assert "2 stationary states" in out
    assert "search: 2 states" in err


def test_show_plot_and_export(capsys, tmp_path):
    source = tmp_path / "a.nc"
    made = succeed(capsys, "bifurcation", "kuramoto", "--no-rates", "--to", str(source))
    assert succeed(capsys, "show", str(source)) == made
    assert strict_json(succeed(capsys, "show", "--json", str(source)))["critical_coupling"] == 2.0
    target, table_name, picture = (str(tmp_path / name) for name in ("b.json", "b.csv", "b.svg"))
    out = succeed(capsys, "export", str(source), "--to", target, "--to", table_name, "--json")
    assert strict_json(out)["written"][0] == target
    assert open_diagram(target).provenance == open_diagram(source).provenance
    with (tmp_path / "b.csv").open() as stream:
        assert tuple(next(csv.reader(stream))) == COLUMNS_OF_POINTS
    succeed(capsys, "plot", str(source), "--to", picture, "--y", "free_energy_gap")
    assert "<svg" in (tmp_path / "b.svg").read_text()


def test_stationary_names_the_minimiser(capsys, tmp_path):
    files = [str(tmp_path / name) for name in ("s.json", "s.npz", "s.csv")]
    targets = [text for name in files for text in ("--to", name)]
    picture = str(tmp_path / "s.png")
    arguments = ("stationary", "kuramoto", "--relative", "1.5", *targets, "--plot", picture)
    out = succeed(capsys, *arguments)
    assert "the minimiser of the free energy is 1-cluster" in out
    values = strict_json((tmp_path / "s.json").read_text())
    assert [state["minimiser"] for state in values["states"]].count(True) == 1
    with np.load(tmp_path / "s.npz") as archive:
        assert archive["state_0_cosine"].tolist() == values["states"][0]["cosine"]
        assert json.loads(str(archive["header"]))["states"][0]["label"] == "1-cluster"
    with (tmp_path / "s.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == COLUMNS_OF_STATES
    assert float(rows[0]["m1"]) == values["states"][0]["m1"]


@pytest.mark.parametrize("command", ["stationary", "rate"])
def test_states_that_can_be_had_are_returned_on_request(capsys, command):
    arguments = (command, "kuramoto", "--coupling", "1e8")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    assert "modes" in err
    assert "--on-failure return" in err
    out = succeed(capsys, *arguments, "--on-failure", "return")
    assert "the minimiser of the free energy is not known" in out


def test_stationary_json_has_the_keys_of_the_table(capsys):
    values = strict_json(succeed(capsys, "stationary", "kuramoto", "--coupling", "3", "--json"))
    assert set(values["states"][0]) == set(COLUMNS_OF_STATES)
    gaps = [state["free_energy_gap"] for state in values["states"]]
    assert gaps == sorted(gaps)


def test_stationary_waits_for_rates_in_files_only(capsys, monkeypatch):
    from solvers import stationary

    def refuse(state):
        raise AssertionError("a rate that nothing shows")

    given = ("stationary", "kuramoto", "--coupling", "3")
    computed = [state["slowest_rate"] for state in strict_json(succeed(capsys, *given, "--json"))["states"]]
    assert all(isinstance(rate, float) for rate in computed)
    monkeypatch.setattr(stationary, "_slowest_rate", refuse)
    assert "1-cluster" in succeed(capsys, *given)


def test_bifurcation_computes_rates_where_they_are_shown_only(capsys, monkeypatch, tmp_path):
    from solvers import diagram

    def refuse(*_):
        raise AssertionError("rates that nothing shows")

    given = ("bifurcation", "kuramoto", "--depth", "1")
    points = strict_json(succeed(capsys, *given, "--json"))["points"]
    assert any(point["slowest_rate"] is not None for point in points if point["branch_label"] != "uniform")
    monkeypatch.setattr(diagram, "with_rates", refuse)
    assert "1-cluster" in succeed(capsys, *given, "--plot", str(tmp_path / "diagram.png"))
    for shown in (("--json",), ("--to", str(tmp_path / "d.nc")), ("--panels", str(tmp_path / "panels.png"))):
        code, _, err = run(capsys, *given, *shown)
        assert code
        assert "rates that nothing shows" in err


def test_rate_agrees_with_the_closed_form_at_the_uniform_state(capsys):
    values = strict_json(succeed(capsys, "rate", "transformer", "--beta", "5", "--relative", "0.5", "--json"))
    assert values["theory"] == pytest.approx(0.5, rel=8 * EPS)
    assert values["gap"] == pytest.approx(values["theory"], rel=1e-12)


def test_rate_sets_rotation_apart(capsys):
    values = strict_json(succeed(capsys, "rate", "kuramoto", "--coupling", "3", "--json"))
    (state,) = values["states"]
    assert values["theory"] is None
    assert values["gap"] == state["slowest_rate"] > 0.1
    assert abs(state["rotation"]) < 1e-9
    assert "left out" in succeed(capsys, "rate", "kuramoto", "--coupling", "3")


@pytest.mark.parametrize("weights", [(-1.0, -0.9), (-0.1, 0.0, -1.0), (1.0, 2.0)])
def test_uniform_rate_is_the_minimum_over_modes(weights):
    problem = McKeanVlasov(Circle(), CosineSeries(weights), noise=0.5, coupling=0.7)
    shares = [0.5 * k**2 * (1 + 0.7 * weight) for k, weight in enumerate(weights, start=1)]
    beyond = 0.5 * (len(weights) + 1) ** 2
    assert uniform_rate(problem) == pytest.approx(min(*shares, beyond), rel=8 * EPS)


def test_uniform_rate_finds_a_slow_high_mode():
    problem = McKeanVlasov(Circle(), CosineSeries((0.0,) * 19 + (-1.0,)), coupling=1.999)
    # 400 (1 - 0.9995): the difference loses 1/0.0005 of its digits.
    assert uniform_rate(problem) == pytest.approx(0.2, rel=8 * EPS / 5e-4)


def test_uniform_rate_refuses_what_it_cannot_bound():
    repulsive = McKeanVlasov(Circle(), CosineSeries((-1.0,)))
    with pytest.raises(InvalidInput, match="coupling"):
        uniform_rate(repulsive)


@dataclass(frozen=True)
class Paired(CosineSeries):
    """A potential of another package: two numbers, one named like an option of the command."""

    w: tuple[float, ...] = ()
    noise: float = 1.0
    strength: float = 1.0
    name: ClassVar[str] = "paired"

    def __post_init__(self):
        object.__setattr__(self, "w", (-self.noise, -self.strength))


def test_potential_of_another_package(capsys, monkeypatch):
    class Entry:
        name = "paired"

        def load(self):
            return Paired

    monkeypatch.setattr(meanfield.potentials.registry, "_entry_points", lambda: [Entry()])
    arguments = ("paired", "--strength", "0.25", "--potential-noise", "0.5", "--noise", "2", "--json")
    values = strict_json(succeed(capsys, "theory", *arguments))
    assert [row["multiplier"] for row in values["modes"][:2]] == [-0.5, -0.25]
    assert values["problem"]["noise"] == 2.0


def test_table_aligns_columns_and_minus_signs():
    lines = table({"a": ["1", "22"], "b": ["-0.5", "2"]}).splitlines()
    assert lines == ["a   b", "1   -0.5", "22   2"]


def test_number_says_when_it_is_unknown():
    assert formatted(None) == formatted(float("nan")) == "-"
    assert formatted(0.1) == "0.1"


def test_output_into_a_closed_pipe_is_quiet():
    code = "import sys; from meanfield.cli import main; sys.exit(main())"
    command = f"{sys.executable} -c '{code}' theory kuramoto --modes 2000; echo $? >&2"
    shell = subprocess.run(["bash", "-c", f"({command}) | true"], capture_output=True, text=True, timeout=60)
    # Where the machine is busy, progress may be told before.
    assert shell.stderr.split()[-1] == "141"
    assert "Traceback" not in shell.stderr
    assert "rror" not in shell.stderr


def test_in_a_process_of_its_own(tmp_path):
    result = process("bifurcation", "kuramoto", "--no-rates", "--json", "--to", str(tmp_path / "a.nc"))
    assert result.returncode == 0
    assert strict_json(result.stdout)["critical_coupling"] == 2.0
    # A slow machine has shown a progress bar before.
    assert result.stderr.endswith(f"wrote {tmp_path / 'a.nc'}\n")


def test_help_needs_no_solver():
    """Half of a second of every ``--help`` went into scipy; importing anything of it brings that back."""
    code = (
        "import sys; from meanfield.cli import main\n"
        "heavy = ('scipy.linalg', 'scipy.interpolate', 'scipy.optimize', 'matplotlib', 'xarray', 'solvers.equations.equation')\n"
        "for command in sys.argv[1:]:\n"
        "    assert main([command, '--help']) == 0\n"
        "    print(command, [name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    commands = [entry.name for entry in entry_points(group="meanfield.commands")]
    done = subprocess.run([sys.executable, "-c", code, *commands], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"{command} []" for command in commands]
