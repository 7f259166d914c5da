"""Initial densities as texts, as the command line and configuration files give them.

========================================  ======================================================================
``uniform``                               the uniform density
``perturbed:amplitude=0.1,degree=2``      :class:`~solvers.PerturbedUniform`, likewise the other named densities
``random:amplitude=0.1,seed=1``           :class:`~solvers.RandomPerturbation`
``von-mises:mean=0,concentration=4``      :class:`~solvers.VonMises`
``watson:concentration=4``                :class:`~solvers.Watson`
``bumps:count=4,width=0.2,weights=2/1``   :class:`~solvers.Bumps`; weights are separated by /
``0.7*von-mises:mean=0 + 0.3*uniform``    :class:`~solvers.Mixture` of such densities
``density:FORMULA``                       a formula in the angle t, on a sphere that to the north pole
``moments:0.4,0.1``                       m_1, m_2, ... of an even density, on a sphere p_1, p_2, ...
``FILE`` or ``FILE:LABEL``                a trajectory, whose last density is taken, or states, the first or one
                                          by its label (.nc, .json, .npz); angles (.txt, .csv, .npy)
========================================  ======================================================================
"""

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from meanfield import InvalidInput, State
from meanfield.arguments import checked
from meanfield.errors import did_you_mean
from meanfield.export import existing_file, is_file, load, open_states
from meanfield.potentials import compiled

from .starts import Bumps, Mixture, PerturbedUniform, RandomPerturbation, VonMises, Watson

NAMED: dict[str, type] = {
    "perturbed": PerturbedUniform,
    "random": RandomPerturbation,
    "von-mises": VonMises,
    "watson": Watson,
    "bumps": Bumps,
}
WORDS = ("uniform", *NAMED, "density", "moments")
EXAMPLES = {
    "perturbed": "perturbed:amplitude=0.1,degree=1",
    "random": "random:amplitude=0.1,seed=1",
    "von-mises": "von-mises:mean=0,concentration=4",
    "watson": "watson:concentration=4",
    "bumps": "bumps:count=4,width=0.2",
}
MIXED = "0.7*von-mises:concentration=8 + 0.3*uniform"
PART = re.compile(r"(?:(?P<weight>[^*:]+)\*)?(?P<text>.+)")
RECORDS, ANGLES = (".nc", ".json", ".npz"), (".txt", ".csv", ".npy")


@checked
def initial_from(text: str) -> Any:
    """Return the initial state that a text describes, for :func:`~solvers.evolve` or :func:`~solvers.simulate`.

    Raises
    ------
    InvalidInput
        If it describes no initial state, or a file cannot be read.

    Examples
    --------
    >>> initial_from("bumps:count=4,width=0.2")
    Bumps(count=4, width=0.2, weights=None, mean=0.0, azimuth=0.0)
    """
    if " + " in text and not text.startswith("density:"):
        return _mixture(text)
    word, _, rest = text.partition(":")
    if word in NAMED:
        return _named(word, rest)
    if word == "uniform" and not rest:
        return PerturbedUniform(0.0)
    if word == "density":
        return _density(rest)
    if word == "moments":
        cosine = np.array([1.0, *(_number(item, "moments:0.4,0.1") for item in rest.split(","))])
        return cosine, np.zeros_like(cosine)
    return _from_file(text)


def _mixture(text: str) -> Mixture:
    parts, weights = [], []
    for item in text.split(" + "):
        found = PART.fullmatch(item.strip())
        name = "" if found is None else found["text"].partition(":")[0].strip()
        if found is None or name not in (*NAMED, "uniform"):
            raise InvalidInput(
                f"{item.strip()!r} is no part of a mixture, which is of named densities: uniform, "
                f"{', '.join(NAMED)}; "
                f'try --initial "{MIXED}"'
            )
        weights.append(1.0 if found["weight"] is None else _number(found["weight"], f'"{MIXED}"'))
        parts.append(initial_from(found["text"].strip()))
    return Mixture(tuple(parts), tuple(weights))


def _named(word: str, rest: str) -> Any:
    kind, example = NAMED[word], EXAMPLES[word]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    given: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        name, sign, value = item.partition("=")
        if not sign or name not in fields:
            raise InvalidInput(
                f"{item!r} is no parameter of the initial density {word!r}, which takes {', '.join(fields)}; "
                f"{did_you_mean(name, fields)}try --initial {example}"
            )
        given[name] = _read(str(fields[name].type), value, example)
    missing = [name for name, field in fields.items() if field.default is dataclasses.MISSING and name not in given]
    if missing:
        raise InvalidInput(f"the initial density {word!r} needs {' and '.join(missing)}; try --initial {example}")
    return kind(**given)


def _read(annotation: str, value: str, example: str) -> Any:
    if "tuple" in annotation:
        return tuple(_number(item, example) for item in value.split("/"))
    number = _number(value, example)
    return int(number) if "int" in annotation and number == int(number) else number


def _number(text: str, example: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is not a number; try --initial {example}") from None


def _density(formula: str) -> Callable[[Any], Any]:
    function = compiled(formula)

    def density(angle: Any) -> Any:
        return np.asarray(function(np.asarray(angle, dtype=np.longdouble)), dtype=float) + np.zeros_like(angle)

    density.__name__ = formula
    return density


def _from_file(text: str) -> Any:
    path, label = Path(text), ""
    if not is_file(path) and ":" in text:
        name, _, label = text.rpartition(":")
        path = Path(name)
    suffix = path.suffix.lower()
    if suffix not in RECORDS + ANGLES:
        raise InvalidInput(
            f"unknown initial density {text!r}; {did_you_mean(text.partition(':')[0], WORDS)}known: "
            f"{', '.join(WORDS)}, or a file ({', '.join(RECORDS + ANGLES)})"
        )
    existing_file(path, "run.json")
    try:
        return _angles(path) if suffix in ANGLES else _record(path, label)
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput(f"{path} cannot be read as an initial density: {error}") from error


def _angles(path: Path) -> Any:
    if path.suffix.lower() == ".npy":
        return np.load(path, allow_pickle=False)
    return np.loadtxt(path, delimiter="," if path.suffix.lower() == ".csv" else None, ndmin=1)


def _record(path: Path, label: str) -> Any:
    from meanfield import open_trajectory

    suffix = path.suffix.lower()
    if suffix == ".npz" or (suffix == ".json" and "states" in load(path.read_text(encoding="utf-8"))):
        return _state(path, open_states(path), label)
    return open_trajectory(path)


def _state(path: Path, states: tuple[State, ...], label: str) -> Any:
    labels = [state.label for state in states]
    if label and label not in labels:
        raise InvalidInput(f"{path} holds no state {label!r}; it holds {', '.join(labels)}")
    state = states[labels.index(label) if label else 0]
    return state.cosine, state.sine
