"""Every public callable with wrong values in the place of each argument in turn.

A call is fine if it answers, or refuses with an error of the package whose message is one sentence. An exception of
Python, numpy, scipy or matplotlib, and a call that does not end, are defects. ``python tests/hostile.py`` prints the
table of all of them and every defect; ``test_hostile.py`` asserts that there are none.
"""

import contextlib
import copy
import dataclasses
import functools
import inspect
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import meanfield
import solvers
import verification
from meanfield import MeanfieldError, plotting, transport
from meanfield.theory import tricritical_points
from tests.meanfield.sample import line_of_transitions, made_up_phase_diagram

# Seconds of processor time that a single call may take; the admissible calls take a fraction of one.
LIMIT = 10.0
# The list of the claims is the longest.
LONGEST_MESSAGE = 1200
MEMORY = 4 * 2**30


class DidNotEnd(BaseException):
    """A call took longer than its limit."""


class WithoutText:
    """An object that cannot be written, as one that was never made or lists within lists cannot."""

    def __repr__(self) -> str:
        raise RecursionError


def wrong_values() -> dict[str, Any]:
    """Return the wrong values by name, made anew."""
    return {
        "None": None,
        "True": True,
        "text": "text",
        "empty text": "",
        "nan": float("nan"),
        "inf": float("inf"),
        "-1": -1,
        "0": 0,
        "2.5": 2.5,
        "longdouble 1e400": np.longdouble("1e400"),
        "10**30": 10**30,
        "10**400": 10**400,
        "time difference": np.timedelta64(1, "s"),
        "without text": WithoutText(),
        "[]": [],
        "()": (),
        "[[1]]": [[1]],
        "ragged": [1, [2, 3]],
        "{}": {},
        "array of objects": np.array([None, "a"], dtype=object),
        "array of nan": np.full(3, np.nan),
        "array of no dimension": np.array(1.0),
        "matrix": np.ones((2, 3)),
        "object": object(),
        "complex": 1j,
        "bytes": b"bytes",
        "wrong record": meanfield.Circle(),
        "class": meanfield.Circle,
        "generator": (number for number in ()),
        "function of no argument": lambda: 0,
        "function of three arguments": lambda one, two, three: None,
    }


@dataclass(frozen=True)
class Target:
    """A public callable, admissible arguments by name, and the arguments that are tried."""

    name: str
    call: Callable[..., Any]
    arguments: dict[str, Any]
    tried: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """What one call did: ``answered``, ``refused``, ``raised`` or ``did not end``."""

    target: str
    argument: str
    value: str
    kind: str
    what: str = ""

    def __str__(self) -> str:
        return f"{self.target}({self.argument}={self.value}): {self.kind} {self.what}"


def one_sentence(message: str) -> bool:
    """Return whether a message is one line that is no bare word and does not spill over."""
    return "\n" not in message and 12 <= len(message) <= LONGEST_MESSAGE


def attempt(target: Target, argument: str, value_name: str, limit: float = LIMIT) -> Finding:
    """Call a target with one wrong argument and judge what comes."""
    value = wrong_values()[value_name]
    arguments = {key: copy.copy(entry) for key, entry in target.arguments.items()} | {argument: value}
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            consumed(call_with(target.call, arguments))
    except MeanfieldError as error:
        kind, what = ("refused", str(error)) if one_sentence(str(error)) else ("raised", f"no sentence: {error}")
    except DidNotEnd:
        kind, what = "did not end", ""
    except Exception as error:
        kind, what = "raised", f"{type(error).__name__}: {error}"
    else:
        kind, what = "answered", ""
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Finding(target.name, argument, value_name, kind, what)


def _stop(*_: object) -> None:
    raise DidNotEnd


