"""Loading of the names of a package on first use, so that only modules in use are imported."""

import importlib
import warnings
from collections.abc import Callable, Generator, Mapping
from typing import Any


def on_first_use(
    package: dict[str, Any], homes: Mapping[str, str], generators: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, which load the modules its names are defined in.

    Parameters
    ----------
    package
        The ``globals()`` of the package, where a name is kept once it is loaded.
    homes
        The module of each name, relative to the package.
    generators
        For the former name of a generator, which warns where it is used, the function that took its place.
    """
    name_of_package = package["__name__"]

    def load(name: str) -> Any:
        home = homes.get(name)
        if generators and name in generators:
            return _former_generator(name_of_package, name, load(generators[name]))
        if home is None:
            raise AttributeError(f"module {name_of_package!r} has no attribute {name!r}")
        package[name] = getattr(importlib.import_module(f".{home}", name_of_package), name)
        return package[name]

    def names() -> list[str]:
        return sorted({*package, *homes})

    return load, names


def moved(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__`` for names that have moved to other packages, which warns on use.

    Parameters
    ----------
    package
        Name of the package that had them.
    homes
        The package that has each name now.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warnings.warn(
            f"{package}.{name} stands in {homes[name]} now: from {homes[name]} import {name}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module(homes[name]), name)

    return load


def _former_generator(
    package: str, name: str, verb: Callable[..., Any]
) -> Callable[..., Generator[None, None, Any]]:
    """Return a generator function that yields nothing and returns the result of a function, with a warning."""

    def run(*arguments: Any, **options: Any) -> Generator[None, None, Any]:
        warnings.warn(
            f"{package}.{name} is {verb.__name__} now, which tells a function given as watch= how far it is",
            DeprecationWarning,
            stacklevel=2,
        )
        yield from ()
        return verb(*arguments, **options)

    return run
