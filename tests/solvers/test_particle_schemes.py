"""Schemes, motions and drifts apart: what each says of itself, and that any scheme moves any particles."""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, InvalidInput, Kuramoto, McKeanVlasov, Sphere, Transformer, open_ensemble
from meanfield.cli import main
from solvers import Checkpoint, EulerMaruyama, PairDrift, VonMises, WeakSecondOrder, simulate
from solvers.execution.defaults import SCHEME, SCHEME_WITHOUT_NOISE, SCHEMES
from solvers.particles import replicas
from solvers.particles.circle import circle_setting
from solvers.particles.schemes import scheme_named, schemes
from solvers.particles.sphere import sphere_setting
from solvers.particles.stepping import Cost, Scheme, advance
from tests import problems
from tests.particle_runs import interrupted_at

EPS = np.finfo(float).eps
NAMES = list(SCHEMES)
NOISY = [scheme.name for scheme in schemes(flat=True)]
CONFINED = McKeanVlasov(Circle(), Kuramoto(), coupling=1.5, confinement=CosineSeries((-0.8,)))
RUNS = {
    "cells": (CONFINED, {"particles": 300}),
    "pairs": (CONFINED, {"particles": 40, "drift": PairDrift()}),
    "modes": (CONFINED, {"particles": 40, "replicas": 3}),
    "alone": (CONFINED, {"particles": 1}),
}
CURVED = {
    "S^2": (McKeanVlasov(Sphere(3), Transformer(2.0), coupling=1.5), {"particles": 40}),
    "S^4": (McKeanVlasov(Sphere(5), Kuramoto(), coupling=1.5), {"particles": 40}),
}


class Independent:
    """One particle in the force -s x on a line; every noise is a direction of its own.

    Its place is a vector: along the first axis its mean, and as the directions are orthogonal, the squared length of
    the rest is its variance. ``drifts`` and ``draws`` count.
    """

    passes: ClassVar = {}

    def __init__(self, slope, noise=1.0, most=2000, flat=True):
        self.places, self.carried, self.flat = np.zeros(most), {}, flat
        self.places[0] = 1.0
        self.slope, self.diffusion, self.drifts, self.draws = slope, noise, 0, 0

    @property
    def variance(self):
        return float((self.places[1:] ** 2).sum())

    def drift(self, step, watched=True):
        self.drifts += 1
        return -self.slope * step * self.places

    def noise(self, time):
        self.draws += 1
        direction = np.zeros_like(self.places)
        direction[self.draws] = math.sqrt(2 * self.diffusion * time)
        return direction

    def move(self, displacements):
        self.places += displacements

    def place(self, origins, displacements):
        self.places[:] = origins + displacements


@pytest.mark.parametrize("name", NAMES)
def test_a_scheme_is_a_frozen_dataclass_that_knows_its_name(name):
    scheme = scheme_named(name)
    assert scheme.name == name
    assert isinstance(scheme, Scheme)
    assert dataclasses.is_dataclass(scheme)
    assert scheme == type(scheme)()
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        scheme.name = "another"
    assert 1 <= scheme.weak_order <= scheme.stationary_order


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_step_costs_what_the_scheme_says(name, flat):
    scheme = scheme_named(name)
    if not flat and not scheme.curved:
        return
    one = Independent(1.0, flat=flat)
    scheme.advance(one, 0.1)
    before = one.drifts, one.draws
    scheme.advance(one, 0.1)
    assert (one.drifts - before[0], one.draws - before[1]) == scheme.cost(flat)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("share", [0.05, 0.4, 1.2])
@pytest.mark.parametrize("name", NOISY)
def test_the_variance_in_a_linear_force_has_the_bias_that_the_scheme_says(name, share, flat):
    scheme = scheme_named(name)
    if not flat and not scheme.curved:
        return
    one = Independent(2.0, 0.7, flat=flat)
    for _ in range(900):
        scheme.advance(one, share / 2.0)
    bias = one.variance / (0.7 / 2.0) - 1.0
    assert abs(abs(bias) - abs(scheme.width_bias(share, flat))) <= 1e-12


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("name", NOISY)
def test_mean_and_variance_have_the_weak_order(name, flat):
    scheme = scheme_named(name)
    if not flat and not scheme.curved:
        return
    errors = []
    for steps in (64, 128):
        one = Independent(1.0, flat=flat)
        for _ in range(steps):
            scheme.advance(one, 1.0 / steps)
        mean, variance = math.exp(-1.0), 1.0 - math.exp(-2.0)
        errors.append(math.hypot(one.places[0] - mean, one.variance - variance))
    assert abs(math.log2(errors[0] / errors[1]) - scheme.weak_order) <= 0.05


def test_the_variance_at_rest_has_the_stationary_order():
    for scheme in schemes(flat=True):
        coarse, fine = (abs(scheme.width_bias(share, True)) for share in (0.02, 0.01))
        # A variance that is exact has every order.
        assert coarse == 0.0 or abs(math.log2(coarse / fine) - scheme.stationary_order) <= 0.05


