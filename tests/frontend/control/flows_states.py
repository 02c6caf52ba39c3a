"""Small programs in which words say what is done next, by conditions known only at run time; x: f64[9]."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np


class Mode(Enum):
    UP = "up"
    DOWN = "down"
    STILL = "still"


def three_states(x: Any, n: int) -> Any:
    state, energy = "idle", 0.0
    for v in x:
        if state == "idle":
            if v > 1:
                state = "run"
                energy += 2 * v
        elif state == "run":
            energy += v * v
            if v < 0.5:
                state = "cool"
        else:
            energy *= 0.9
            state = "idle"
    return energy


def with_a_break(x: Any, n: int) -> Any:
    state, total, count = b"a", 0.0, 0
    for v in x:
        if state == b"a":
            if v > 0.3:
                state = b"b"
        elif state == b"b":
            total += v
            if v < 1.5:
                state = b"c"
                count += 1
        else:
            if count >= 2:
                break
            state = b"a"
    return total, count


def members_of_an_enum(x: Any, n: int) -> Any:
    mode, y = Mode.STILL, x.copy()
    for i in range(1, 9):
        if mode is Mode.UP:
            y[i] += y[i - 1]
            mode = Mode.DOWN if y[i] > 2 else Mode.UP
        elif mode is Mode.DOWN:
            y[i] -= y[i - 1]
            if y[i] < 0:
                mode = Mode.STILL
        elif y[i] > 0:
            mode = Mode.UP
    return y


def asked_after_the_loop(x: Any, n: int) -> Any:
    last = "none"
    for v in x:
        if v > 1:
            last = "high"
        elif v < -0.5:
            last = "low"
    if last in ("high", "none"):
        return x.sum()
    return -2 * x.sum()


def until_it_is_done(x: Any, n: int) -> Any:
    state, k, total = "start", 0, 0.0
    while state != "done":
        if state == "start":
            state = "walk"
        elif x[k] > 1.2 or k >= len(x) - 1:
            state = "done"
        else:
            total += x[k] * k
            k += 1
    return total


class Machine:
    def __init__(self) -> None:
        self.state = "idle"
        self.total = 0.0

    def feed(self, v: Any) -> None:
        if self.state == "idle" and v > 0.5:
            self.state = "hot"
        elif self.state == "hot":
            self.total += v * v
            if v < 0.3:
                self.state = "idle"


def attribute_of_an_object(x: Any, n: int) -> Any:
    machine = Machine()
    for v in x:
        machine.feed(v)
    return machine.total * (2.0 if machine.state == "hot" else 1.0)


def item_of_a_dict(x: Any, n: int) -> Any:
    held = {"mode": "a", "total": 0.0}
    for v in x:
        if held["mode"] == "a" and v > 0.5:
            held["mode"] = "b"
        elif held["mode"] == "b":
            held["total"] += v
            held["mode"] = "a"
    return held["total"]


def nested_loops(x: Any, n: int) -> Any:
    total, mode = 0.0, "a"
    for i in range(3):
        for v in x[3 * i : 3 * i + 3]:
            if mode == "a" and v > 0.6:
                mode = "b"
            elif mode == "b" and v < 1.3:
                mode = "c"
            elif mode == "c":
                mode = "a"
            total += v * (1 if mode == "a" else 2 if mode == "b" else 3)
        if mode == "c":
            total *= 1.5
    return total


def as_many_steps_as_told(x: Any, n: int) -> Any:
    mode, total = "add", 0.0
    for i in range(n):
        if mode == "add":
            total += x[i]
            mode = "subtract"
        else:
            total -= 2 * x[i]
            mode = "add"
    return total


def matched(x: Any, n: int) -> Any:
    way, a, b = "north", 0.0, 0.0
    for v in x:
        match way:
            case "north":
                a += v
                if v > 1:
                    way = "east"
            case "east" | "west":
                b += v * v
                way = "south" if v > 1.5 else "west"
            case _:
                a -= v
    return a, b


def none_or_a_word(x: Any, n: int) -> Any:
    state, total = None, 0.0
    for v in x:
        if state is None and v > 0.5:
            state = "up"
        elif state == "up" and v < 1.4:
            state = "down"
        elif state == "down":
            total += v
    return total


def looked_up(x: Any, n: int) -> Any:
    way, a, gain = "N", 0.0, {"N": 1.0, "E": 2.5, "S": -1.0, "W": 0.5}
    for v in x:
        a += gain[way] * v
        if v > 0.5:
            way = {"N": "E", "E": "S", "S": "W", "W": "N"}[way]
    return a * gain[way]


class Step(NamedTuple):
    way: str
    size: float


@dataclass(frozen=True)
class Order:
    kind: str
    amount: Any


def in_a_tuple(x: Any, n: int) -> Any:
    state = ("a", 1.0)
    for v in x:
        if state[0] == "a":
            state = ("b", v) if v > 1 else ("a", state[1] + 1)
        else:
            state = ("a", state[1] * 2)
    return state[1] * (2.0 if state[0] == "a" else 1.0)


def in_a_named_tuple(x: Any, n: int) -> Any:
    step = Step("up", 1.0)
    for v in x:
        if v > 1:
            step = step._replace(way="down", size=v)
        elif step.way == "down":
            step = Step("up", step.size * 0.5)
    return x * step.size * (2.0 if step.way == "up" else 1.0)


def in_a_frozen_object(x: Any, n: int) -> Any:
    order, total = Order("buy", x[0]), 0.0
    for v in x[1:]:
        total += order.amount if order.kind == "buy" else -order.amount
        order = Order("sell", v) if v > 0.7 else Order("buy", 2 * v)
    return total


def _picked(v: Any) -> Any:
    if v > 0.5:
        return "high", v
    return "low", v * v


def returned_by_a_function(x: Any, n: int) -> Any:
    total = 0.0
    for v in x:
        name, size = _picked(v)
        total += size if name == "high" else -2 * size
    return total, {"high": 1.0, "low": 2.0}[_picked(x[0])[0]]


def a_tuple_is_no_word(x: Any, n: int) -> Any:
    pair = ("a", 1.0) if x[0] > 0 else ("b", 1.0)
    return x * (2.0 if pair == "a" else 3.0) + (1.0 if pair[0] == "a" else 4.0)


def functions_by_word(x: Any, n: int) -> Any:
    functions, word, total = {"a": np.sin, "b": np.cos, "c": lambda v: v * v}, "a", 0.0
    for v in x:
        total += functions[word](v)
        word = "b" if v > 1 else "c" if v < 0 else "a"
    return total


def one_of_two_functions(x: Any, n: int) -> Any:
    activation = np.tanh if x[0] > 0 else np.exp
    return activation(x).sum() + activation(x[1])


def methods_of_words(x: Any, n: int) -> Any:
    word = "left" if x[0] > 0.5 else "light"
    return x * (2.0 if word.startswith("le") else 1.0) * {"left": 3.0}.get(word, 0.5)


def joined_words(x: Any, n: int) -> Any:
    word, total = "a", 0.0
    for v in x:
        word = word[0] + ("!" if v > 0.5 else "?")
        total += v if word == "a!" else -2 * v
    return total


class Rising:
    def __init__(self, slope: Any) -> None:
        self.slope = slope

    def at(self, v: Any) -> Any:
        return self.slope * v


class Flat:
    def at(self, v: Any) -> Any:
        return 0.25


def one_of_two_objects(x: Any, n: int) -> Any:
    rising, flat = Rising(x[0]), Flat()
    law = rising if x[1] > 0.5 else flat
    return law.at(x[2]) + sum([law.at(v) for v in x[3:]])


def one_of_two_objects_in_steps(x: Any, n: int) -> Any:
    laws, total = (Rising(x[0]), Flat()), 0.0
    for v in x:
        law = laws[0] if v > 0.5 else laws[1]
        total += law.at(v)
    return total


def given_to_pythons_functions(x: Any, n: int) -> Any:
    word, name = ("a", "sin") if x[0] > 0.5 else ("bb", "cos")
    total = x * len(word) * (2.0 if word in "alpha" else 3.0) * (1.0 if "b" in word else 4.0)
    return total + getattr(np, name)(x) + "abb".index(word)


def counted_by_word(x: Any, n: int) -> Any:
    sums, counts = {"up": 0.0, "down": 0.0}, Counter()
    for v in x:
        sums["up" if v > 0.5 else "down"] += v
        counts["up" if v > 0.5 else "down"] += 1
    return sums["up"] * counts["up"] - sums["down"] * counts["down"]


def words_in_a_list(x: Any, n: int) -> Any:
    log, total = [], 0.0
    for v in x:
        size = v * v
        log.append(("up" if v > 0.5 else "down", size))
    for word, v in log:
        total += v if word == "up" else -2 * v
    return total


def counted_in_a_branch(x: Any, n: int) -> Any:
    state, i, total = "a", 0, 0.0
    while i < 9:
        total += x[i] if state == "a" else -x[i]
        if x[i] > 0.2:
            state = "b"
        else:
            i += 1
        i += 1
    return total + (1.0 if state == "a" else 0.5)


SIGNS = ("less", "none", "more")


def words_at_places(x: Any, n: int) -> Any:
    total = 0.0
    for v in x:
        word = SIGNS[int(np.sign(v)) + 1]
        if word == "more":
            total += 2 * v * v
        elif word == "less":
            total -= v
    return total + {"less": x[0], "none": 0.0, "more": x[1] * x[2]}[SIGNS[int(np.argmax(x[:3])) - 3]]


def members_at_places(x: Any, n: int) -> Any:
    modes, y = [Mode.UP, Mode.DOWN, Mode.UP], x.copy()
    for i in range(9):
        mode = modes[(n + i) % 3]
        y[i] *= 2.0 if mode is Mode.UP else y[0]
    return y


def which_end(v: Any) -> Any:
    while True:
        if v > 6:
            return "high"
        if v < -6:
            return Mode.DOWN
        v = v * 1.5 + 0.1


def returned_from_an_endless_loop(x: Any, n: int) -> Any:
    return x[0] * 2 if which_end(x[0]) == "high" else x[1] - x[0]


def left_with_a_word(x: Any, n: int) -> Any:
    v, steps = x[2], 0
    while True:
        steps += 1
        if steps > 30:
            end = "never"
            break
        if v > 6:
            end = "high"
            break
        if v < -6:
            end = "low"
            break
        v = v * 1.5
    return v * x[1] if end == "high" else v - x[1] if end in ("low",) else x.sum()


def a_word_and_a_number(x: Any, n: int) -> Any:
    def search(v: Any) -> Any:
        steps = 0
        while True:
            steps += 1
            if steps > 9:
                return "never", 0 * v, steps
            if v > 6:
                return "high", v, steps
            v = v * 1.5

    total = 0.0
    for u in x[:4]:
        word, v, steps = search(u)
        total += v * steps if word == "high" else u
    return total


STATES = (
    words_at_places,
    members_at_places,
    counted_in_a_branch,
    three_states,
    with_a_break,
    members_of_an_enum,
    asked_after_the_loop,
    until_it_is_done,
    attribute_of_an_object,
    item_of_a_dict,
    nested_loops,
    as_many_steps_as_told,
    matched,
    none_or_a_word,
    looked_up,
    in_a_tuple,
    in_a_named_tuple,
    in_a_frozen_object,
    returned_by_a_function,
    a_tuple_is_no_word,
    functions_by_word,
    one_of_two_functions,
    methods_of_words,
    joined_words,
    one_of_two_objects,
    one_of_two_objects_in_steps,
    given_to_pythons_functions,
    counted_by_word,
    words_in_a_list,
    returned_from_an_endless_loop,
    left_with_a_word,
    a_word_and_a_number,
)
