"""What is one of a few words, from step to step: programs that ask which one do as Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pliant
from pliant.errors import UnboundError
from tests.frontend.control.flows_states import STATES
from tests.frontend.control.laws import (
    X,
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", STATES, ids=name_of)
def test_words_say_what_is_done_next(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", STATES, ids=name_of)
def test_derivatives_are_those_of_what_was_done(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", STATES, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


def test_steps_that_words_tell_apart_are_a_loop() -> None:
    assert "loop(" in str(pliant.trace(lambda x: STATES[0](x, 5), X))


@pytest.mark.parametrize("use", [lambda w: {w: 1.0}, lambda w: {w}])
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
