"""Small programs in which words say what is done next, by conditions known only at run time; x: f64[9]."""

from __future__ import annotations

from enum import Enum
from typing import Any


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


STATES = (
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
)
