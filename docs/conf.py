"""Configuration of the documentation."""

import importlib.metadata
import re
from typing import Any

project = "meanfield"
author = "The meanfield developers"
copyright = "2026, the meanfield developers"
release = importlib.metadata.version("meanfield-pde")
version = release

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    # Brings MathJax itself, so that pages need no network.
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "**/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
math_number_all = False
math_eqref_format = "({number})"
numfig = True

autosummary_generate = True
autodoc_typehints = "none"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"meanfield {release}"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
}

_LITERAL = re.compile(r"(:?\w*:?`+[^`]*`+)")


def _escape_bars(lines: list[str]) -> None:
    """Escape the bars of moduli outside formulas and literals; reStructuredText reads them as substitutions."""
    formula: int | None = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if formula is not None and line.strip() and indent <= formula:
            formula = None
        if line.lstrip().startswith(".. math::"):
            formula = indent
        if formula is None:
            parts = _LITERAL.split(line)
            lines[number] = "".join(part if odd % 2 else part.replace("|", r"\|") for odd, part in enumerate(parts))


def setup(app: Any) -> None:
    """Run before numpydoc."""
    app.connect("autodoc-process-docstring", lambda *event: _escape_bars(event[-1]), priority=100)
