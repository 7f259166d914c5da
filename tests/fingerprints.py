"""Digests of nine diagrams, six evolutions and four particle runs: python tests/fingerprints.py [--to NAME.json].

Two versions of the package that print the same digests compute the same numbers to the last bit. With ``--to`` the
arrays are written as well; ``--against NAME.json`` says by how much each record differs from those, relative to the
largest entry of each array, where its digest differs.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    HegselmannKrause,
    KellerSegel,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Sphere,
    Transformer,
)
from solvers import PerturbedUniform, VonMises, Watson, bifurcation_diagram, evolve, simulate

FIELD = CosineSeries((0.0, -0.3))
Computation = Callable[[], Any]


def diagram(domain: Any, potential: Any, confinement: Any = None, **options: Any) -> Computation:
    """Return a computation of a diagram, in units of the critical coupling unless an interval is given."""
    problem = McKeanVlasov(domain, potential, confinement=confinement)
    return lambda: bifurcation_diagram(problem, **(options or {"relative": (0.5, 2.5)}))


def evolution(domain: Any, potential: Any, coupling: float, initial: Any, until: float) -> Computation:
    """Return a computation of a trajectory."""
    return lambda: evolve(McKeanVlasov(domain, potential, coupling=coupling), initial, until, times=5)


def particles(domain: Any, potential: Any, coupling: float, size: int) -> Computation:
    """Return a computation of four replicas."""
    problem = McKeanVlasov(domain, potential, coupling=coupling)
    return lambda: simulate(problem, size, 0.5, 7, step=0.02, replicas=4, times=3)


COMPUTATIONS: dict[str, Computation] = {
    "diagram, transformer 5": diagram(Circle(), Transformer(5.0)),
    "diagram, resonant series": diagram(Circle(), CosineSeries((-1.0, -1.05, -0.4))),
    "diagram, Onsager": diagram(Circle(), Onsager()),
    "diagram, Keller-Segel": diagram(Circle(), KellerSegel(1.0)),
    "diagram, in a field": diagram(Circle(), CosineSeries((-1.0, -0.9, -1.2)), FIELD, interval=(0.0, 5.0)),
    "diagram, bounded confidence": diagram(Circle(), HegselmannKrause(0.9), relative=(0.5, 1.5)),
    "diagram, S^2, transformer 3": diagram(Sphere(3), Transformer(3.0)),
    "diagram, S^2, two degrees": diagram(Sphere(3), GegenbauerSeries((-1.0, -1.5)), relative=(0.7, 1.6)),
    "diagram, S^4, Maier-Saupe": diagram(Sphere(5), MaierSaupe()),
    "evolution, Kuramoto": evolution(Circle(), Kuramoto(), 3.0, VonMises(0.3, 1.0), 2.0),
    "evolution, transformer 5": evolution(Circle(), Transformer(5.0), 0.4, PerturbedUniform(0.1), 3.0),
    "evolution, to rest": evolution(Circle(), CosineSeries((-1.0, -1.5)), 3.0, VonMises(0.0, 1.0), 20.0),
    "evolution, zonal": evolution(Sphere(3), Transformer(3.0), 2.0, Watson(2.0), 1.0),
    "evolution, S^2 without an axis": evolution(
        Sphere(3), MaierSaupe(), 8.0, (np.array([1.0, 0.1, 0.2, 0.1, 0.05, 0.02]), np.zeros(6)), 0.5
    ),
    "evolution, S^4": evolution(Sphere(5), Kuramoto(), 8.0, Watson(1.0), 1.0),
    "particles, Kuramoto": particles(Circle(), Kuramoto(), 3.0, 200),
    "particles, Keller-Segel": particles(Circle(), KellerSegel(1.0), 4.0, 100),
    "particles, S^2": particles(Sphere(3), Transformer(3.0), 2.0, 100),
    "particles, S^4": particles(Sphere(5), MaierSaupe(), 6.0, 100),
}


def numbers(value: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of a record and of the records in it, by name."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiub":
            yield name, value
    elif isinstance(value, tuple):
        for index, entry in enumerate(value):
            yield from numbers(entry, f"{name}[{index}]")
    elif getattr(value, "is_record", False):
        for field, entry in vars(value).items():
            # Observables were fields of their own once, and are named as these were.
            fields = entry if field == "observables" else {field: entry}
            for own, part in fields.items():
                yield from numbers(part, f"{name}.{own}")
    elif isinstance(value, float | int | np.number):
        yield name, np.asarray(value)


def digest(arrays: dict[str, np.ndarray]) -> str:
    """Return a short digest of names, shapes and bits."""
    found = hashlib.sha256()
    for name, array in arrays.items():
        found.update(f"{name} {array.shape} ".encode() + np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return found.hexdigest()[:16]


def difference(arrays: dict[str, np.ndarray], stored: dict[str, Any]) -> str:
    """Say how far arrays are from stored ones, relative to the largest entry of each."""
    if arrays.keys() != stored.keys() or any(list(arrays[key].shape) != stored[key]["shape"] for key in arrays):
        return "other names or shapes"
    worst, where = 0.0, ""
    for name, array in arrays.items():
        known = np.asarray(stored[name]["values"], dtype=float).reshape(array.shape)
        scale = np.nanmax(np.abs(known), initial=0.0) or 1.0
        apart = float(np.nanmax(np.abs(np.asarray(array, dtype=float) - known), initial=0.0)) / scale
        if apart > worst:
            worst, where = apart, name
    return f"{worst:.1e} of the largest entry in {where}" if where else "only in what is not a number"


def main() -> None:
    """Print the digests."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--to", type=Path)
    options.add_argument("--against", type=Path)
    options.add_argument("--only", default="")
    given = options.parse_args()
    known = json.loads(given.against.read_text()) if given.against else {}
    stored = {}
    for name, compute in COMPUTATIONS.items():
        if given.only not in name:
            continue
        arrays = dict(numbers(compute()))
        line, entry = f"{digest(arrays)}  {name}", known.get(name)
        if entry is not None:
            same = entry["digest"] == digest(arrays)
            line += "  same" if same else f"  {difference(arrays, entry['arrays'])}"
        print(line, flush=True)
        stored[name] = {
            "digest": digest(arrays),
            "arrays": {
                key: {"shape": list(array.shape), "values": np.asarray(array, dtype=float).ravel().tolist()}
                for key, array in arrays.items()
            },
        }
    if given.to:
        given.to.write_text(json.dumps(stored))


if __name__ == "__main__":
    main()