@pytest.mark.parametrize(
    ("of", "particles"), [(CONFINED, 20_000), (CONFINED, 60), (CURVED["S^2"][0], 1000), (CURVED["S^4"][0], 1000)]
)
@pytest.mark.parametrize("scheme", [EulerMaruyama(), WeakSecondOrder()])
def test_quicker_passes_are_the_step_of_the_scheme(of, particles, scheme):
    setting = circle_setting if of is CONFINED else sphere_setting
    made = setting(of, None, 3, particles).with_kernel("numpy", 1.0)
    start = made.starts(VonMises(0.3, 1.0), particles, 1).each[0]
    placed = made.placed(start, particles, np.random.default_rng(1))
    ends = []
    for step in (advance, type(scheme).advance):
        cloud = made.cloud(placed.copy(), np.random.default_rng(2))
        for _ in range(4):
            step(scheme, cloud, 0.03)
        ends.append(cloud.positions.copy())
    moved = np.abs(ends[0] - placed).max()
    assert np.abs(ends[0] - ends[1]).max() <= 64 * EPS * np.abs(ends[0]).max() < 1e-6 * moved


@dataclass(frozen=True)
class Inertial:
    """Euler's step with the mean of this drift and the one before: a scheme from elsewhere that carries an array."""

    name: ClassVar[str] = "inertial"
    weak_order: ClassVar[int] = 1
    stationary_order: ClassVar[int] = 1
    curved: ClassVar[bool] = False

    def cost(self, flat):
        return Cost(1, 1)

    def width_bias(self, share, flat):
        return share

    def advance(self, particles, step):
        drift = particles.drift(step)
        before = particles.carried.get("drift", drift)
        particles.move(0.5 * (drift + before) + particles.noise(step))
        particles.carried["drift"] = drift


@pytest.mark.parametrize("run", RUNS)
def test_a_scheme_from_elsewhere_moves_all_particles_and_resumes_to_the_same_bits(run, tmp_path, monkeypatch):
    of, options = RUNS[run]
    options = {"until": 0.5, "seed": 4, "step": 0.05, "scheme": Inertial(), "keep_positions": True} | options
    whole = simulate(of, **options)
    assert whole.scheme == "inertial"
    assert whole.provenance["options"]["drifts_a_step"] == 1
    assert not np.array_equal(whole.positions, simulate(of, **options | {"scheme": EulerMaruyama()}).positions)

    kept = Checkpoint(tmp_path / "run", 0.1)
    monkeypatch.setattr(replicas, "advance", interrupted_at(7, advance))
    simulate(of, **options, checkpoint=kept, on_failure="return")
    monkeypatch.undo()
    resumed = simulate(of, **options, checkpoint=kept)
    assert np.array_equal(resumed.positions, whole.positions)
    assert np.array_equal(resumed.cosine, whole.cosine)


def test_what_a_scheme_carries_follows_the_replicas_that_go_on(monkeypatch):
    # Some replicas gather their particles and overshoot, others do not.
    steep = McKeanVlasov(Circle(), Kuramoto(), noise=0.6, coupling=6.0)
    options = {"replicas": 12, "step": 1.0, "scheme": Inertial(), "keep_positions": True, "on_failure": "return"}
    options["initial"] = np.linspace(-3.0, 3.0, 8)
    together = simulate(steep, 8, 6.0, 3, **options)
    monkeypatch.setattr("solvers.particles.few.MOST_REPLICAS", 1)
    alone = simulate(steep, 8, 6.0, 3, **options)
    assert 0 < together.completed.sum() < 12
    assert together.failures == alone.failures
    assert np.array_equal(together.positions, alone.positions, equal_nan=True)


def test_a_line_of_the_table_gives_a_scheme_to_the_command(monkeypatch, tmp_path):
    monkeypatch.setitem(SCHEMES, "inertial", f"{__name__}:Inertial")
    line = ["particles", "kuramoto", "--coupling", "1", "--particles", "50", "--until", "0.2", "--step", "0.1"]
    assert main([*line, "--scheme", "inertial", "--quiet", "--to", str(tmp_path / "e.json")]) == 0
    found, expected = (
        open_ensemble(tmp_path / "e.json"),
        simulate(problems.KURAMOTO_AT_1.problem, 50, 0.2, 1, step=0.1, scheme=Inertial()),
    )
    assert found.scheme == expected.scheme == "inertial"
    assert np.array_equal(found.cosine, expected.cosine)


@pytest.mark.parametrize("run", CURVED)
def test_schemes_for_flat_domains_are_refused_on_spheres(run):
    of, options = CURVED[run]
    with pytest.raises(
        InvalidInput, match=r"inertial adds displacements up.* take weak-second-order or euler-maruyama"
    ):
        simulate(of, **options, until=0.1, seed=1, scheme=Inertial())


@pytest.mark.parametrize("wrong", ["heun", 2, object()])
def test_what_is_no_scheme_is_refused(wrong):
    with pytest.raises(
        InvalidInput, match=r"scheme must be EulerMaruyama\(\), WeakSecondOrder\(\) or LeimkuhlerMatthews\(\)"
    ):
        simulate(CONFINED, 10, 0.1, 1, scheme=wrong)


def test_the_class_of_a_scheme_is_refused():
    with pytest.raises(InvalidInput, match=r"scheme must be WeakSecondOrder\(\)"):
        simulate(CONFINED, 10, 0.1, 1, scheme=WeakSecondOrder)


def test_the_command_names_all_schemes(capsys):
    assert main(["particles", "--help"]) == 0
    # Lines may end at any hyphen.
    words = "".join(capsys.readouterr().out.split())
    assert all(name in words for name in SCHEMES)
    assert f"(default:{SCHEME};withoutnoise{SCHEME_WITHOUT_NOISE})" in words
