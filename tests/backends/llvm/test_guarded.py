"""Calls that are handed on without a Python frame."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from types import CellType
from typing import Any

import numpy as np
import pytest

from pliant.backends.calls import Conditions
from pliant.backends.llvm.guarded import Guarded

X = np.ones(2)


def other(*args: Any, **kwargs: Any) -> Any:
    return "other", args, kwargs


def target(*args: Any) -> Any:
    return "target", args


def guarded(like: Any, more: Any = (), conditions: Conditions | None = None, to: Any = target) -> Any:
    made = Guarded(other)
    made.straight(to, like, more, conditions or Conditions())
    return made.call


def test_calls_go_the_other_way_until_there_is_a_target():
    assert Guarded(other).call(1, key=2) == ("other", (1,), {"key": 2})


def test_arguments_like_those_it_was_made_for_go_to_the_target_with_more():
    more = object()
    assert guarded((1.0, X), (more,))(2.0, X) == ("target", (2.0, X, more))
    assert guarded(())() == ("target", ())


@pytest.mark.parametrize(
    "args",
    [(1, X), (1.0,), (1.0, X, X), (1.0, X.astype("f4")), (1.0, X.astype(X.dtype.newbyteorder())), (1.0, [X])],
    ids=["class", "fewer", "more", "dtype", "byte order", "list"],
)
def test_other_arguments_go_the_other_way(args: Any):
    assert guarded((1.0, X))(*args) == ("other", args, {})


def test_keywords_go_the_other_way():
    assert guarded((1.0, X))(1.0, y=X) == ("other", (1.0,), {"y": X})


def test_items_of_tuples_are_looked_at():
    call = guarded(((1.0, X),))
    assert call((2.0, X)) == ("target", ((2.0, X),))
    for seeds in ((1, X), (1.0,), (1.0, X, X), (1.0, X.astype("f4")), [1.0, X], ()):
        assert call(seeds) == ("other", (seeds,), {})


def test_tuples_in_tuples_always_go_the_other_way():
    assert guarded((((1.0,),),))(((1.0,),)) == ("other", (((1.0,),),), {})


def test_an_item_of_a_dict_that_changed_goes_the_other_way():
    names = {"a": X}
    call = guarded((1.0,), conditions=Conditions(items=((names, "a", X),)))
    assert call(1.0)[0] == "target"
    names["a"] = X.copy()
    assert call(1.0)[0] == "other"
    del names["a"]
    assert call(1.0)[0] == "other"
    names["a"] = X
    assert call(1.0)[0] == "target"


def test_a_cell_that_changed_goes_the_other_way():
    cell = CellType(X)
    call = guarded((1.0,), conditions=Conditions(cells=((cell, X),)))
    assert call(1.0)[0] == "target"
    cell.cell_contents = 2
    assert call(1.0)[0] == "other"
    del cell.cell_contents
    assert call(1.0)[0] == "other"


def test_other_conditions_are_asked():
    answers = iter([True, False, 1])
    call = guarded((1.0,), conditions=Conditions(others=lambda: next(answers)))
    assert [call(1.0)[0] for _ in range(3)] == ["target", "other", "other"]
    with pytest.raises(StopIteration):
        call(1.0)


def test_exceptions_pass_through():
    def fails(*args: Any) -> Any:
        raise KeyError(args)

    with pytest.raises(KeyError, match=r"1\.0"):
        guarded((1.0,), to=fails)(1.0)
    with pytest.raises(KeyError, match="2"):
        Guarded(fails).call(2)


def test_a_target_may_be_replaced_while_it_runs():
    made = Guarded(other)

    def replaces(*args: Any) -> Any:
        made.straight(target, args, (), Conditions())
        gc.collect()
        return args

    made.straight(replaces, (1.0,), (), Conditions())
    assert made.call(3.0) == (3.0,)
    assert made.call(3.0) == ("target", (3.0,))


def test_references_are_given_back():
    more, names, cell, x = object(), {"a": X}, CellType(X), object()
    conditions = Conditions(items=((names, "a", X),), cells=((cell, X),), others=lambda: True)
    call = guarded((x, (x,)), (more,), conditions, to=lambda *args: None)
    things = more, names, cell, x, X, None, True, call.__self__[0], call.__self__[1]
    for args in ((x, (x,)), (x,), (x, (x, x))):
        call(*args)
        before = [sys.getrefcount(thing) for thing in things]
        for _ in range(1000):
            call(*args)
        after = [sys.getrefcount(thing) for thing in things]
        assert max(b - a for a, b in zip(before, after, strict=True)) < 100


def test_a_cycle_through_a_guarded_call_is_collected():
    def make() -> Any:
        def way(*args: Any) -> Any:
            return made

        made = Guarded(way)
        made.straight(way, (1.0,), (), Conditions())
        made.call(1.0)
        return weakref.ref(way)

    found = make()
    gc.collect()
    assert found() is None


def test_threads_see_the_old_target_or_the_new_one():
    made, wrong = Guarded(other), list[Any]()

    def calls() -> None:
        for _ in range(5000):
            name, args, *_ = made.call(1.0, X)
            if name not in ("other", "target") or args[1] is not X:
                wrong.append(name)

    def changes() -> None:
        for n in range(5000):
            made.straight(target, (1.0, X), (object(),) * (n % 3), Conditions(items=(({"a": X}, "a", X),)))

    threads = [threading.Thread(target=run) for run in (calls, calls, changes, changes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