def call_with(call: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call with arguments by name, those that have none of their own by place."""
    rest = dict(arguments)
    placed = []
    for parameter in parameters_of(call).values():
        if parameter.kind is parameter.POSITIONAL_ONLY:
            placed.append(rest.pop(parameter.name))
    if (style := rest.pop("**", None)) is not None:
        rest |= {"nonsense": style}
    return call(*placed, **rest)


def consumed(answer: Any) -> None:
    """Draw the answers of a generator, and ask a record for its text."""
    if inspect.isgenerator(answer):
        for _ in answer:
            pass
    repr(answer)


def parameters_of(call: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a call by name."""
    return dict(inspect.signature(call).parameters)


@functools.cache
def materials() -> dict[str, Any]:
    """Return one small object of every kind that calls take."""

    circle, sphere = meanfield.Circle(), meanfield.Sphere(3)
    two_modes = meanfield.McKeanVlasov(circle, meanfield.CosineSeries((-1.0, -1.01)))
    problem = meanfield.McKeanVlasov(circle, meanfield.Kuramoto(), coupling=3.0)
    on_sphere = meanfield.McKeanVlasov(sphere, meanfield.Kuramoto(), coupling=5.0)
    states = solvers.stationary_states(problem, rates=False)
    diagram = solvers.bifurcation_diagram(problem, (1.5, 2.5), rates=False, depth=1)
    curve = line_of_transitions()
    attention = solvers.bifurcation_diagram(
        meanfield.McKeanVlasov(circle, meanfield.Transformer(beta=3.0)), relative=(0.9, 1.1), rates=False, depth=1
    )
    trajectory = solvers.evolve(problem, solvers.VonMises(0.0, 1.0), 0.1, times=2, tolerance=1e-4)
    ensemble = solvers.simulate(problem, 10, 0.1, 1, times=2, replicas=2, keep_positions=True)
    comparison = verification.compare(
        problem, solvers.VonMises(0.0, 1.0), 0.1, particles=(4, 8), replicas=2, seed=1, times=2
    )
    sphere_state = solvers.stationary_states(on_sphere, rates=False)[0]
    sphere_trajectory = solvers.evolve(on_sphere, solvers.VonMises(0.0, 1.0), 0.1, times=2, tolerance=1e-4)
    folder = Path(tempfile.mkdtemp())
    noiseless = dataclasses.replace(problem, noise=0.0)
    collapse = solvers.evolve(
        noiseless, solvers.VonMises(0.0, 1.0), 2.0, times=2, tolerance=1e-4, method=solvers.Characteristics()
    )
    made = {
        "problem": problem,
        "noiseless": noiseless,
        "collapse": collapse,
        "flow_map": collapse.flow_map,
        "equation": meanfield.ContinuityEquation(circle, meanfield.SoftmaxAttention(2.0), coupling=3.0),
        "state": states[0],
        "sphere_state": sphere_state,
        "spectrum": solvers.spectrum(states[0]),
        "diagram": diagram,
        "branch": diagram.branches[-1],
        "special_point": diagram.special_points[0],
        "fold": attention.events("fold")[0],
        "curve": curve,
        "curve_point": curve.point(0),
        "organising_point": curve.special_points[0],
        "phase_diagram": made_up_phase_diagram(),
        "region": made_up_phase_diagram().regions[0],
        "trajectory": trajectory,
        "sphere_trajectory": sphere_trajectory,
        "ensemble": ensemble,
        "comparison": comparison,
        "relaxation": solvers.contraction_rate(problem),
        "contraction": solvers.contraction_rate(noiseless),
        "sweep": solvers.sweep(problem, {"noise": [0.5, 1.0]}, "states", {"rates": False}, store=folder / "runs"),
        "folder": folder,
        "circle": circle,
        "sphere": sphere,
        "density": transport.Density(states[0].cosine, states[0].sine),
        "sample": transport.Sample([0.1, 0.2]),
        "law": transport.zonal_law(sphere_state.cosine, 3),
        "claim": verification.matching("circle.T8")[0],
        "shown": plotting.states_shown([sphere_state]),
        "logarithmic": meanfield.McKeanVlasov(circle, meanfield.Logarithmic()),
        "series": meanfield.McKeanVlasov(circle, meanfield.CosineSeries((1.0, 0.1))),
        "two_modes": two_modes,
        "shape": meanfield.branch_shape(problem, 1),
        "critical_point": meanfield.critical_modes(problem, 1.0, 3.0)[0],
        "uniform_point": tricritical_points(two_modes, "w2", (-0.9, -0.1), (1,))[0],
        "criterion": meanfield.global_criterion(problem),
        "estimate": ensemble.order_parameter(),
        "free_energy": meanfield.free_energy_parts(problem, states[0].cosine),
        "result": verification.verify("circle.T8", [problem])[0],
    }
    made |= {
        "fit": made["relaxation"].fit(),
        "quantity_rate": made["contraction"].rate_of("W2"),
        "resonance": meanfield.resonance(made["two_modes"], 1, 2),
        "evidence": made["result"].evidence,
        "one_shown": made["shown"][0],
    }
    for name in (
        "diagram",
        "trajectory",
        "ensemble",
        "comparison",
        "contraction",
        "sweep",
        "curve",
        "phase_diagram",
    ):
        made[name].save(folder / f"{name}.json")
    return made


def argument_for(name: str) -> Any:
    """Return an admissible value of an argument by its name; KeyError where a call needs its own."""
    from matplotlib.figure import Figure

    # Axes take longer to make than all that follows, and few calls draw.
    if name in ("figure", "ax"):
        return Figure() if name == "figure" else Figure().add_subplot()
    have = materials()
    return {
        "problem": have["problem"],
        "domain": have["circle"],
        "state": have["state"],
        "states": [have["sphere_state"]],
        "diagram": have["diagram"],
        "trajectory": have["trajectory"],
        "ensemble": have["ensemble"],
        "comparison": have["comparison"],
        "relaxation": have["relaxation"],
        "contraction": have["contraction"],
        "sweep": have["sweep"],
        "curve": have["curve"],
        "potential": meanfield.Kuramoto(),
        "velocity": meanfield.SoftmaxAttention(2.0),
        "initial": solvers.VonMises(0.0, 1.0),
        "until": 0.1,
        "particles": 6,
        "seed": 1,
        "degree": 2,
        "angle": [0.0, 1.0],
        "uniforms": np.array([0.1]),
        "points": np.eye(3),
        "probability": [0.5],
        "name": "kuramoto",
        "parameters": {},
        "label": 0,
        "branch": 0,
        "point": 0,
        "index": 0,
        "amplitude": 0.1,
        "concentration": 1.0,
        "count": 2,
        "parts": (solvers.VonMises(),),
        "angles": np.array([0.1, 0.2]),
        "beta": 2.0,
        "radius": 1.0,
        "dimension": 3,
        "n": 1,
        "ratio": 3.0,
        "mode": 1,
        "text": "uniform",
        "quantity": "W2",
        "path": have["folder"] / "nothing.gif",
        "cosine": have["state"].cosine,
        "sine": have["state"].sine,
        "shown": have["shown"],
        "item": have["claim"],
        "tools": verification.Tools(),
        "pattern": "circle.T8",
        "one": have["density"],
        "other": have["density"],
        "law": have["law"],
        "moments": have["sphere_state"].cosine,
        "terms": ((1.0, meanfield.Kuramoto()), (2.0, meanfield.Kuramoto())),
        "w": (-1.0, -0.5),
        "function": np.cos,
        "expression": "-cos(t)",
        "coefficients": (-1.0,),
        "description": have["problem"].to_dict(),
        "coupling": 2.0,
        "value": 2.0,
        "changes": {},
        "capability": meanfield.equations.Capability.GIBBS_MAP,
    }[name]


def parameters_of_own() -> dict[str, dict[str, Any]]:
    """Return the name of a parameter for the calls that take one."""
    names = {
        "transformer": "beta",
        "keller_segel": "screening",
        "hegselmann_krause": "radius",
        "cosine_series": "w1",
        "gegenbauer_series": "w1",
        "combination": "kuramoto_factor",
        "external": "sine1",
        "perceptron": "weights1",
    }
    return {
        f"{owner}.{method}": {"name": name}
        for owner, name in names.items()
        for method in ("with_parameter", "multiplier_derivatives", "sine_multiplier_derivatives")
    }


def own_arguments() -> dict[str, dict[str, Any]]:
    """Return the admissible arguments of calls that are not those of their names."""
    have = materials()
    zonal = {"cosine": have["sphere_state"].cosine, "sine": have["sphere_state"].sine}
    return {
        "meanfield.CosineSeries": {"w": (-1.0, -0.5)},
        "meanfield.GegenbauerSeries": {"w": (-1.0, -0.5)},
        "meanfield.Custom": {"expression": "-cos(t)"},
        "meanfield.External": {"expression": "sin(t)"},
        "meanfield.Perceptron": {"weights": (1.0,), "angles": (0.5,)},
        "meanfield.HarmonicSeries": {"cosine": (0.0, 1.0)},
        "meanfield.two_layer": {"inputs": (0.0, 2.0), "outputs": (1.0, 0.5), "noise": 0.1},
        "meanfield.vertical_branches": {"problem": have["logarithmic"], "low": 1.0, "high": 3.0},
        "meanfield.critical_modes": {"low": 1.0, "high": 3.0},
        "meanfield.PhaseLag": {"law": meanfield.SoftmaxAttention(2.0), "lag": 0.5},
        "meanfield.CommonFrequency": {"law": meanfield.SoftmaxAttention(2.0), "frequency": 0.5},
        "meanfield.ott_antonsen": {"order_parameter": 0.5, "time": [1.0]},
        "meanfield.resonance": {"problem": have["two_modes"], "n": 1, "m": 2},
        "meanfield.second_variation": {"direction_cosine": np.array([0.0, 1.0])},
        "meanfield.open_diagram": {"path": have["folder"] / "diagram.json"},
        "meanfield.open_trajectory": {"path": have["folder"] / "trajectory.json"},
        "meanfield.open_ensemble": {"path": have["folder"] / "ensemble.json"},
        "meanfield.open_comparison": {"path": have["folder"] / "comparison.json"},
        "meanfield.open_contraction": {"path": have["folder"] / "contraction.json"},
        "meanfield.open_sweep": {"path": have["folder"] / "sweep.json"},
        "solvers.sweep": {
            "family": have["problem"],
            "values": {"noise": [0.5]},
            "compute": "states",
            "options": {"rates": False},
        },
        "sweep.table_rows": {"table": "state"},
        "sweep.quantity": {"name": "state_m1"},
        "meanfield.open_curve": {"path": have["folder"] / "curve.json"},
        "meanfield.open_phase_diagram": {"path": have["folder"] / "phase_diagram.json"},
        "meanfield.plotting.plot_phase_diagram": {"diagram": have["phase_diagram"]},
        "phase_diagram.height": {"point": have["organising_point"]},
        "phase_diagram.region_at": {"first": 3.0, "height": 0.7},
        "region.contains": {"first": 3.0, "height": 0.7},
        "solvers.contraction_rate": {"subject": have["state"]},
        "solvers.Checkpoint": {"path": have["folder"] / "checkpoint.npz", "every": 1.0},
        "solvers.bifurcation_diagram": {"interval": (2.5, 2.6), "rates": False, "depth": 0},
        "solvers.curve": {"start": have["fold"], "parameter": "beta", "interval": (2.9, 3.1)},
        "solvers.phase_diagram": {
            "problem": have["series"],
            "over": ("w2", (0.1, 0.2)),
            "coupling": (0.5, 1.0),
            "sections": 1,
            "examine": False,
        },
        "solvers.stationary_states": {"rates": False, "depth": 0},
        "solvers.initial_from": {"text": "uniform"},
        "verification.compare": {"particles": (4, 8), "replicas": 2, "times": 2},
        "verification.judge": {"item": have["claim"]},
        "verification.verify": {"pattern": "circle.T8", "problems": [have["problem"]]},
        "meanfield.plotting.globe": zonal,
        "meanfield.plotting.mollweide": zonal,
        "meanfield.plotting.plot_globe": {"state": have["sphere_state"]},
        "meanfield.plotting.plot_mollweide": {"state": have["sphere_state"]},
        "meanfield.plotting.check_figure": {"path": have["folder"] / "nothing.png"},
        "meanfield.plotting.save_figure": {"path": have["folder"] / "figure.png"},
        "meanfield.plotting.animate": {"frames": 2},
        "meanfield.flight_profile": {"problem": have["noiseless"], "angle": [1.0]},
        "meanfield.plotting.plot_characteristics": {"trajectory": have["collapse"]},
        "meanfield.plotting.plot_tail": {"trajectory": have["collapse"]},
        "meanfield.transport.polar_distances": {"angles": np.array([0.1, 0.2])},
        "comparison.fit": {"name": "w1"},
        "custom.from_sympy": {"expression": -sympy.cos(sympy.Symbol("t"))},
        "external.from_sympy": {"expression": sympy.sin(sympy.Symbol("t"))},
        "relaxation.expected": {"fit": have["fit"]},
        "diagram.branch": {"label": "uniform"},
        "trajectory.animate": {"frames": 2},
        "special_point.moment": {"name": "m1"},
        "problem.with_parameter": {"name": "noise"},
        "equation.with_parameter": {"name": "noise"},
        "problem.place_of": {"name": "noise"},
        "equation.place_of": {"name": "noise"},
        "equation.from_dict": {"description": have["equation"].to_dict()},
        **parameters_of_own(),
    }


# Names that are no calls, and classes that are written by hand only to be inherited from.
LEFT_OUT = frozenset(
    {"CLAIMS", "Domain", "Number", "PointType", "PICTURES", "COLOURS", "UNIFORM_COLOUR", "Picture", "Outcome",
     "Verdict", "Potential", "Equation", "VelocityLaw", "MeanfieldError", "InvalidInput", "ComputationFailed", "NotResolved", "Undecided"}
)  # fmt: skip


# An empty pattern asks for all claims on all problems, which takes minutes.
ADMISSIBLE = frozenset({("verification.verify", "pattern", "empty text")})


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield the public names of every package with their objects."""
    for module in (meanfield, solvers, verification, plotting, transport):
        names = getattr(module, "__all__", None) or [
            name for name in dir(module) if not name.startswith("_") and not inspect.ismodule(getattr(module, name))
        ]
        for name in names:
            if name not in LEFT_OUT:
                yield f"{module.__name__}.{name}", getattr(module, name)


def instances() -> dict[str, Any]:
    """Return one object of every class whose methods are tried."""
    named = {
        "kuramoto": meanfield.Kuramoto(),
        "transformer": meanfield.Transformer(beta=2.0),
        "logarithmic potential": meanfield.Logarithmic(),
        "onsager": meanfield.Onsager(),
        "maier_saupe": meanfield.MaierSaupe(),
        "keller_segel": meanfield.KellerSegel(screening=1.0),
        "hegselmann_krause": meanfield.HegselmannKrause(radius=1.0),
        "cosine_series": meanfield.CosineSeries((-1.0, -0.5)),
        "gegenbauer_series": meanfield.GegenbauerSeries((-1.0, -0.5)),
        "custom": meanfield.Custom.from_expression("-cos(t)"),
        "combination": meanfield.Kuramoto() + 2.0 * meanfield.MaierSaupe(),
        "external": meanfield.External.from_coefficients(sine=(1.0,)),
        "perceptron": meanfield.Perceptron((1.0,), (0.5,)),
        "harmonic_series": meanfield.HarmonicSeries((0.0, 0.0, 1.0)),
        "von_mises": solvers.VonMises(),
        "watson": solvers.Watson(1.0),
        "bumps": solvers.Bumps(2),
        "mixture": solvers.Mixture((solvers.VonMises(),)),
        "perturbed": solvers.PerturbedUniform(),
        "random": solvers.RandomPerturbation(0.1, 1),
        "samples": solvers.Samples([0.1, 0.2, 0.4]),
    }
    records = ["problem", "equation", "state", "sphere_state", "spectrum", "diagram", "branch", "special_point", "curve", "curve_point", "organising_point", "phase_diagram", "region", "trajectory", "sphere_trajectory", "flow_map", "ensemble", "comparison", "relaxation", "contraction", "sweep", "circle", "sphere", "density", "sample", "law"]  # fmt: skip
    moments = {f"moments of {name}": materials()[name].moments for name in ("state", "sphere_state", "trajectory")}
    return {name: materials()[name] for name in records} | named | moments


def targets() -> Iterator[Target]:
    """Yield everything that is called: functions, classes, and the public methods of an object of every class."""
    for name, thing in public_names():
        if inspect.isclass(thing):
            yield target(name, thing, arguments_of_record(thing))
        elif callable(thing):
            yield target(name, thing)
    for name, thing in instances().items():
        for method, call in inspect.getmembers(thing, callable):
            on_sphere = name == "state" and method in ("plot_globe", "plot_mollweide")
            if not method.startswith("_") and hasattr(call, "__func__") and not on_sphere:
                yield target(f"{name}.{method}", call)


def arguments_of_record(kind: type) -> dict[str, Any]:
    """Return the arguments from which an object of a class that is at hand was made."""
    for thing in materials().values():
        if type(thing) is kind and dataclasses.is_dataclass(thing):
            return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing) if field.init}
        if type(thing) is kind and hasattr(thing, "_asdict"):
            return dict(thing._asdict())
    return {}


def target(name: str, call: Callable[..., Any], arguments: dict[str, Any] | None = None) -> Target:
    """Return a call with admissible values of the arguments it needs, and the names of all."""
    given = dict(arguments or {}) | own_arguments().get(name, {})
    if "force" in parameters_of(call):
        # So that one call does not stand in the way of the next.
        given.setdefault("force", True)
    if name.startswith("gegenbauer_series.") and "domain" in parameters_of(call):
        given["domain"] = materials()["sphere"]
    if name.endswith(".save"):
        given["path"] = materials()["folder"] / "saved.json"
    tried = []
    for parameter in parameters_of(call).values():
        if parameter.kind is parameter.VAR_KEYWORD:
            tried.append("**")
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        tried.append(parameter.name)
        if parameter.name not in given and parameter.default is parameter.empty:
            given[parameter.name] = argument_for(parameter.name)
    return Target(name, call, given, tuple(tried))


def findings(names: str = "") -> Iterator[Finding]:
    """Yield what every call does whose name contains a text, one wrong argument at a time."""
    folder = materials()["folder"]
    with contextlib.chdir(folder):
        for each in targets():
            if names in each.name:
                yield from attempts(each)


def attempts(each: Target) -> Iterator[Finding]:
    """Yield what one call does, one wrong argument at a time."""
    for argument in each.tried:
        for value in wrong_values():
            if (each.name, argument, value) not in ADMISSIBLE:
                yield attempt(each, argument, value)


def main() -> int:
    """Print the table of all calls and what is wrong; the first argument chooses calls by a part of their name."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = list(findings(*sys.argv[1:2]))
    counts = Counter(each.kind for each in found)
    for each in found:
        if each.kind in ("raised", "did not end"):
            print(each)
    print(f"{len(found)} calls tried")
    for kind in ("answered", "refused", "raised", "did not end"):
        print(f"{counts[kind]:8d} {kind}")
    return 1 if counts["raised"] + counts["did not end"] else 0


if __name__ == "__main__":
    sys.exit(main())
