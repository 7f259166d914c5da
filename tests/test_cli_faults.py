"""Faults and nonsense on the command line: one sentence, the right exit code, nothing lost."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import meanfield.potentials
import solvers.commands.bifurcation
import solvers.diagram
from meanfield import ComputationFailed, CosineSeries
from meanfield.cli import main
from meanfield.command_line import configuration, progress
from meanfield.errors import did_you_mean
from tests.commands import fail

PROGRAM = "import sys; from meanfield.cli import main; sys.exit(main())"


USAGE = [
    (("bifurcaton",), "did you mean bifurcation?"),
    (("--vresion",), "unknown option"),
    (("bifurcation",), "try meanfield bifurcation transformer --beta 5"),
    (("bifurcation", "transfomer", "--beta", "5"), "did you mean transformer?"),
    (("bifurcation", "transformer"), "try meanfield bifurcation transformer --beta 5"),
    (("bifurcation", "transformer", "--bta", "5"), "did you mean --beta?"),
    (("bifurcation", "transformer", "--beta", "five"), "'five' is not a number"),
    (("bifurcation", "transformer", "--beta"), "expected one argument"),
    (("bifurcation", "transformer", "--beta", "0"), "beta must not be 0"),
    (("bifurcation", "transformer", "--beta", "nan"), "not nan"),
    (("bifurcation", "transformer", "--beta", "5", "--radius", "2"), "which takes --beta"),
    (("bifurcation", "kuramoto", "--beta", "5"), "which takes no parameters"),
    (("bifurcation", "custom"), "--expression"),
    (("bifurcation", "custom", "--coefficients", "1", "--expression", "-cos(t)"), "2 were given"),
    (("bifurcation", "custom", "--coefficients", "-1", "nan"), "not nan"),
    (("bifurcation", "custom", "--coefficients", "-1", "-inf"), "not -inf"),
    (("bifurcation", "custom", "--expression", "-sin(t)"), "not even"),
    (("bifurcation", "custom", "--expression", "-abs(sin(t))**0.1"), "jumps by"),
    (("bifurcation", "custom", "--expression", "-log(abs(t))"), "t = 0"),
    (("bifurcation", "custom", "--expression", "__import__('os')"), "meanfield: "),
    (("bifurcation", "logarithmic", "--sign", "sideways"), "'repulsive'"),
    (("bifurcation", "kuramoto", "--noise", "-1"), "noise must be a finite number, at least 0"),
    (("bifurcation", "kuramoto", "--noise", "nan"), "noise must be a finite number, at least 0"),
    (("bifurcation", "kuramoto", "--coupling", "3", "1"), "increasing"),
    (("bifurcation", "kuramoto", "--coupling", "1", "1"), "increasing"),
    (("bifurcation", "kuramoto", "--coupling", "nan", "1"), "finite"),
    (("bifurcation", "kuramoto", "--coupling", "-inf", "1"), "finite"),
    (("bifurcation", "kuramoto", "--relative", "3", "0.5"), "increasing"),
    (("bifurcation", "kuramoto", "--coupling", "1", "2", "--relative", "1", "2"), "together"),
    (("bifurcation", "logarithmic", "--sign", "repulsive"), "--coupling 0 5"),
    (("bifurcation", "kuramoto", "--depth", "-1"), "0 or more"),
    (("bifurcation", "kuramoto", "--depth", "1.5"), "not a whole number"),
    (("bifurcation", "kuramoto", "--tolerance", "-1e-3"), "--tolerance must be"),
    (("bifurcation", "kuramoto", "--tolerance", "nan"), "--tolerance must be"),
    (("bifurcation", "kuramoto", "--max-step", "0"), "--max-step must be"),
    (("bifurcation", "kuramoto", "--to", "a.xyz"), "'.xyz'"),
    (("bifurcation", "kuramoto", "--plot", "a.nc"), "picture format"),
    (("bifurcation", "kuramoto", "--to", "missing/a.nc"), "does not exist"),
    (("bifurcation", "kuramoto", "--to", "a.csv", "--to", "a.csv"), "written twice"),
    (("theory", "kuramoto", "5"), "unexpected argument '5'"),
    (
        ("bifurcation", "transformer", "--coupling", ".2", ".5", "--over", "beta", "1", "8"),
        "'.5'; beside --over, --coupling takes one",
    ),
    (
        ("bifurcation", "transformer", "--over", "beta", "1", "8", "--relative", ".2", "-.5"),
        "LOW HIGH --relative LOW HIGH",
    ),
    (
        ("phase", "cosine-series", "--coefficients", "-1", "--over", "w3", "-1", "-.5"),
        "the problem has no continuous parameter 'w3'",
    ),
    (("theory", "kuramoto", "--modes", "0"), "--modes must be"),
    (("rate", "kuramoto"), "--coupling K"),
    (("stationary", "kuramoto", "--coupling", "nan"), "coupling must be a finite number"),
    (("stationary", "logarithmic", "--sign", "-1", "--relative", "2"), "no positive critical coupling"),
    (("stationary", "kuramoto", "--coupling", "3", "--to", "a.nc"), ".json, .npz, .csv"),
    (("show",), "try meanfield show"),
    (("show", "missing.nc"), "does not exist"),
    (("plot", "missing.nc", "--to", "a.png"), "does not exist"),
    (("export", "missing.nc"), "does not exist"),
]


@pytest.mark.parametrize(("arguments", "expected"), USAGE, ids=lambda value: " ".join(value)[:60])
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_wrong_usage_is_one_sentence(capsys, monkeypatch, tmp_path, arguments, expected, form):
    monkeypatch.chdir(tmp_path)
    assert expected in fail(capsys, 2, *arguments, *form)
    assert list(tmp_path.iterdir()) == []


def test_no_command_shows_the_help_as_an_error(capsys):
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "commands:" in captured.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bta = 5", "unknown key 'bta'"),
        ("bta = 5", "did you mean beta?"),
        ("debug = true", "unknown key 'debug'"),
        ("beta =", "not valid TOML"),
        ("quiet = 3", "must be true or false, not 3"),
        ("verbose = 2", "must be true or false, not 2"),
        ("quiet = true\nverbose = true", "cannot be given together"),
        ('beta = "5"', "the value of 'beta' in"),
        ('beta = "5"', "must be a number, not '5'"),
        ("beta = [4, 5]", "must be a number, not [4, 5]"),
        ("beta = [5]", "must be a number, not [5]"),
        ("beta = true", "must be a number, not True"),
        ("beta = {a = 1}", "must be a number, not {'a': 1}"),
        ('noise = "1"', "must be a number, not '1'"),
        ("noise = [3, 2]", "must be a number, not [3, 2]"),
        ("depth = 1.0", "must be a whole number, not 1.0"),
        ("max_step = 0.1\nmax-step = 0.2", "twice"),
        ("relative = [1]", "must be a list of 2 numbers, not [1]"),
        ("relative = 1", "must be a list of 2 numbers, not 1"),
        ('relative = [1, "2"]', "must be a list of 2 numbers, not [1, '2']"),
        ("coefficients = []", "must be a number or a list of numbers, not []"),
        ("plot = 5", "must be a text, not 5"),
        ('plot = ["a.png", "b.png"]', "must be a text, not ['a.png', 'b.png']"),
        ("to = [5]", "must be a text or a list of texts, not [5]"),
        ('potential = ["kuramoto", "onsager"]', "must be a text, not"),
        ("sign = true", "must be a number or a text, not True"),
    ],
)
def test_wrong_configuration_is_one_sentence(capsys, tmp_path, text, expected):
    config = tmp_path / "run.toml"
    config.write_text(text)
    message = fail(capsys, 2, "bifurcation", "transformer", "--config", str(config))
    assert expected in message
    assert str(config) in message


@pytest.mark.parametrize("command", ["theory", "show"])
def test_quiet_belongs_to_commands_that_do_more_than_print(capsys, command):
    assert "unknown option '--quiet'; known: " in fail(capsys, 2, command, "--quiet")
    assert main([command, "--help"]) == 0
    assert "--quiet" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["bifurcation", "stationary", "verify"])
def test_quiet_and_verbose_exclude_each_other(capsys, command):
    assert "cannot be given together with -v/--verbose" in fail(capsys, 2, command, "-v", "--quiet")


def test_no_suggestion_repeats_the_word_given():
    assert did_you_mean("cos", ["cos"]) == ""
    assert did_you_mean("cos", ["cos", "cosh"]) == "did you mean cosh? "
    assert did_you_mean("COS", ["cos", "sin"]) == "did you mean cos? "
    # Four of seven characters agree with --beta, two of them dashes.
    assert did_you_mean("--quiet", ["--beta", "--config"]) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = " + 50_000 * "[", "is nested too deeply"),
        (".".join(["a"] * 50_000) + " = 1", "is nested too deeply"),
        ("beta = " + 5000 * "1", "is not valid TOML"),
        ("coefficients = [" + 600_000 * "1,", "has more than 1000000 bytes"),
    ],
    ids=["deep", "dotted", "digits", "long"],
)
def test_a_configuration_no_one_means_is_refused_at_once(capsys, tmp_path, text, expected):
    config = tmp_path / "run.toml"
    config.write_text(text)
    assert expected in fail(capsys, 2, "theory", "--config", str(config))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_configuration_without_an_end_or_a_beginning_is_refused(capsys, monkeypatch, tmp_path):
    assert "has more than 1000000 bytes" in fail(capsys, 2, "theory", "--config", "/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(configuration, "PATIENCE", 0.05)
    assert "nothing comes from" in fail(capsys, 2, "theory", "--config", str(tmp_path / "pipe"))


def test_a_configuration_may_come_through_a_pipe_in_pieces(capsys, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def written() -> None:
        with pipe.open("w") as stream:
            for line in ('potential = "kuramoto"\n', "modes = 1\n"):
                stream.write(line)
                stream.flush()
                time.sleep(0.1)

    thread = threading.Thread(target=written)
    thread.start()
    assert main(["theory", "--config", str(pipe)]) == 0
    thread.join()
    assert "kuramoto" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("particles", "--until", "1", "--replicas", "1000000000"),
        ("particles", "--until", "1", "--replicas", "-1"),
        ("particles", "--until", "1", "--replicas", "1000000", "--times", "1000000"),
        ("particles", "--until", "1", "--particles", "1000000000000"),
        ("particles", "--until", "1", "--times", "1000000000"),
        ("particles", "--until", "1", "--degrees", "1000000000"),
        ("particles", "--until", "1", "--degrees", "1000000000", "--domain", "sphere"),
        ("evolve", "--until", "1", "--times", "1000000000"),
        ("evolve", "--until", "1", "--modes", "1000000000"),
        ("evolve", "--until", "1", "--initial", "watson:concentration=1e9", "--domain", "sphere"),
        ("evolve", "--until", "1", "--initial", "von-mises:concentration=1e300", "--domain", "sphere"),
        ("evolve", "--until", "1", "--initial", "watson:concentration=-1e9"),
    ],
    ids=" ".join,
)
def test_what_no_computer_holds_is_refused_before_it_is_begun(capsys, arguments):
    command, *rest = arguments
    fail(capsys, 2, command, "kuramoto", "--coupling", "3", *rest)


def test_missing_configuration(capsys, tmp_path):
    assert "cannot be read" in fail(capsys, 2, "theory", "--config", str(tmp_path / "none.toml"))


@pytest.mark.parametrize("option", ["--to", "--plot", "--panels"])
def test_an_existing_file_is_refused_before_anything_is_computed(capsys, monkeypatch, tmp_path, option):
    def refuse(*arguments, **settings):
        raise AssertionError("computed before the targets were checked")

    monkeypatch.setattr(solvers.diagram, "bifurcation_diagram", refuse)
    target = tmp_path / ("a.nc" if option == "--to" else "a.png")
    target.write_text("precious")
    assert "--force" in fail(capsys, 2, "bifurcation", "kuramoto", option, str(target))
    assert target.read_text() == "precious"


def test_force_replaces(capsys, tmp_path):
    target = tmp_path / "a.json"
    target.write_text("old")
    assert main(["bifurcation", "kuramoto", "--no-rates", "--quiet", "--to", str(target), "--force"]) == 0
    assert target.read_text() != "old"


def test_a_failing_file_does_not_stop_the_others(capsys, monkeypatch, tmp_path):
    save = solvers.commands.bifurcation.save

    def full(diagram, target, force):
        if str(target).endswith(".nc"):
            raise ComputationFailed("the disk is full")
        return save(diagram, target, force=force)

    monkeypatch.setattr(solvers.commands.bifurcation, "save", full)
    targets = ("--to", str(tmp_path / "a.nc"), "--to", str(tmp_path / "a.json"))
    assert main(["bifurcation", "kuramoto", "--no-rates", *targets]) == 1
    captured = capsys.readouterr()
    assert "the disk is full" in captured.err
    assert "critical coupling 2" in captured.out
    assert (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        *itertools.product((".json", ".npz"), (b"", b"no diagram", b"{}", b'{"format": "other"}')),
        # Read in a process of its own, which is slow; test_export_faults.py has an empty one.
        (".nc", b"no diagram"),
    ],
)
def test_damaged_files(capsys, tmp_path, suffix, content):
    source = tmp_path / f"a{suffix}"
    source.write_bytes(content)
    for command in (("show",), ("export", "--to", str(tmp_path / "b.csv"))):
        assert str(source) in fail(capsys, 2, *command, str(source))


class Raising(CosineSeries):
    """A potential with a fault of its own."""

    name = "raising"

    def multipliers(self, domain, degree):
        return 1 / 0


def test_an_exception_inside_a_potential_names_the_place(capsys, monkeypatch):
    class Entry:
        name = "raising"

        def load(self):
            return Raising

    monkeypatch.setattr(meanfield.potentials.registry, "_entry_points", lambda: [Entry()])
    message = fail(capsys, 1, "bifurcation", "raising", "--coefficients", "1")
    assert "ZeroDivisionError in multipliers (test_cli_faults.py" in message


def test_debug_shows_the_traceback(capsys):
    for arguments in (["--debug", "bifurcation"], ["bifurcation", "--debug"]):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert "Traceback" in err
        assert err.splitlines()[-1].startswith("meanfield: ")


def test_interruption_is_one_line(capsys, monkeypatch):
    def interrupted(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(solvers.diagram, "bifurcation_diagram", interrupted)
    assert "interrupted" in fail(capsys, 130, "bifurcation", "kuramoto")


def test_warnings_reach_whoever_does_not_read_the_summary(capsys, monkeypatch):
    import dataclasses

    right = solvers.diagram.bifurcation_diagram

    def warned(*arguments, **settings):
        return dataclasses.replace(right(*arguments, **settings), warnings=("a branch was refused",))

    monkeypatch.setattr(solvers.diagram, "bifurcation_diagram", warned)
    for form in ("--quiet", "--json"):
        assert main(["bifurcation", "kuramoto", "--no-rates", form]) == 0
        captured = capsys.readouterr()
        assert captured.err == "meanfield: warning: a branch was refused\n"
        assert ("a branch was refused" in captured.out) == (form == "--json")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_warnings_of_numpy_are_one_line_without_paths():
    program = (
        "import sys, numpy; from meanfield import cli\n"
        "def run(_):\n"
        "    numpy.float64(1e300) * numpy.float64(1e300)\n"
        "    numpy.float64(1e300) ** 2\n"
        "    return 0\n"
        "cli._run = run; sys.exit(cli.main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("meanfield: warning: overflow encountered in scalar multiply (")
    assert line.endswith("may be wrong")


def test_standard_output_on_a_full_disk():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", PROGRAM, "theory", "kuramoto"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "No space left" in result.stderr


def test_a_real_interrupt_leaves_nothing_behind(tmp_path):
    target = tmp_path / "a.nc"
    target.write_text("precious")
    arguments = ["bifurcation", "transformer", "--beta", "60", "--relative", "0.5", "40", "--force"]
    # Shells start what runs in the background with interrupts ignored, and children inherit that.
    program = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {PROGRAM}"
    command = [sys.executable, "-c", program, *arguments, "--to", str(target), "-v"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == "meanfield: interrupted; files that existed before are unchanged"
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]
    assert target.read_text() == "precious"


def test_a_bar_that_cannot_be_drawn_stops_nothing(monkeypatch):
    class Broken:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def isatty(self):
            return False

        def flush(self):
            self.write("")

        closed = False

    monkeypatch.setattr(sys, "stderr", Broken())
    monkeypatch.setattr(progress, "SHOWN_AFTER", 0.01)
    monkeypatch.setattr(progress, "BETWEEN_IN_FILE", 0.01)
    with progress.progress_bar(True, "work") as advance:
        for done in range(10):
            advance(done, 10, "piece")
            time.sleep(0.05)
    assert not any("_draw" in thread.name for thread in threading.enumerate())


@pytest.mark.parametrize(
    ("arguments", "stream", "code"),
    [
        *itertools.product(("--help", "theory --help", "theory kuramoto"), (">&-", ">/dev/full"), (1,)),
        # Nothing is written there.
        *itertools.product(("theory kuramoto",), ("2>&-", "2>/dev/full"), (0,)),
    ],
)
def test_streams_that_cannot_be_written(arguments, stream, code):
    command = f"exec {sys.executable} -c '{PROGRAM}' {arguments} {stream}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert (done.stdout != "") == (code == 0)
    assert ("standard output cannot be written" in done.stderr) == (code == 1)


def test_a_backend_that_matplotlib_does_not_know_is_found_before_the_computation(tmp_path):
    arguments = ["evolve", "kuramoto", "--coupling", "3", "--until", "1e6", "--plot", str(tmp_path / "a.png")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=os.environ | {"MPLBACKEND": "crayon"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "knows no backend 'crayon'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_interrupt_that_a_compiled_module_turns_into_its_own_error_is_one():
    program = """
import os, signal, sys
from meanfield import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
def loading(arguments):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt:
        raise ImportError("initialization failed")
cli._run = loading
sys.exit(cli.main())
"""
    done = subprocess.run([sys.executable, "-c", program, "theory"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (
        130,
        "meanfield: interrupted; files that existed before are unchanged\n",
    )
