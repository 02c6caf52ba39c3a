# ruff: noqa: C417 (that such loops are loops is what is tested)
"""Small programs whose loops go over what `map`, `filter`, `itertools` and NumPy make; x: f64[9], n: int."""

from __future__ import annotations

import functools
import itertools
from itertools import chain, product
from typing import Any

import numpy as np


def left_in_a_product(x: Any, n: int) -> Any:
    s = 0.0
    for i, j in product(range(9), range(9)):
        if x[i] * x[j] > 2:
            continue
        if x[i] + x[j] > 1.5:
            found = x[i] * i + j
            break
        s += x[i]
    else:
        found = 0.0
    return s + found


def returned_from_a_product(x: Any, n: int) -> Any:
    for i, j in itertools.product(range(n + 4), repeat=2):
        if x[i] + x[j] > 1.5:
            return x[i] * i + j
    return -1.0


def names_after_a_product(x: Any, n: int) -> Any:
    for i, j, k in product(range(5), (-1, 1), range(6)):
        x[i] += 0.1 * x[k] * j
    return x, i, j, k


def written_while_a_product_is_made(x: Any, n: int) -> Any:
    for v, w in product(x, x):
        x[0] += v * w * 0.01
    return x


def places_of_an_array(x: Any, n: int) -> Any:
    y, s = np.outer(x, x), 0.0
    for i, j in np.ndindex(y.shape):
        if i == j:
            y[i, j] = 0
        elif y[i, j] > 1:
            y[i, j] -= x[i]
    for place, v in np.ndenumerate(y):
        s += v * (place[0] - place[1])
    for place in np.ndindex(3, 3):
        y[place] += x[place[0]]
    return y, s


def pairs_of_elements(x: Any, n: int) -> Any:
    best, s = None, 0.0
    for a, b in itertools.combinations(range(9), 2):
        d = abs(x[a] * a - x[b] * b)
        if best is None or d < best:
            best = d
    for a, b in itertools.combinations_with_replacement(x, 2):
        s += a * b
    for a, b in itertools.pairwise(x):
        s = s * 0.9 + (b - a) ** 2
    return best, s


def one_after_the_other(x: Any, n: int) -> Any:
    t = 0.0
    for v in chain(x, range(5), x * 2, [1.0, 2.0]):
        if v > 3:
            break
        t = t * 0.9 + v
    else:
        t = -1.0
    for v in chain.from_iterable(np.outer(x, x)):
        t = t * 0.9 + v
    return t


def those_above_zero(x: Any, n: int) -> Any:
    count = 0
    for v in filter(lambda v: v > 0, x):
        count += 1
        if v > 1:
            last = v
            break
    else:
        last = 0.0
    return count * last + sum(filter(lambda v: v < 0, x))


def made_by_functions(x: Any, n: int) -> Any:
    a, b, s = list(map(lambda v: v * v, x)), tuple(map(np.sin, x)), 0.0
    for v, k in zip(map(lambda t: t * 2, x), range(3, 12), strict=True):
        s += v * k
    for v in itertools.starmap(lambda p, q: p * q, zip(x, x[::-1], strict=True)):
        s = s * 0.9 + v
    return np.array(a) + np.array(b), s + sum(map(lambda v: v + 1, x)), max(map(abs, x))


def folded_from_the_left(x: Any, n: int) -> Any:
    highest = np.array(list(itertools.accumulate(x, max)))
    smooth, t = functools.reduce(lambda a, b: a * 0.3 + b, x, 1.0), 0.0
    for v in itertools.accumulate(x):
        t = t * 0.5 + v
    return highest, smooth, functools.reduce(max, x), t


def every_second_element(x: Any, n: int) -> Any:
    return sum(v * v for v in itertools.islice(x, 1, 8, 2)) + sum(a * b for a, b in product(x, x[:5]))


def best_of_all_pairs(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        for j in range(i + 1, 9):
            d = x[i] + x[j] * j
            if best is None or d < best[0]:
                best = (d, i, j)
    return best


def product_of_another_name(x: Any, n: int) -> Any:
    def pairwise(a: Any, b: Any) -> Any:
        return zip(a, b, strict=True)

    return sum(a * b for a, b in pairwise(x, map(np.sin, x)))


def ranges_of_two_directions(x: Any, n: int) -> Any:
    image = np.outer(x, np.cos(x))
    order, k = np.zeros(image.size), 0
    for i in range(9):
        columns = range(9) if i % 2 == 0 else range(8, -1, -1)
        ahead = 1 if i % 2 == 0 else -1
        for j in columns:
            order[k] = image[i, j]
            k += 1
            if 0 <= j + ahead < 9:
                image[i, j + ahead] += image[i, j] * 0.5
    return image, order


def one_of_two_ranges(x: Any, n: int) -> Any:
    s = 0.0
    for i in range(1, 7) if x[0] > 0 else range(8, 2, -2):
        s = s * 0.5 + x[i] * i
    backwards = range(n)[::-1] if x[1] > 0 else range(n)
    for i in backwards:
        s = s * 0.7 + x[i]
    if x[2] > 0:
        steps = range(n)
    elif x[3] > 0:
        steps = range(2, n + 3)
    else:
        steps = range(4, 4)
    for i in steps:
        s = s * 0.9 + x[i]
    return s


ITERATORS = (
    ranges_of_two_directions, one_of_two_ranges,
    left_in_a_product, returned_from_a_product, names_after_a_product, written_while_a_product_is_made,
    places_of_an_array, pairs_of_elements, one_after_the_other, those_above_zero, made_by_functions,
    folded_from_the_left, every_second_element, best_of_all_pairs,
)  # fmt: skip
