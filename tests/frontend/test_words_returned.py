"""Words and members of an Enum that data choose are returned, and left in what the call changes, by one program."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnboundError


class Mode(Enum):
    A = 1
    B = 2
    C = 3


class Whole(IntEnum):
    X = 1
    Y = 2
    Z = 5


class Held:
    def __init__(self) -> None:
        self.mode, self.whole, self.names = Mode.A, Whole.X, ["a"]


def at_a_place(x: Any) -> Any:
    return ["a", "b", "c"][np.argmax(x)]


def in_containers(x: Any) -> Any:
    n: Any = np.argmin(x)
    return [Mode.A, Mode.B, Mode.C][n], {"m": [Whole.X, Whole.Y, Whole.Z][n]}, [["u", Mode.A, b"v"][n]]


def after_a_loop(x: Any) -> Any:
    m = Mode.A
    for v in x:
        if v > 0:
            m = Mode.B if m is Mode.A else Mode.A
    return m


def numbers_after_a_loop(x: Any) -> Any:
    m = Whole.X
    for v in x:
        if v > 0:
            m = Whole.Y if m is Whole.X else Whole.Z
        elif v < -10:
            m = Whole.X
    return m, [m, m.name], {"m": m.value}


def in_a_list(x: Any) -> Any:
    return ["pos" if v > 0 else "neg" for v in x]


def in_a_new_object(x: Any) -> Any:
    held = Held()
    if x[0] > 0:
        held.mode, held.whole, held.names = Mode.B, Whole.Z, ["b"]
    for v in x:
        if v > 2 and held.mode is Mode.B:
            held.mode = Mode.C
    return held.mode, held.whole, held.names


XS = [np.array(x) for x in ([1.0, 3.0, 2.0], [-1.0, 2.0, -20.0], [-2.0, -1.0, -3.0], [-2.0, 1.0, 0.5])]


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize(
    "f", [at_a_place, in_containers, after_a_loop, numbers_after_a_loop, in_a_list, in_a_new_object]
)
@pytest.mark.usefixtures("for_all_data")
def test_the_one_that_data_choose_is_returned(f: Callable[[Any], Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in [*XS, *XS]:
        assert repr(compiled(x)) == repr(f(x))


@pytest.mark.usefixtures("for_all_data")
def test_it_is_left_in_arguments() -> None:
    def left(held: Any, table: Any, x: Any) -> None:
        if x > 0:
            held.mode, held.whole = Mode.B, Whole.Y
        table["m"] = ["low", "high"][np.argmax(np.array([0.0, x]))]

    compiled = pliant.jit(left)
    for x in (1.0, -1.0, 1.0):
        held, table = Held(), {"m": "none"}
        compiled(held, table, x)
        assert (held.mode, held.whole) == ((Mode.B, Whole.Y) if x > 0 else (Mode.A, Whole.X))
        assert table["m"] == ("high" if x > 0 else "low")


def test_a_batch_has_no_words() -> None:
    with pytest.raises(UnboundError, match="one of 'a', 'b', 'c'"):
        pliant.vmap(at_a_place)(np.ones((2, 3)))
