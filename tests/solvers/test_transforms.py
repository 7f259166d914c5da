"""Both transform libraries against direct sums."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from solvers.bases import transforms
from tests import problems

EPS = np.finfo(float).eps
LIBRARIES = [
    "scipy",
    pytest.param(
        "", marks=pytest.mark.skipif(importlib.util.find_spec("pyfftw") is None, reason="pyfftw is not installed")
    ),
]


@pytest.fixture(params=LIBRARIES)
def library(request, monkeypatch):
    monkeypatch.setenv("MEANFIELD_FFT", request.param)
    transforms.fftw.cache_clear()
    yield request.param
    transforms.fftw.cache_clear()


def test_cosine_transform(library):
    intervals = 24
    transform = transforms.CosineTransform(intervals)
    values = np.random.default_rng(1).standard_normal(intervals + 1)
    transform.input[:] = values
    transform.execute()
    nodes = np.arange(intervals + 1)
    table = 2 * np.cos(np.pi * np.outer(nodes, nodes) / intervals)
    table[:, [0, -1]] /= 2
    assert np.abs(transform.output - table @ values).max() < 64 * EPS * intervals


def test_fourier_transform(library):
    nodes = 32
    transform = transforms.FourierTransform(nodes)
    values = np.random.default_rng(2).standard_normal(nodes)
    transform.values[:] = values
    transform.analyse()
    phases = np.exp(-2j * np.pi * np.outer(np.arange(nodes // 2 + 1), np.arange(nodes)) / nodes)
    assert np.abs(transform.coefficients - phases @ values).max() < 16 * EPS * nodes
    transform.synthesise()
    assert np.abs(transform.values / nodes - values).max() < 16 * EPS * nodes


def test_rows_are_transformed_each_by_itself(library):
    nodes, rows = 32, 3
    transform = transforms.FourierTransform(nodes, rows)
    values = np.random.default_rng(3).standard_normal((rows, nodes))
    transform.values[:] = values
    transform.analyse()
    phases = np.exp(-2j * np.pi * np.outer(np.arange(nodes), np.arange(nodes // 2 + 1)) / nodes)
    assert np.abs(transform.coefficients - values @ phases).max() < 16 * EPS * nodes
    transform.synthesise()
    assert np.abs(transform.values / nodes - values).max() < 16 * EPS * nodes


def test_fallback_gives_the_same_diagram(monkeypatch):
    from solvers import bifurcation_diagram

    problem = problems.TRANSFORMER.problem
    first = bifurcation_diagram(problem, relative=(0.5, 2.0), rates=False)
    monkeypatch.setenv("MEANFIELD_FFT", "scipy")
    transforms.fftw.cache_clear()
    second = bifurcation_diagram(problem, relative=(0.5, 2.0), rates=False)
    transforms.fftw.cache_clear()
    assert [p.type for p in first.special_points] == [p.type for p in second.special_points]
    for one, other in zip(first.special_points, second.special_points, strict=True):
        assert abs(one.coupling - other.coupling) < 1e-14 * abs(one.coupling)


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("pyfftw", "dask"))), reason="pyfftw or Dask is not installed"
)
def test_dask_is_imported_by_nobody_but_who_wants_it():
    code = (
        "import sys; from solvers.bases import transforms; assert transforms.fftw(); assert 'dask' not in sys.modules\n"
        "import dask.array, pyfftw.interfaces.dask_fft"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
