"""Calls of compiled functions with whatever may come, from many threads."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, PliantError, ReadOnlyError
from pliant.frontend.tracing import is_tracing
from tests.calls import matrix, read_only, same, twice


class Subclass(np.ndarray):
    """An array that NumPy's functions know nothing special about."""


def misaligned(n: int) -> Any:
    return np.frombuffer(bytes(8 * n + 1), np.uint8)[1:].view(np.float64)


BAD: dict[str, Any] = {
    "none": (None, TypeError),
    "text": ("text", Exception),
    "list of text": (["a"], Exception),
    "objects": (np.array([None] * 3, object), PliantError),
    "texts": (np.array(["a"] * 3), PliantError),
    "structured": (np.zeros(3, [("a", "f8")]), PliantError),
    "dates": (np.zeros(3, "M8[s]"), PliantError),
    "subclass": (np.zeros(3).view(Subclass), ArgumentError),
    "masked": (np.ma.zeros(3), ArgumentError),
    "matrix": (np.zeros((1, 3)).view(np.matrix), ArgumentError),
    "a class": (np.ndarray, Exception),
    "a function": (len, Exception),
    "unhashable": ({1, 2}, ArgumentError),
}

GOOD: dict[str, Any] = {
    "other length": np.arange(5.0),
    "no elements": np.zeros(0),
    "other rank": np.ones((3, 1)),
    "rank 0": np.array(2.0),
    "misaligned": misaligned(3),
    "reversed": np.arange(3.0)[::-1],
    "big-endian": np.arange(3, dtype=">f8"),
    "one element in many places": np.broadcast_to(np.ones(1), (3,)),
    "huge": np.broadcast_to(np.ones(1), (1 << 20,)),
    "float16": np.ones(3, "f2"),
    "bool": np.ones(3, bool),
    "number": 2.5,
    "numpy number": np.int16(3),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_refused_also_after_many_good_ones(name: str) -> None:
    bad, error = BAD[name]
    compiled = pliant.jit(lambda x, y: x + y)
    x = np.arange(3.0)
    for _ in range(4):
        with pytest.raises(error):
            compiled(bad, x)
        with pytest.raises(error):
            compiled(x, bad)
        np.testing.assert_array_equal(compiled(x, x), x + x)


@pytest.mark.parametrize("name", GOOD)
def test_unusual_arguments_give_what_numpy_gives_also_after_many_usual_ones(name: str) -> None:
    compiled = pliant.jit(lambda x: (x * 2, x + np.int8(1)))
    x = np.arange(3.0)
    for _ in range(4):
        for given in (x, GOOD[name]):
            same(compiled(given), (given * 2, given + np.int8(1)))


def test_wrong_numbers_of_arguments_are_type_errors_also_after_good_calls() -> None:
    compiled = pliant.jit(lambda x, y: x + y)
    for _ in range(4):
        compiled(matrix(), matrix())
    for args, kwargs in (((), {}), ((matrix(),), {}), ((matrix(),) * 3, {}), ((matrix(),) * 2, {"z": 1})):
        with pytest.raises(TypeError):
            compiled(*args, **kwargs)


def test_a_read_only_array_is_not_written_after_calls_that_wrote() -> None:
    compiled = pliant.jit(twice)
    for _ in range(4):
        compiled(matrix())
    x = read_only()
    with pytest.raises(ValueError, match="read-only"):
        compiled(x)
    np.testing.assert_array_equal(x, matrix())


def written_or_not(x: Any, by: Any) -> Any:
    if by > 0:
        x[0] += by
    return x.sum()


def tried(x: Any, by: Any) -> Any:
    try:
        for n in range(len(x)):
            x[n] += by
    except ValueError:
        return -1.0
    return x.sum()


def test_a_read_only_array_may_be_copied_to_itself() -> None:
    def f(x: Any) -> Any:
        np.copyto(x, x)
        return x * 2

    x = read_only()
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


@pytest.mark.parametrize("begins_locked", [False, True])
def test_a_branch_that_writes_what_is_read_only_is_an_error_only_where_it_is_taken(begins_locked: bool) -> None:
    x, compiled = np.ones(3), pliant.jit(written_or_not)
    for turn in range(6):
        x.flags.writeable = turn % 2 == begins_locked
        assert compiled(x, -1.0) == x.sum()
        if x.flags.writeable:
            assert compiled(x, 2.0) == x.sum()
        else:
            with pytest.raises(ReadOnlyError, match=r"(?s)read-only.*x\[0\] \+= by"):
                compiled(x, 2.0)
    np.testing.assert_array_equal(x, [7.0, 1.0, 1.0])


@pytest.mark.parametrize("begins_locked", [False, True])
def test_the_error_of_a_write_to_what_is_read_only_is_caught_in_the_calls_that_have_it(begins_locked: bool) -> None:
    locked, free = read_only()[0], np.zeros(3)
    arguments = [locked, free][:: 1 if begins_locked else -1] * 4
    compiled = pliant.jit(tried)
    expected = [tried(x, 1.0) for x in arguments]
    free[:] = 0
    assert [compiled(x, 1.0) for x in arguments] == expected


def test_the_error_of_a_write_to_a_read_only_array_from_outside_is_caught() -> None:
    outside = np.ones(3)

    def f(by: Any) -> Any:
        return tried(outside, by)

    compiled = pliant.jit(f)
    for turn in range(8):
        outside.flags.writeable = turn % 2 == 0
        assert compiled(1.0) == (outside.sum() if turn % 2 == 0 else -1)
    assert outside.sum() == 15


def test_an_index_out_of_range_after_a_write_is_reported_once_and_leaves_no_trace() -> None:
    def f(x: Any, i: Any) -> Any:
        x[0] = 5.0
        return x[i]

    compiled = pliant.jit(f)
    for _ in range(4):
        assert compiled(np.zeros(4), 2) == 0
    with pytest.raises(IndexError, match="9"):
        compiled(np.zeros(4), 9)
    assert compiled(np.zeros(4), 0) == 5


class Holder:
    """An array by NumPy's protocol; it may refuse."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


def test_errors_of_a_conversion_come_through_unchanged() -> None:
    compiled = pliant.jit(lambda x: x + 1)
    for content in (OSError("gone"), matrix(), matrix(), matrix(), KeyError("away")):
        if isinstance(content, Exception):
            with pytest.raises(type(content)):
                compiled(Holder(content))
        else:
            np.testing.assert_array_equal(compiled(Holder(content)), content + 1)


def test_a_conversion_that_empties_the_list_it_stands_in_does_no_harm() -> None:
    given: list[Any] = []

    class Emptying(Holder):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            if self.content:
                given.clear()
            return np.ones(3)

    compiled = pliant.jit(lambda xs: xs[0] + xs[1] + xs[2])
    for turn in range(50):
        given[:] = [np.ones(3), Emptying(turn > 3), np.ones(3)]
        np.testing.assert_array_equal(compiled(given), np.full(3, 3.0))
    assert given == []


def test_a_thread_without_compilation_does_not_change_what_others_do() -> None:
    compiled = pliant.jit(lambda x: (x, is_tracing())[1])
    for _ in range(3):
        assert compiled(1.0)
    found = SimpleNamespace(inside=None)
    with pliant.disable_jit():
        assert not compiled(1.0)
        thread = threading.Thread(target=lambda: setattr(found, "inside", compiled(1.0)))
        thread.start()
        thread.join()
    assert found.inside


def test_a_compiled_function_called_while_another_is_traced_becomes_part_of_it() -> None:
    inner = pliant.jit(lambda x: np.sin(x))
    for _ in range(4):
        inner(matrix())
    outer = pliant.jit(lambda x: inner(x) + 1)
    for _ in range(4):
        np.testing.assert_allclose(outer(matrix()), np.sin(matrix()) + 1)
    assert "sin" in str(pliant.trace(outer, matrix()))


def test_eight_threads_with_growing_shapes_agree_bit_for_bit() -> None:
    functions = [
        pliant.jit(lambda x, y: np.sin(x) @ y),
        pliant.jit(lambda x, y: {"a": x[::2], "b": [np.cumsum(y[::-1], axis=0)]}),
        pliant.value_and_grad(lambda x, y: np.sum(np.exp(-x) * y.T)),
    ]
    failed: list[BaseException] = []
    begin = threading.Barrier(8)

    def inputs(n: int) -> tuple[Any, Any]:
        return np.random.default_rng(n).random((n, 2 * n)), np.random.default_rng(-n % 97).random((2 * n, n))[:, ::1]

    wanted = {
        (k, n): pliant.jit(f.__wrapped__)(*inputs(n)) if k < 2 else None for k, f in enumerate(functions) for n in SIZES
    }
    gradients = {n: pliant.value_and_grad(functions[2].__wrapped__)(*inputs(n)) for n in SIZES}

    def work(number: int) -> None:
        try:
            begin.wait()
            for turn in range(6):
                for n in SIZES:
                    k = (number + turn) % 3
                    same(functions[k](*inputs(n)), gradients[n] if k == 2 else wanted[k, n])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


SIZES = (1, 2, 3, 5, 8, 40, 90)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_a_python_int_of_more_than_64_bits_is_refused_also_after_smaller_ones(number: int) -> None:
    compiled = pliant.jit(lambda x, n: x + n)
    x = np.arange(3)
    for _ in range(4):
        with pytest.raises(ArgumentError, match=f"the Python int {number} does not fit into 64 bits"):
            compiled(x, number)
        np.testing.assert_array_equal(compiled(x, 2), x + 2)
