"""Large nests by several threads: what NumPy gives, bit for bit the same for any number of threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.kernel import split

RNG = np.random.default_rng(0)
VECTOR = RNG.normal(size=5_000)
TABLE = RNG.normal(size=(70, 130))
PLACES = RNG.integers(-5_000, 5_000, 4_000)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nests of some thousand elements are large."""
    monkeypatch.setattr(split, "LEAST", 1_000)
    monkeypatch.setattr(split, "PART", 500)
    monkeypatch.setattr(split, "STRIP", 32)
    before = pliant.threads()
    yield
    pliant.threads(before)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def normalised(x: Any) -> Any:
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)


def kernel(x: Any, y: Any) -> Any:
    return np.exp(-((x[:, None] - y[None]) ** 2)).sum(1)


def steps(x: Any) -> Any:
    for _ in range(5):
        x = x + 0.1 * np.sin(x)
    return x, np.sum(x)


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "elementwise": (lambda x: np.exp(-x * x) + 1, (VECTOR,)),
    "sum": (lambda x: np.sum(np.exp(x)), (VECTOR,)),
    "sum of float32": (lambda x: np.sum(x), (VECTOR.astype(np.float32),)),
    "sum of complex numbers": (lambda x: np.sum(x * x), (VECTOR + 1j,)),
    "sum of integers": (lambda x: np.sum(x), (np.arange(5_000),)),
    "greatest": (lambda x: (np.max(x), np.min(x), np.any(x > 3)), (VECTOR,)),
    "sum of everything in a table": (lambda x: np.sum(np.tanh(x)), (TABLE,)),
    "sums of rows": (lambda x: x.sum(1), (TABLE,)),
    "sums of columns": (lambda x: np.exp(x).sum(0), (TABLE,)),
    "sums of columns that differ in kind": (
        lambda x: (x.sum(0), x.max(0), (x > 0).any(0), (x > -9).all(0), (x * 1j).sum(0), (x > 0).sum(0)),
        (TABLE,),
    ),
    "transposed": (lambda x: x.T + 1, (TABLE,)),
    "softmax": (softmax, (TABLE,)),
    "softmax and sums of columns": (lambda x: (softmax(x), softmax(x).sum(0)), (TABLE,)),
    "normalised": (normalised, (TABLE,)),
    "nested sums": (kernel, (VECTOR[:300], VECTOR[300:600])),
    "variance": (lambda x: ((x - x.mean()) ** 2).mean(), (VECTOR,)),
    "gathered": (lambda x, i: x[i] * 2, (VECTOR, PLACES)),
    "value and gradient": (lambda x: np.sum(np.sin(x) ** 2), (VECTOR,)),
    "loop": (steps, (VECTOR,)),
    "infinite": (lambda x: np.sum(x), (np.where(np.arange(5_000) == 4_000, np.inf, VECTOR),)),
}


def bits(x: Any) -> Any:
    return [a.tobytes() for a in map(np.asarray, x if isinstance(x, tuple) else (x,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_numpy_and_the_same_for_any_number_of_threads(name: str):
    f, given = PROGRAMS[name]
    g, made = pliant.jit(f), list[Any]()
    for count in (1, 2, 3, 8):
        pliant.threads(count)
        made.append(g(*given))
    assert [bits(x) for x in made[1:]] == [bits(made[0])] * 3
    wanted = f(*given)
    tolerance = 1e-4 if np.asarray(given[0]).dtype == np.float32 else 1e-11
    for x, y in zip(*(z if isinstance(z, tuple) else (z,) for z in (made[0], wanted)), strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def test_gradients_are_the_same_for_any_number_of_threads():
    made = list[Any]()
    f = pliant.value_and_grad(lambda x: np.sum(softmax(x)[:, 3]))
    for count in (1, 2, 8):
        pliant.threads(count)
        made.append(bits(f(TABLE)))
    assert made[1:] == made[:1] * 2


@pytest.mark.parametrize("count", [1, 8])
def test_an_index_out_of_range_is_found_in_any_part(count: int):
    pliant.threads(count)
    wrong = PLACES.copy()
    wrong[3_900] = 5_000
    with pytest.raises(IndexError, match="index 5000 is out of range"):
        pliant.jit(lambda x, i: x[i] * 2)(VECTOR, wrong)


def test_writes_to_arguments_are_made_in_parts():
    x = VECTOR.copy()

    def halves(x: Any) -> None:
        x *= 0.5
        x[1:] = np.exp(x[:-1])

    wanted = VECTOR.copy()
    halves(wanted)
    pliant.threads(8)
    pliant.jit(halves)(x)
    np.testing.assert_allclose(x, wanted, rtol=1e-14)


def test_many_threads_of_the_user_may_call_at_once():
    pliant.threads(3)
    f, g = pliant.jit(PROGRAMS["softmax"][0]), pliant.jit(PROGRAMS["sum"][0])
    wanted, wrong = (bits(f(TABLE)), bits(g(VECTOR))), list[int]()

    def calls() -> None:
        for n in range(300):
            if (bits(f(TABLE)), bits(g(VECTOR))) != wanted:
                wrong.append(n)

    users = [threading.Thread(target=calls) for _ in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert wrong == []
