"""Programs that do with numbers of run time what only Python does, each with what it is given: golden texts."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import Any

import numpy as np

import pliant

X = np.arange(3.0)


def json_of_a_number(x: Any) -> Any:
    return json.dumps({"x": x[0]})


def number_that_is_indexed(x: Any) -> Any:
    return len(x) * x.sum().item()[0]


def number_that_is_called(x: Any) -> Any:
    return x.sum().item()(2)


def best_so_far_with_another_key(x: Any) -> Any:
    best = {"x": x[0], "f": x[0] ** 2}
    for i in range(1, 3):
        if x[i] ** 2 < best["f"]:
            best = {"x": x[i], "f": x[i] ** 2, "i": i}
    return best["x"]


def numbers_that_are_counted(x: Any) -> Any:
    return Counter(x.astype(int)).most_common(1)


def power_by_a_modulus(x: Any) -> Any:
    return pow(int(x[1]), 3, 7)


def most_frequent_of_integers(x: Any) -> Any:
    return np.bincount(x.astype(int)).argmax()


def sum_of_arrays_that_a_condition_keeps(x: Any) -> Any:
    return sum([row * 2 for row in np.outer(x, x) if row[0] > 1])


PYTHONS = {
    f.__name__: (pliant.jit(f), (X,))
    for f in (
        json_of_a_number, number_that_is_indexed, number_that_is_called, best_so_far_with_another_key,
        sum_of_arrays_that_a_condition_keeps, numbers_that_are_counted, power_by_a_modulus, most_frequent_of_integers,
    )
}  # fmt: skip
PYTHONS["pullback_that_is_pickled"] = (lambda x: pickle.dumps(pliant.vjp(np.sin, x)[1]), (X,))
