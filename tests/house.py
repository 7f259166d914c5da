"""The structure of the packages in numbers: python tests/house.py [--verbose].

Files that ask which domain, dimension or layout they have; circles of imports, imports inside of functions included;
files and functions that are too long; and median sizes. ``tests/test_house.py`` keeps them from growing.
"""

import argparse
import ast
import statistics
import sys
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import meanfield

PACKAGES = ("meanfield", "solvers", "verification")
LONG_FILE, LONG_FUNCTION = 500, 60

# What a file that asks compares with, or asks an object to be an instance of.
DOMAINS = frozenset({"Circle", "Sphere"})
KINDS = ("Basis", "Modes", "Space")
LAYOUTS = frozenset({"degree", "order"})


class House:
    """The source files of the packages, parsed: those that are imported, or those under another root."""

    def __init__(self, root: Path | None = None) -> None:
        root = Path(meanfield.__file__).parent.parent if root is None else root
        paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
        self.sources = {_module(path.relative_to(root)): path for path in paths}
        self.texts = {module: path.read_text() for module, path in self.sources.items()}
        self.trees = {module: ast.parse(text) for module, text in self.texts.items()}

    def fronts(self) -> dict[str, ast.Module]:
        """Return the files that hand on the names of a package."""
        return {module: self.trees[module] for module, path in self.sources.items() if path.name == "__init__.py"}

    @cached_property
    def lines(self) -> dict[str, int]:
        """Number of lines of each file."""
        return {module: text.count("\n") for module, text in self.texts.items()}

    @cached_property
    def functions(self) -> dict[str, int]:
        """Number of lines of each function, without its docstring."""
        found = {}
        for module, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    found[f"{module}.{node.name}:{node.lineno}"] = _length(node)
        return found

    @cached_property
    def switches(self) -> dict[str, list[int]]:
        """Lines of the files that ask which domain, dimension, layout or basis they have."""
        found = {}
        for module, tree in self.trees.items():
            lines = sorted({node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr) and _asks(node)})
            if lines:
                found[module] = lines
        return found

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Files that each file imports from, names of fronts traced to where they are defined; types are left out."""
        fronts = {module: dict(self._named(module, tree, types=True)) for module, tree in self.fronts().items()}
        arrows: dict[str, set[str]] = {}
        for module, tree in self.trees.items():
            if module in fronts:
                continue
            targets: set[str] = set()
            for name, target in self._named(module, tree):
                found = self._traced(target, name, fronts)
                # A package taken as a whole stands for all that it hands on.
                handed = fronts[found].items() if found in fronts else ()
                targets |= {self._traced(target, name, fronts) for name, target in handed} or {found}
            arrows[module] = {target for target in targets if target != module and target not in fronts}
        return arrows

    def _named(self, module: str, tree: ast.AST, types: bool = False) -> Iterator[tuple[str, str]]:
        """Yield the names that a file imports from the packages, and the modules they come from."""
        package = module if self.sources[module].name == "__init__.py" else module.rpartition(".")[0]
        for node in _statements(tree, types):
            if isinstance(node, ast.ImportFrom):
                origin = _origin(package, node)
                for alias in node.names:
                    below = f"{origin}.{alias.name}"
                    target = below if below in self.trees else origin
                    if target in self.trees:
                        yield alias.asname or alias.name, target
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in self.trees:
                        yield alias.name, alias.name

    def _traced(self, target: str, name: str, fronts: dict[str, dict[str, str]]) -> str:
        """Return the file that defines a name which a front hands on."""
        while target in fronts and name in fronts[target] and fronts[target][name] != target:
            target = fronts[target][name]
        return target

    @cached_property
    def circles(self) -> list[list[str]]:
        """Sets of files that import each other in a circle, largest first."""
        return sorted(
            (sorted(group) for group in _components(self.imports) if len(group) > 1), key=len, reverse=True
        )

    def counts(self) -> dict[str, float]:
        """Return the numbers."""
        return {
            "files that switch on the domain": len(self.switches),
            "circles of imports": len(self.circles),
            "files in circles": sum(map(len, self.circles)),
            "files over 500 lines": sum(size > LONG_FILE for size in self.lines.values()),
            "functions over 60 lines": sum(size > LONG_FUNCTION for size in self.functions.values()),
            "median lines of a file": statistics.median(self.lines.values()),
            "median lines of a function": statistics.median(self.functions.values()),
            "files": len(self.lines),
            "lines": sum(self.lines.values()),
        }


def passed_by(house: House, folder: Path) -> Iterator[str]:
    """Yield what the files of a folder import from deeper inside of a package than the front that offers it."""
    fronts = {module: _offered(tree) for module, tree in house.fronts().items()}
    for path in sorted(folder.rglob("*.py")):
        for node in _imports(ast.parse(path.read_text())):
            if node.module and node.module.partition(".")[0] in PACKAGES:
                parts = node.module.split(".")
                above = [".".join(parts[:depth]) for depth in range(1, len(parts))]
                for name in (alias.name for alias in node.names):
                    offering = [
                        front
                        for front in above
                        if name in fronts.get(front, ()) and _same(front, node.module, name)
                    ]
                    if offering:
                        yield f"{path.name}:{node.lineno} {name}, which {offering[0]} offers, from {node.module}"


def _imports(node: ast.AST) -> Iterator[ast.ImportFrom]:
    """Yield the imports of names, those inside of functions too; expressions are passed over."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _imports(child)


