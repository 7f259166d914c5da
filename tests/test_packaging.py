"""What the package promises before any mathematics: light imports, types, README commands."""

import dataclasses
import importlib
import importlib.util
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import meanfield

ROOT = Path(__file__).parent.parent
HEAVY = {
    *("scipy.optimize", "scipy.sparse", "scipy.fft", "pyfftw", "sympy", "mpmath", "matplotlib", "xarray"),
    *("pandas", "netCDF4", "tqdm", "solvers", "verification"),
}


def modules_after(statement: str) -> set[str]:
    """Names of all modules in memory after a statement in a fresh interpreter."""
    code = f"{statement}\nimport sys\nprint(*sorted(sys.modules), file=sys.__stderr__)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(finished.stderr.splitlines()[-1].split())


def distributions(names: set[str]) -> set[str]:
    """Top-level packages beyond the standard library and what the interpreter loads by itself."""
    own = {name.partition(".")[0] for name in modules_after("pass")}
    tops = {name.partition(".")[0] for name in names}
    return {name for name in tops - own - set(sys.stdlib_module_names) if not name.startswith("_")}


def test_import_needs_numpy_and_scipy_special_only() -> None:
    loaded = modules_after("import meanfield, meanfield.theory, meanfield.energy")
    assert distributions(loaded) <= {"meanfield", "numpy", "scipy"}
    assert not loaded & HEAVY
    # scipy.special itself decides what it shares with its neighbours; nothing is to come on top of that.
    public = {name for name in loaded if name.startswith("scipy.") and not name.split(".")[1].startswith("_")}
    assert public <= modules_after("import numpy, scipy.special")


def test_help_is_light() -> None:
    loaded = modules_after("from meanfield.cli import main\nassert main(['--help']) == 0")
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["theory", "kuramoto"], 0), (["nonsense"], 2)]
)
def test_the_package_runs_as_a_module(arguments: list[str], code: int, capfd: pytest.CaptureFixture[str]) -> None:
    from meanfield.cli import main

    assert main(arguments) == code
    expected = capfd.readouterr()
    finished = subprocess.run([sys.executable, "-m", "meanfield", *arguments], cwd=ROOT, check=False)
    assert (finished.returncode, capfd.readouterr()) == (code, expected)


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    from meanfield.cli import main

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for command in declared["meanfield.commands"]:
        (line,) = (line for line in lines if line.split()[:1] == [command])
        assert len(line.split()) > 2


@pytest.mark.parametrize("package", ["meanfield", "solvers", "verification"])
def test_types_are_declared(package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    assert (Path(spec.origin).parent / "py.typed").is_file()


def test_imports_go_one_way() -> None:
    program = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("import-linter is not installed; it belongs to the development group")
    finished = subprocess.run([program, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert finished.returncode == 0, finished.stdout


def readme_commands() -> dict[str, str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found: dict[str, str] = runpy.run_path(str(ROOT / ".ci" / "readme_commands.py"))["commands"](text)
    return found


@pytest.mark.parametrize("which", ["run", "test"])
def test_readme_commands_are_shell(which: str) -> None:
    command = readme_commands()[which]
    words = shlex.split(command)
    assert words[:4] == ["python3", "-m", "venv", ".venv"]
    assert all(part[0] in ("python3", ".venv/bin/python", ".venv/bin/meanfield", ".venv/bin/pytest")
               for part in split(words))  # fmt: skip


def contents(page: Path) -> list[Path]:
    """Pages in the tables of contents of a page; those that the build makes are left out."""
    lists = re.findall(r"^```{toctree}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = [line for text in lists for line in text.splitlines() if line and not line.startswith(":")]
    found = [page.parent / f"{name}{suffix}" for name in names for suffix in (".md", ".rst")]
    return [path for path in found if path.is_file() and path.parent.name != "gallery"]


def test_every_page_of_the_documentation_stands_in_a_section() -> None:
    """The sidebar shows the section of a page, so a page right under the front page would have none."""
    docs = ROOT / "docs"
    sections = contents(docs / "index.md")
    pages = [page for section in sections for page in contents(section)]
    assert all(contents(section) for section in sections)
    everything = {
        path for folder in (docs, docs / "theory", docs / "reference") for path in folder.glob("*.[mr][ds]*")
    }
    assert everything == {docs / "index.md", *sections, *pages}
    assert len(pages) == len(set(pages))


def test_slow_tests_are_there() -> None:
    names = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert names == sorted(set(names))
    for name in names:
        file, _, function = name.partition("::")
        assert f"def {function.partition('[')[0]}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name


def split(words: list[str]) -> list[list[str]]:
    """Split the words of a chain at its conjunctions."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def test_readme_run_command_does_what_it_says(tmp_path: Path) -> None:
    last = split(shlex.split(readme_commands()["run"]))[-1]
    assert last[:3] == [".venv/bin/meanfield", "bifurcation", "transformer"]
    code = "import sys; from meanfield.cli import main; sys.exit(main(sys.argv[1:]))"
    finished = subprocess.run(
        [sys.executable, "-c", code, *last[1:]], capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "diagram.nc").stat().st_size > 0
    assert (tmp_path / "diagram.png").read_bytes().startswith(b"\x89PNG")


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert f"## [{project['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("package", "name", "arguments"),
    [
        ("solvers", "explore", {"interval": (1.0, 3.0), "rates": False}),
        ("solvers", "simulation", {"particles": 8, "until": 0.1, "seed": 1}),
        (
            "verification",
            "comparing",
            {"initial": "uniform", "until": 0.1, "particles": (8,), "replicas": 2, "seed": 1},
        ),
    ],
)
def test_former_generators_return_what_their_successors_do(package, name, arguments):
    problem = meanfield.McKeanVlasov(meanfield.Circle(), meanfield.Kuramoto(), coupling=2.0)
    if arguments.get("initial"):
        arguments = arguments | {"initial": (np.array([1.0, 0.2]), np.zeros(2))}
    generator = getattr(importlib.import_module(package), name)
    steps = generator(problem, **arguments)
    with pytest.warns(DeprecationWarning, match=f"{package}.{name} is"), pytest.raises(StopIteration) as stop:
        next(steps)
    successor = {"explore": "bifurcation_diagram", "simulation": "simulate", "comparing": "compare"}[name]
    expected = getattr(importlib.import_module(package), successor)(problem, **arguments)
    assert dataclasses.replace(stop.value.value, provenance={}) == dataclasses.replace(expected, provenance={})


def test_parts_of_comparisons_are_found_where_they_were():
    former = importlib.import_module("meanfield.comparisons")
    with pytest.warns(DeprecationWarning, match=r"meanfield\.records\.comparison"):
        means = former.Means
    assert means is importlib.import_module("meanfield.records.comparison").Means
