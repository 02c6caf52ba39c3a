"""Small programs of loops that put elements in front of a list, or go over lists that loops left; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


def put_in_front(x: Any, n: int) -> Any:
    ys = [x[0]]
    for v in x:
        ys.insert(0, ys[0] * 0.5 + v)
    return np.array(ys), ys[0], ys[-1]


def arrays_put_in_front_of_none(x: Any, n: int) -> Any:
    ys: list[Any] = []
    state = x
    for _ in range(7):
        state = np.tanh(state) * 1.1
        ys.insert(0, state)
    state[0] = 5.0
    return np.stack(ys), len(ys)


def two_in_front(x: Any, n: int) -> Any:
    ys = [x[1], x[0]]
    for v in x:
        ys.insert(0, ys[0] * 0.5 + ys[1] * v)
        ys.insert(0, ys[0] - ys[-1] + ys[2])
    return np.array(ys)


def read_after_it_is_put_in_front_of_none(x: Any, n: int) -> Any:
    ys: list[Any] = []
    for v in x:
        ys.insert(0, v)
        ys.insert(0, v * ys[0])
    return np.array(ys), min(ys)


def pairs_in_front(x: Any, n: int) -> Any:
    ys = [(x[0], 2.0 * x)]
    for k in range(7):
        a, b = ys[0]
        ys.insert(0, (a * 0.5 + x[k], b * x[k]))
    return [a for a, _ in ys], np.array([b for _, b in ys])


def gone_over_while_it_grows_in_front(x: Any, n: int) -> Any:
    ys = [x[1] * 2, x[2]]
    s = 0.0
    for v in x:
        for k, y in enumerate(ys):
            s = s * 0.9 + y * k
        s = s + min(ys)
        ys.insert(0, ys[0] * v)
        s = s * 0.7 + ys[1] * ys[2]
        ys[0] = ys[0] * 2
    return np.array(ys), s


def back_and_forth(x: Any, n: int) -> Any:
    there, back = [x * 0.1], [np.ones(9)]
    for v in x:
        there.append(there[-1] * 0.5 + v)
    for k in range(8, -1, -1):
        back.insert(0, back[0] * 0.9 + there[k] * x[k])
    return np.array(there) * np.array(back)


class State(NamedTuple):
    mean: Any
    spread: Any


def there_and_back_by_tuples(x: Any, n: int) -> Any:
    state = State(x[:2], np.outer(x[2:4], x[2:4]) + np.eye(2))
    there, before = [], []
    for v in x:
        moved = State(state.mean * 0.9 + v, state.spread * 0.8 + np.eye(2))
        gain = moved.spread[0] / (moved.spread[0, 0] + 1)
        state = State(moved.mean + gain * v, moved.spread - np.outer(gain, moved.spread[0]))
        there.append(state)
        before.append(moved)
    back = [there[-1]]
    for here, moved in zip(reversed(there[:-1]), reversed(before), strict=False):
        gain = here.spread @ np.linalg.inv(moved.spread)
        last = back[-1]
        back.append(here._replace(mean=here.mean + gain @ (last.mean - moved.mean)))
    return np.array([s.mean for s in back[::-1]]), sum(np.trace(s.spread) for s in back)


def gone_over_forth_and_back(x: Any, n: int) -> Any:
    ys = [x * 2]
    for v in x:
        ys.append(ys[-1] * 0.5 + v)
    s = 0.0
    for a, b in zip(ys[1:], ys[::-1], strict=False):
        s = s * 0.9 + (a * b).sum()
    for k, y in enumerate(reversed(ys)):
        s = s * 0.9 + y[2] * k
    return s, np.array(ys[::-1] + ys), np.stack(ys[::-2])


# --- these do not add to one end: all elements are carried


def put_behind_the_first(x: Any, n: int) -> Any:
    ys = [x[0]]
    for v in x:
        ys.insert(1, v)
    return np.array(ys)


def put_before_the_last(x: Any, n: int) -> Any:
    ys = [x[0], x[1]]
    for v in x:
        ys.append(v)
        ys.insert(-1, v * 2)
    return np.array(ys)


def put_into_a_slice(x: Any, n: int) -> Any:
    ys = [x[0]]
    for v in x:
        ys[1:1] = [v]
    return np.array(ys)


def turned_around(x: Any, n: int) -> Any:
    ys = [x[0]]
    for v in x:
        ys.reverse()
        ys.append(v)
    return np.array(ys)


def appended_and_turned_around(x: Any, n: int) -> Any:
    ys: list[Any] = []
    for v in x:
        ys.append(v)
        ys.reverse()
    return np.array(ys)


def put_at_both_ends(x: Any, n: int) -> Any:
    ys = [x[0]]
    for v in x:
        ys.insert(0, v)
        ys.append(v * 2)
    return np.array(ys)


def the_first_is_taken(x: Any, n: int) -> Any:
    ys = [x[0], x[1]]
    for v in x:
        ys.append(v)
        ys.append(v * ys.pop(0))
    return np.array(ys)


ENDS = (
    put_in_front, arrays_put_in_front_of_none, two_in_front, read_after_it_is_put_in_front_of_none, pairs_in_front,
    put_behind_the_first, put_before_the_last, put_into_a_slice, turned_around, appended_and_turned_around,
    put_at_both_ends, the_first_is_taken, gone_over_while_it_grows_in_front, back_and_forth, there_and_back_by_tuples,
    gone_over_forth_and_back,
)  # fmt: skip


# --- copies of the body: an element is written


def the_second_is_written(x: Any, n: int) -> Any:
    ys = [x[0]]
    for v in x:
        ys.append(v)
        ys[1] = v * 2
    return np.array(ys)


def elements_are_written_while_it_is_gone_over(x: Any, n: int) -> Any:
    ys = [x * 2]
    for v in x:
        ys.append(ys[-1] * 0.5 + v)
    for y in ys:
        y[0] = y[1] * 2
    return np.array(ys)


UNROLLED = (elements_are_written_while_it_is_gone_over,)
