"""The search itself on a space of numbers: what it counts, when it ends, and what it asks for once only."""

import numpy as np
import pytest

from meanfield import Circle, ContinuityEquation, McKeanVlasov, SoftmaxAttention, Transformer
from solvers.root_finding.search import Catalogue, Ends, Kind, Lost, Met, Rounds, known_states, search
from solvers.root_finding.searched import MISSING, missing

ARTEFACT, UNRESOLVED, UNIFORM = 100, 101, 0
SOME = Rounds(1, 40, 80)


class Numbers:
    """Runs end at numbers, drawn with given chances; a number and its negative are one state, zero is uniform."""

    among = "numbers"

    def __init__(self, chances, starts=50, rounds=SOME, bound=(np.inf, ""), stable=(1,)):
        self._chances, self.rounds, self.bound, self._stable = chances, rounds, bound, stable
        self.starts = {Kind.NEWTON: starts, Kind.RELAXED: starts // 2}
        self.made, self.solved, self.between, self.doubts = [], [], [], []

    def ends(self, kind, rounds, met, generator):
        if kind is Kind.BETWEEN:
            yield from (self._ends(np.array(numbers)) for numbers in self.between)
            return
        self.made.append((kind, rounds))
        chances = self._chances if kind is Kind.NEWTON else dict.fromkeys(self._stable, 1.0)
        shares = np.array(list(chances.values())) / sum(chances.values())
        for _ in range(rounds):
            numbers = generator.choice(list(chances), self.starts[kind], p=shares)
            yield self._ends(numbers * generator.choice([-1, 1], numbers.size))

    def _ends(self, numbers):
        return Ends(numbers[:, None].astype(float), np.sign(numbers)[:, None] + 3.0 * np.abs(numbers)[:, None])

    def states_at(self, ends):
        numbers = [int(number) for number in ends.rows[:, 0]]
        self.solved += numbers
        lost = {ARTEFACT: Lost.ARTEFACT, UNRESOLVED: Lost.UNRESOLVED, UNIFORM: None}
        return [lost.get(abs(number), number) for number in numbers]

    def are_same(self, one, other):
        return abs(one) == abs(other)

    def is_stable(self, state):
        return abs(state or 0) in self._stable

    def doubt(self, states, unresolved):
        return self.doubts.pop(0) if self.doubts else f"{unresolved} not resolved" if unresolved else ""


def test_states_are_solved_for_once_at_each_image_and_counted_as_one():
    space = Numbers({1: 0.5, 2: 0.3, 0: 0.2})
    met = known_states(space, [], uniform=True)
    found = search(space, met)
    assert sorted(abs(state) for state in found.points) == [1, 2]
    assert len(space.solved) == len(set(space.solved)) == 5
    assert found.settled
    assert found.states.ends == len(met) == 3
    assert (
        found.states.runs
        == sum(each.runs for each in met)
        == 50 * sum(rounds for kind, rounds in space.made if kind is Kind.NEWTON)
    )
    assert found.minima.ends == 1
    assert [each.relaxations > 0 for each in met] == [abs(each.state or 0) == 1 for each in met]


@pytest.mark.parametrize("number", [3, 7, 11])
def test_rounds_made_at_once_end_no_sooner_and_no_later_than_rounds_made_one_by_one(number):
    """Runs of states of equal chances, so that all are met in the first: the tally alone says when they are enough."""
    space = Numbers(dict.fromkeys(range(1, number + 1), 1.0), rounds=Rounds(1, 400, 400))
    found = search(space, [])
    made = sum(rounds for kind, rounds in space.made if kind is Kind.NEWTON)
    # Less than a quarter expected unseen: w (w + 1)/(n - w - 2) < 1/4.
    assert number * (number + 1) / (50 * made - number - 2) < 0.25
    assert number * (number + 1) / (50 * (made - 1) - number - 2) >= 0.25
    assert found.settled
    assert len([kind for kind, _ in space.made if kind is Kind.NEWTON]) <= 3


def test_a_search_that_is_not_settled_ends_at_the_most_rounds():
    space = Numbers({1: 1.0, 2: 1e-9}, starts=4, rounds=Rounds(2, 5, 9))
    space.between = [[2]]
    found = search(space, [])
    assert {abs(state) for state in found.points} == {1, 2}
    assert not found.settled
    assert found.states.met_once_at_most == 1
    assert sum(rounds for kind, rounds in space.made if kind is Kind.NEWTON) == 5


def test_what_is_known_and_never_met_keeps_no_search_going_but_leaves_it_unsettled():
    space = Numbers({1: 1.0})
    met = known_states(space, [7, -7, 1], uniform=False)
    assert [each.state for each in met] == [7, 1]
    found = search(space, met)
    assert space.made == [(Kind.NEWTON, 1), (Kind.RELAXED, 1)]
    assert found.points == []
    assert found.states.met_once_at_most == 1
    assert not found.settled


def test_rounds_go_on_while_indices_do_not_add_up_and_no_longer():
    space = Numbers({1: 1.0}, rounds=Rounds(1, 3, 6))
    space.doubts = [f"{MISSING} (some relation)"] * 2
    assert search(space, []).settled
    assert [kind for kind, _ in space.made] == [Kind.NEWTON, Kind.RELAXED, Kind.NEWTON, Kind.NEWTON]
    endless = Numbers({1: 1.0}, rounds=Rounds(1, 3, 6))
    endless.doubts = [f"{MISSING} (some relation)"] * 9
    found = search(endless, [])
    assert sum(rounds for kind, rounds in endless.made if kind is Kind.NEWTON) == 6
    assert found.doubt.startswith(MISSING)


def test_ends_at_no_state_are_lost_and_those_without_a_grid_are_told():
    space = Numbers({1: 0.6, ARTEFACT: 0.2, UNRESOLVED: 0.2})
    found = search(space, [])
    assert found.points[0] in (1, -1)
    assert found.lost + found.states.runs == 50 * space.made[0][1]
    # Either sign was examined once.
    assert found.doubt == "2 not resolved"
    assert not found.settled
    nowhere = Numbers({ARTEFACT: 1.0}, stable=(ARTEFACT,))
    assert search(nowhere, []).states.runs == 0
    assert nowhere.made == [(Kind.NEWTON, 1), (Kind.RELAXED, 1)]


def test_a_theorem_on_the_number_of_states_ends_the_search_or_saves_it():
    space = Numbers({1: 1.0}, bound=(1.0, "there is one"))
    assert search(space, known_states(space, [5], uniform=False)).theorem == "there is one"
    assert not space.made
    found = search(space, [])
    assert (found.theorem, abs(found.points[0])) == ("there is one", 1)
    assert search(Numbers({1: 1.0}, bound=(2.0, "at most two")), []).theorem == ""


def test_rows_of_a_catalogue_are_told_apart_by_their_largest_difference():
    catalogue = Catalogue()
    rows = np.array([[0.0, 1.0], [0.0, 1.0 + 5e-7], [2e-6, 1.0], [0.0, 1.0]])
    assert catalogue.places(rows).tolist() == [0, 0, 1, 0]
    assert catalogue.places(rows[::-1] + 1e-9).tolist() == [0, 1, 0, 0]
    assert catalogue.places(np.empty((0, 2))).tolist() == []


def test_where_nothing_relaxes_stability_is_not_asked_for():
    space = Numbers({1: 1.0})
    del space.starts[Kind.RELAXED]
    space.is_stable = lambda state: pytest.fail("not needed")
    found = search(space, met := [])
    assert found.minima is None
    assert isinstance(met[0], Met)


def test_the_theorem_is_that_of_the_law():
    """Softmax attention has a Gibbs map and no free energy."""
    own = McKeanVlasov(Circle(), Transformer(2.0), coupling=3.0)
    other = ContinuityEquation(Circle(), SoftmaxAttention(2.0), coupling=3.0)
    assert missing(own) == f"{MISSING} (Morse relation)"
    assert missing(other) == f"{MISSING} (Leray and Schauder)"
