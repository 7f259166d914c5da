"""The equations files of AUTO: what they state, and what they refuse; tests/test_auto.py compiles and runs them."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    HegselmannKrause,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Potential,
    Sphere,
    Transformer,
)
from meanfield.export import auto_series
from meanfield.export.auto_model import Model, model_text
from meanfield.export.auto_series import GOOD, LARGEST_ERROR


def model(potential, varied, domain=None, **more):
    return Model(McKeanVlasov(domain or Circle(), potential, coupling=1.0), 8, 20, False, varied, **more)


def table(text, name, number):
    """The series of a parameter as Fortran reads them: breaks, places and (pieces, places, degree + 1)."""
    arrays = {}
    for kind in ("BREAKS", "PLACES", "TABLE"):
        head = f":: {kind}{number}("
        size = int(text.split(head)[1].split(")")[0])
        chunks = text.split(f"  DATA {kind}{number}(")[1:]
        words = " ".join(chunk.split("/")[1] for chunk in chunks)
        arrays[kind] = np.array(words.replace("&", " ").replace(",", " ").replace("D", "E").split(), dtype=float)
        assert arrays[kind].size == size
    pieces, places = arrays["BREAKS"].size - 1, arrays["PLACES"].astype(int) - 1
    return arrays["BREAKS"], places, arrays["TABLE"].reshape(pieces, places.size, -1)


@pytest.mark.parametrize(
    ("potential", "name", "interval", "domain"),
    [
        (HegselmannKrause(1.0), "radius", (0.4, 2.5), None),
        (Kuramoto() + Transformer(5.0), "beta", (2.0, 20.0), None),
        (MaierSaupe() + Transformer(3.0), "beta", (-4.0, -1.0), Sphere(3)),
    ],
)
def test_tables_are_as_good_as_they_say(potential, name, interval, domain):
    made = model(potential, {name: interval}, domain)
    text = model_text(made)
    stated = next(line for line in text.splitlines() if "of the largest at the same" in line)
    error = float(stated.split()[2])
    assert error <= GOOD
    breaks, places, series = table(text, name, 3)
    # AUTO's Newton steps go somewhat beyond the interval.
    assert breaks[0] < interval[0]
    assert breaks[-1] > interval[1]
    for value in np.linspace(*interval, 41):
        exact = potential.with_parameter(name, value).multipliers(made.problem.domain, 8)[1:].astype(float)
        piece = min(int(np.searchsorted(breaks, value, side="right")) - 1, len(series) - 1)
        place = (2 * value - breaks[piece] - breaks[piece + 1]) / (breaks[piece + 1] - breaks[piece])
        found = np.polynomial.chebyshev.chebval(place, series[piece].T)
        # The measure of the error is on a grid of its own.
        assert np.abs(found - exact[places]).max() <= 2 * GOOD * np.abs(exact).max()


def test_what_is_linear_holds_everywhere_and_what_only_looks_so_does_not():
    text = model_text(model(CosineSeries((-1.0, -0.4, -0.6)), {"w3": (-0.9, -0.3), "w2": (-0.5, -0.4)}))
    assert "! The multipliers are linear in w3." in text
    assert "TABULATED('w2', PAR(4), .TRUE." in text
    _, places, series = table(text, "w3", 3)
    assert places.tolist() == [2]
    assert series.shape == (1, 1, 2)
    narrow = model_text(model(Kuramoto() + Transformer(5.0), {"beta": (5.0, 5.0 + 1e-9)}))
    assert "linear" not in narrow.partition("MODULE")[0]


def test_what_has_no_equations_says_why():
    product = model(Kuramoto() + 0.5 * Transformer(2.0), {"beta": (1.0, 3.0), "transformer_factor": (0.2, 0.8)})
    assert "are not a sum of functions of beta and of transformer_factor" in model_text(product)
    large = model(Transformer(5.0) + Kuramoto(), {"beta": (5.0, 720.0)})
    assert "beyond the range of double precision" in model_text(large)
    for text in map(model_text, (product, large)):
        assert text.startswith("! There are no equations for AUTO of")
        assert all(line.startswith("! ") for line in text.splitlines())


class Bent(Potential):
    """W = -cos t - abs(a - 1) cos 2t."""

    name, formula = "bent", "-cos t - abs(a - 1) cos 2t"

    def __init__(self, a):
        self.a = float(a)

    def parameters(self):
        return {"a": self.a}

    def multipliers(self, domain, degree):
        return np.array([0.0, -1.0, -abs(self.a - 1.0), *np.zeros(degree)])[: degree + 1]

    def tail_bound(self, domain, degree):
        return float(np.abs(self.multipliers(domain, 2)[degree + 1 :]).max(initial=0.0))

    def values(self, angle):
        return -np.cos(angle) - abs(self.a - 1.0) * np.cos(2 * np.asarray(angle))

    def slope(self, angle):
        return np.sin(angle) + 2 * abs(self.a - 1.0) * np.sin(2 * np.asarray(angle))


def test_what_is_not_smooth_in_a_parameter_is_refused(monkeypatch):
    # A potential of one's own is examined at every value: that takes its time.
    monkeypatch.setattr(auto_series, "HALVINGS", 1)
    monkeypatch.setattr(auto_series, "DEGREE", 8)
    text = model_text(model(Bent(1.2), {"a": (0.5, 1.8)}))
    error = float(text.split("have an error of ")[1].split()[0])
    assert LARGEST_ERROR < error < 0.1
    # On one side of the kink it is linear, and not beyond.
    one_side = model_text(model(Bent(1.5), {"a": (1.2, 1.8)}))
    assert "tabulated for a from 1.17 to 1.83" in one_side
