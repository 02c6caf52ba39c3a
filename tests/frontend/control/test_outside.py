"""What a traced function leaves in objects, containers and names from outside of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError, UnsupportedError

X = np.array([1.0, 2.0, 3.0])
calls, table = 1, np.array(1.0)


class Model:
    """An object with state."""

    def __init__(self) -> None:
        self.state = np.zeros(3)
        self.tables: dict[str, Any] = {}

    def step(self, x: Any) -> Any:
        """Binds its state anew."""
        self.state = self.state + x
        return self.state.sum()

    def update(self, x: Any) -> Any:
        """Writes its state where it is."""
        self.state[...] = self.state + x
        return self.state.sum()

    def looked_up(self, x: Any) -> Any:
        """Makes a table at the first call."""
        if "squares" not in self.tables:
            self.tables["squares"] = np.arange(3.0) ** 2
        return (x * self.tables["squares"]).sum()


def test_an_attribute_that_is_bound_to_a_traced_array_is_set_at_every_call() -> None:
    model = Model()
    step = pliant.jit(model.step)
    assert [step(X), step(X)] == [6.0, 12.0]
    assert list(model.state) == [2.0, 4.0, 6.0]
    assert type(model.state) is np.ndarray


@pytest.mark.usefixtures("for_all_data")
def test_an_attribute_that_depends_on_a_condition_is_an_error_and_taken_back() -> None:
    model = Model()
    before = model.state

    def maybe(x: Any) -> Any:
        model.state = model.state + x
        if x[0] > 0:
            model.last = x  # type: ignore[attr-defined]
        return x

    with pytest.raises(UnboundError, match=r"\.last has a value only if a condition holds") as error:
        pliant.jit(maybe)(X)
    assert "if x[0] > 0" in str(error.value)
    assert model.state is before
    assert not hasattr(model, "last")


def test_an_attribute_of_an_argument_is_set() -> None:
    model = Model()
    assert pliant.jit(lambda m, x: m.step(x))(model, X) == 6.0
    assert list(model.state) == [1.0, 2.0, 3.0]


def test_state_that_is_written_where_it_is_reaches_the_object_at_every_call() -> None:
    model = Model()
    step = pliant.jit(model.update)
    assert [step(X), step(X)] == [6.0, 12.0]
    assert list(model.state) == [2.0, 4.0, 6.0]


def test_a_function_that_binds_a_global_name_reads_others_again_at_each_call() -> None:
    def f(x: Any) -> Any:
        global calls  # noqa: PLW0603
        calls += 1
        return x * calls + sum(v * table for v in (1.0,))

    step = pliant.jit(f)
    assert [float(step(1.0)), float(step(1.0)), calls] == [3.0, 4.0, 3]
    globals()["table"] = np.array(10.0)
    assert float(step(1.0)) == 14.0


@pytest.mark.usefixtures("for_all_data")
def test_containers_from_outside_are_named_and_restored() -> None:
    losses: list[Any] = [1.0]
    table: dict[str, Any] = {}

    def appended(x: Any) -> Any:
        losses.append(x.sum())
        return x

    def stored(x: Any) -> Any:
        table["last"] = x.sum()
        return x

    def under_a_condition(x: Any) -> Any:
        if x[0] > 0:
            table["last"] = x.sum()
        return x

    pliant.jit(appended)(X)
    assert losses == [1.0, 6.0]
    with pytest.raises(UnboundError, match=r"has a value only if a condition holds"):
        pliant.jit(under_a_condition)(X)
    assert table == {}
    pliant.jit(stored)(X)
    assert table == {"last": 6.0}


def test_what_is_known_while_tracing_is_left_as_what_numpy_makes() -> None:
    model = Model()
    assert pliant.jit(model.looked_up)(X) == model.looked_up(X) == 14.0
    assert type(model.tables["squares"]) is np.ndarray
    assert pliant.grad(model.looked_up)(X).tolist() == [0.0, 1.0, 4.0]


def test_objects_and_closures_of_the_function_itself_keep_what_they_like() -> None:
    def f(x: Any) -> Any:
        model, total = Model(), 0.0

        def add(v: Any) -> None:
            nonlocal total
            total = total + v

        for v in x:
            add(v)
        return model.step(x) + total

    assert pliant.jit(f)(X) == 12.0


class Tour:
    """An object with a list that is written at traced places, and an attribute that the first step of a loop sets."""

    def __init__(self) -> None:
        self.tour = [0, 1, 2, 3]
        self.weights = np.ones(3)

    def swap(self, count: int) -> Any:
        """Exchanges two elements at random."""
        for _ in range(count):
            i, j = np.random.randint(4), np.random.randint(4)
            self.tour[i], self.tour[j] = self.tour[j], self.tour[i]
        return self.tour[0]

    def forward(self, x: Any) -> Any:
        """Keeps what it is given."""
        self.inputs = x * 2
        return x * self.weights

    def fit(self, x: Any, count: int) -> Any:
        """Steps that read what the same step has kept."""
        for _ in range(count):
            made = self.forward(x)
            self.weights = self.weights - 0.1 * self.inputs * (made - 1)
        return self.weights.sum()


def test_a_list_of_an_object_is_written_at_traced_places() -> None:
    one, other = Tour(), Tour()
    swap = pliant.jit(one.swap)
    for count in (1, 1, 5, 9):
        np.random.seed(count)
        made = swap(count)
        np.random.seed(count)
        assert made == other.swap(count)
        assert one.tour == other.tour


def test_the_first_step_of_a_loop_sets_an_attribute() -> None:
    one, other = Tour(), Tour()
    fit = pliant.jit(one.fit)
    for count in (20, 20, 3):
        np.testing.assert_allclose(fit(X, count), other.fit(X, count), rtol=1e-12)
        np.testing.assert_allclose(one.inputs, other.inputs, rtol=1e-12)
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-12)
    np.testing.assert_allclose(
        pliant.grad(lambda x: Tour().fit(x, 20))(X),
        [(Tour().fit(X + h, 20) - Tour().fit(X - h, 20)) / 2e-6 for h in np.eye(3) * 1e-6],
        rtol=1e-6,
        atol=1e-8,
    )


@pytest.mark.parametrize("kind", ["attribute", "item", "name", "added"])
def test_text_of_run_time_is_not_left_outside(kind: str) -> None:
    model, words, note = Model(), dict[str, Any](), ""

    def f(x: Any) -> Any:
        nonlocal note
        if kind == "attribute":
            model.note = f"{x.sum()}"
        elif kind == "item":
            words["note"] = f"{x.sum()}"
        elif kind == "name":
            note = f"{x.sum()}"
        else:
            words.setdefault("list", []).append(f"{x.sum()}")
        return x

    with pytest.raises(UnsupportedError, match="text made of a number that is known only at run time"):
        pliant.jit(f)(X)
    assert (vars(model).keys(), words, note) == ({"state", "tables"}, {}, "")
