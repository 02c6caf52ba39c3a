"""What is one of a few words, from step to step: programs that ask which one do as Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import UnboundError
from tests.frontend.control.flows_states import STATES
from tests.frontend.control.test_ornone import GIVEN, X, assert_same, name_of, outcome


def total(f: Callable[..., Any], x: Any) -> Any:
    return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 5))])


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", STATES, ids=name_of)
def test_words_say_what_is_done_next(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in GIVEN.values():
        assert_same(outcome(compiled, x), outcome(f, x))


@pytest.mark.parametrize("f", STATES, ids=name_of)
def test_derivatives_are_those_of_what_was_done(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return total(f, x)

    way, step = np.sin(np.arange(9.0) + 1), 1e-6
    for x in GIVEN.values():
        wanted = (loss(x + step * way) - loss(x - step * way)) / (2 * step)
        assert pliant.grad(loss)(x) @ way == pytest.approx(wanted, rel=2e-5, abs=1e-6)
        assert pliant.jvp(loss, (x,), (way,))[1] == pytest.approx(wanted, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("f", STATES, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    rows = np.stack([*GIVEN.values()])
    made = pliant.vmap(lambda x: total(f, x))(rows)
    np.testing.assert_allclose(made, [total(f, x) for x in rows], rtol=1e-12, atol=1e-12)


def test_steps_that_words_tell_apart_are_a_loop() -> None:
    assert "loop(" in str(pliant.trace(lambda x: STATES[0](x, 5), X))


@pytest.mark.parametrize("use", [lambda w: w, lambda w: len(w)])
def test_a_word_that_is_used_otherwise_is_refused(use: Any) -> None:
    def f(x: Any) -> Any:
        word = "a"
        for v in x:
            if v > 1:
                word = "b"
        return use(word)

    with pytest.raises(UnboundError, match="this is one of 'a', 'b', and which one is known only at run time") as info:
        pliant.jit(f)(X)
    assert "hint: compare it, as in state == 'run'" in str(info.value)