def _offered(tree: ast.Module) -> set[str]:
    """Return the names that a front hands on: those of ``__all__``, or those imported as themselves."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and _name(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    imported = (alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names)
    return {alias.name for alias in imported if alias.asname == alias.name}


def _same(front: str, module: str, name: str) -> bool:
    return getattr(import_module(front), name) is getattr(import_module(module), name, None)


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _origin(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def _statements(tree: ast.AST, types: bool) -> Iterator[ast.AST]:
    """Yield all nodes, those under ``if TYPE_CHECKING`` only if types are wanted."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test) and not types:
            continue
        yield child
        yield from _statements(child, types)


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    docstring = body[0].end_lineno - body[0].lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _asks(node: ast.expr) -> bool:
    """Whether an expression decides by the domain, its dimension, the layout of moments or the kind of a basis."""
    if isinstance(node, ast.Call) and _name(node.func) == "isinstance" and len(node.args) == 2:
        names = {_name(part) for part in ast.walk(node.args[1])}
        return bool(names & DOMAINS) or any(name.endswith(KINDS) for name in names)
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    names = {_name(side) for side in sides}
    constants = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
    calls = {_name(side.func) for side in sides if isinstance(side, ast.Call)}
    by_dimension = any(name.endswith("dimension") for name in names) and bool(constants & {2, 3})
    others = [side for side in sides if _name(side) != "layout"]
    of_layouts = not others or any(isinstance(side, ast.Name | ast.Attribute) for side in others)
    by_layout = "layout" in names and (of_layouts or bool(constants & LAYOUTS))
    by_name = bool(names & {"domain", "name"}) and bool(constants & {"circle", "sphere"})
    return by_dimension or by_layout or by_name or bool(calls & DOMAINS)


def _components(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of a graph."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes = sorted(arrows.keys() | set().union(*arrows.values()))
    index = {node: position for position, node in enumerate(nodes)}
    pairs = [(index[start], index[end]) for start, ends in arrows.items() for end in ends]
    rows, columns = np.array(pairs).T
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(nodes), len(nodes)))
    number, labels = connected_components(graph, directed=True, connection="strong")
    return [[node for node in nodes if labels[index[node]] == label] for label in range(number)]


def main() -> None:
    """Print the numbers."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--verbose", action="store_true", help="name the files")
    given, house = options.parse_args(), House()
    for name, value in house.counts().items():
        print(f"{value:>8g}  {name}")
    if given.verbose:
        for module, lines in house.switches.items():
            print(f"switches: {module} ({', '.join(map(str, lines))})")
        for circle in house.circles:
            print(f"circle of {len(circle)}: {', '.join(circle)}")
        for name, size in house.functions.items():
            if size > LONG_FUNCTION:
                print(f"long: {name} ({size})")


if __name__ == "__main__":
    main()
