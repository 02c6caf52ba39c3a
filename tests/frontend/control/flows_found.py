"""Small programs that change what a function has found, or None; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


class Box:
    def __init__(self, value: Any) -> None:
        self.value = value


class Doubled:
    def __init__(self, value: Any) -> None:
        self.held = value

    @property
    def value(self) -> Any:
        return self.held

    @value.setter
    def value(self, value: Any) -> None:
        self.held = value * 2 if value > 0 else value


def given_or_new(values: Any) -> Any:
    for v in values:
        if v > 1.0:
            return values
    else:  # noqa: PLW0120
        return [0.0, 0.0]


def one_of_them(lists: Any) -> Any:
    for values in lists:
        if values[0] > 0.5:
            return values
    else:  # noqa: PLW0120
        return lists[0]


def box_or_new(box: Any) -> Any:
    for v in (box.value, 0.5):
        if v > 0.6:
            return box
    else:  # noqa: PLW0120
        return Box(0.0)


def given_or_none(values: Any) -> Any:
    for v in values:
        if v > 1.0:
            return values
    return None


def box_or_none(box: Any) -> Any:
    for v in (box.value, 0.5):
        if v > 0.6:
            return box
    return None


def list_or_new(x: Any, n: int) -> Any:
    p = [x[0], x[1]]
    given_or_new(p)[0] = -5.0 * x[2]
    return p[0] * x[3], p[1]


def one_of_several_or_the_first(x: Any, n: int) -> Any:
    p, q = [x[0], x[1]], [x[2], x[3]]
    one_of_them([p, q])[1] = 7.0 * x[4]
    return p, q


def box_or_another(x: Any, n: int) -> Any:
    box = Box(x[0])
    box_or_new(box).value = x[1] * 9.0
    return box.value


def item_of_a_list_or_none(x: Any, n: int) -> Any:
    p = [x[0], x[1]]
    given_or_none(p)[0] = -5.0 * x[2]
    return p


def item_of_a_list_or_none_updated(x: Any, n: int) -> Any:
    p = [x[0], x[1]]
    for k in range(n):
        given_or_none(p)[0] += x[k] * x[k]
    return p


def item_of_a_dict_or_none(x: Any, n: int) -> Any:
    p = {"a": x[0], "b": x[1]}

    def found() -> Any:
        for v in p.values():
            if v > 0.5:
                return p
        return None

    found()["b"] *= x[2]
    return p["a"], p["b"]


def item_deleted(x: Any, n: int) -> Any:
    p = [x[0], x[1]]
    del given_or_none(p)[0]
    return p


def list_or_none_extended(x: Any, n: int) -> Any:
    p = [x[0], x[1]]
    found = given_or_none(p)
    found += [x[2]]
    return np.array(p)


def attribute_or_none(x: Any, n: int) -> Any:
    box = Box(x[0])
    box_or_none(box).value = x[1] * 9.0
    return box.value


def attribute_or_none_updated(x: Any, n: int) -> Any:
    box = Box(x[0])
    for k in range(n):
        box_or_none(box).value += x[k] * x[k]
    return box.value


def attribute_set_by_its_name(x: Any, n: int) -> Any:
    box = Box(x[0])
    setattr(box_or_none(box), "value", x[1])  # noqa: B010
    return box.value


def attribute_deleted(x: Any, n: int) -> Any:
    box = Box(x[0])
    del box_or_none(box).value
    return x[0] if hasattr(box, "value") else x[1]


def property_or_none(x: Any, n: int) -> Any:
    box = Doubled(x[0])
    box_or_none(box).value = x[1]
    return box.value


OR_NONE = (
    item_of_a_list_or_none, item_of_a_list_or_none_updated, item_of_a_dict_or_none, item_deleted,
    list_or_none_extended, attribute_or_none, attribute_or_none_updated, attribute_set_by_its_name,
    attribute_deleted, property_or_none,
)  # fmt: skip
OR_ELSE = (list_or_new, one_of_several_or_the_first, box_or_another)
