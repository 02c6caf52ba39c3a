"""Small programs in which something is None until a condition that is known only at run time holds; x: f64[9]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# ruff: noqa: E711, RET503
# pyright: basic, reportOptionalMemberAccess=false, reportOptionalOperand=false, reportOptionalIterable=false
# pyright: reportArgumentType=false, reportCallIssue=false, reportOptionalSubscript=false, reportOperatorIssue=false, reportGeneralTypeIssues=false


@dataclass
class Pair:
    a: Any
    b: Any


class Held:
    best: Any


def tuple_found(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        if x[i] > 1:
            best = (i, x[i])
    if best is None:
        return 0.0, 0.0
    return best[0] * 1.0, best[1]


def array_found(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        if x[i] > 1:
            best = x * i
    if best is not None:
        return best.sum()
    return -1.0


def greatest_found(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        if x[i] > 1 and (best is None or x[i] > best):
            best = x[i]
    return 0.0 if best is None else best * 2


def object_found(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        if x[i] > 1:
            best = Pair(x[i], x * i)
    if best is None:
        return 0.0
    return best.a + best.b.sum()


def best_and_its_value(x: Any, n: int) -> Any:
    best = None
    best_val = -np.inf
    for i in range(9):
        v = np.sin(x[i] * 3)
        if v > best_val:
            best_val = v
            best = x * v
    return best.sum() + best_val


def best_of_some(x: Any, n: int) -> Any:
    best = None
    for i in range(9):
        if x[i] < 0.5:
            continue
        v = np.sin(x[i] * 3)
        if best is None or v > best[0]:
            best = (v, i)
    if best is None:
        return 0.0
    v, i = best
    return v + x[i]


def one_before(x: Any, n: int) -> Any:
    prev = None
    s = 0.0
    for v in x:
        if v > 0:
            if prev is not None:
                s += v * prev
            prev = v
    return s


def array_before(x: Any, n: int) -> Any:
    prev = None
    h = x.copy()
    for _ in range(100):
        if prev is not None and np.abs(h - prev).max() < 1e-8:
            break
        prev = h
        h = np.cos(h)
    return h


def pair_from_a_function(x: Any, n: int) -> Any:
    def find(x):
        for i in range(8):
            if x[i] * x[i + 1] < 0:
                return x[i], x[i + 1]
        return None

    r = find(x)
    if r is None:
        return 0.0
    a, b = r
    return a * b


def end_of_a_function(x: Any, n: int) -> Any:
    def find(x):
        if x[0] > 0:
            return x[0]

    r = find(x)
    return r if r is not None else 1.0


def asked_for_its_truth(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = (v, 2)
    if r:
        return r[0]
    return 0.0


def else_another(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = v
    s = r if r is not None else x[0]
    return s * 2


def searched_by_while(x: Any, n: int) -> Any:
    r = None
    i = 0
    while i < 9 and r is None:
        if x[i] > 1:
            r = x[i] * x
        i += 1
    return 0.0 if r is None else r.sum()


def first_and_last(x: Any, n: int) -> Any:
    lo, hi = None, None
    for i in range(9):
        if x[i] > 0 and lo is None:
            lo = i
        if x[i] > 0:
            hi = i
    if lo is None:
        return 0.0
    return x[lo] + x[hi] * (hi - lo)


def compared_to_none(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = v
    if r == None:
        return 0.0
    return r


def returned(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = v
    return 0.0 if r is None else r


def item_of_a_dict(x: Any, n: int) -> Any:
    d = {"a": None}
    for v in x:
        if v > 1:
            d["a"] = v * 2
    return 0.0 if d["a"] is None else d["a"]


def attribute(x: Any, n: int) -> Any:
    s = Held()
    s.best = None
    for v in x:
        if v > 1:
            s.best = v * x
    return 0.0 if s.best is None else s.best.sum()


def items_of_a_list(x: Any, n: int) -> Any:
    d = [None] * 9
    for i in range(9):
        if x[i] > 1:
            d[i] = x[i]
    s = 0.0
    for v in d:
        if v is not None:
            s += v
    return s


def runs(x: Any, n: int) -> Any:
    start = None
    total = 0.0
    for i in range(9):
        if x[i] > 0:
            if start is None:
                start = i
        elif start is not None:
            total += x[start:i].sum() if False else (i - start) * x[start]
            start = None
    if start is not None:
        total += (9 - start) * x[start]
    return total


def part_of_a_tuple(x: Any, n: int) -> Any:
    best = (None, -np.inf)
    for i in range(9):
        v = np.sin(x[i] * 3)
        if v > best[1] and x[i] > 0:
            best = (x * v, v)
    if best[0] is None:
        return 0.0
    return best[0].sum() + best[1]


def index_by_tuple(x: Any, n: int) -> Any:
    a = x.reshape(3, 3)
    best = None
    for i in range(3):
        for j in range(3):
            if a[i, j] > 0 and (best is None or a[i, j] > a[best]):
                best = (i, j)
    return 0.0 if best is None else a[best] * 2


def index_by_tuple_unguarded(x: Any, n: int) -> Any:
    a = x.reshape(3, 3)
    best = None
    m = -np.inf
    for i in range(3):
        for j in range(3):
            if a[i, j] > m:
                best = (i, j)
                m = a[i, j]
    return a[best] * 2


def operand(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = x[i]
    return x[0] + k


def methods_owner(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = x * i
    return k.sum()


def taken_apart(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = (i, x[i])
    a, b = k  # pyright: ignore[reportGeneralTypeIssues]
    return a * b


def argument_of_numpy(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = x * i
    return np.sum(k) + np.dot(k, x) + np.concatenate([k, x]).sum()


def asked_for_its_class(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = x * i
    return k.sum() if isinstance(k, np.ndarray) else 0.0


def error_if_nothing_was_found(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = x * i
    if k is None:
        raise ValueError("none found")
    return k.sum()


def dict_found(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = {"a": x[i], "i": i}
    if k is None:
        return 0.0
    return k["a"] * k["i"]


def carried_array(x: Any, n: int) -> Any:
    h = x * 2
    best = None
    m = np.inf
    for i in range(9):
        h = np.cos(h + i)
        if h.sum() < m:
            m = h.sum()
            best = h
    return best


def argument_or_its_default(x: Any, n: int) -> Any:
    def f(x, w=None):
        if w is None:
            w = np.ones(9)
        return (x * w).sum()

    w = None
    if x[0] > 0:
        w = x * 2
    return f(x, w)


def falsy_or_none(x: Any, n: int) -> Any:
    w = None
    if x[0] > 0:
        w = x[0]
    w = w or 3.0
    return w * x


def search_inside_a_loop(x: Any, n: int) -> Any:
    def find(i):
        for j in range(i, 9):
            if x[j] > 0.5:
                return j
        return None

    t = 0.0
    for i in range(9):
        j = find(i)
        if j is not None:
            t += x[j] * i
    return t


def attributes_of_a_method(x: Any, n: int) -> Any:
    class T:
        def __init__(self):
            self.best = None
            self.val = None

        def update(self, v, w):
            if self.val is None or v > self.val:
                self.val = v
                self.best = w

    t = T()
    for i in range(9):
        if x[i] > 0:
            t.update(np.sin(x[i]), x * i)
    return 0.0 if t.best is None else t.best.sum() + t.val


def to_none(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = v
        elif v < 0:
            r = None
    return -1.0 if r is None else r


def some_to_none(x: Any, n: int) -> Any:
    r = x[0]
    for v in x:
        if v > 1:
            r = None
    return -1.0 if r is None else r


def int_or_float_or_none(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = v
        elif v > 0:
            r = 1
    return -1.0 if r is None else r * 2


def text_or_none(x: Any, n: int) -> Any:
    s = None
    for v in x:
        if v > 1:
            s = "big"
        elif v > 0 and s is None:
            s = "small"
    return 2.0 if s == "big" else 1.0 if s == "small" else 0.0


def array_of_unknown_length(x: Any, n: int) -> Any:
    r = None
    if x[0] > 0:
        r = x[x > 1]
    return 0.0 if r is None else r.sum()


def matched(x: Any, n: int) -> Any:
    r = None
    for v in x:
        if v > 1:
            r = (v, 2)
    match r:
        case None:
            return 0.0
        case (a, b):
            return a * b


def walrus(x: Any, n: int) -> Any:
    def f(v):
        return v * 2 if v > 0 else None

    t = 0.0
    for v in x:
        if (w := f(v)) is not None:
            t += w
    return t


def comprehension(x: Any, n: int) -> Any:
    def f(v):
        return v * 2 if v > 0 else None

    return sum(w for w in [f(v) for v in x] if w is not None)


def none_beside_a_number(x: Any, n: int) -> Any:
    def f():
        if x[0] > 0:
            return None, 1.0
        return x * 2, 2.0

    a, b = f()
    if a is None:
        return b
    return a.sum() * b


def object_changed(x: Any, n: int) -> Any:
    @dataclass
    class P:
        a: object

    p = None
    if x[0] > 0:
        p = P(x[0])
    if p is not None:
        p.a = p.a * 2
    return 0.0 if p is None else p.a


def differs_from_a_number(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = i
    t = 0.0
    for i in range(9):
        if i != k:
            t += x[i]
    return t


def bounds_of_slices(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = i
            break
    return x[k::-1].sum() + x[:k:-1].sum() + x[k:].sum()


def asked_for_two_classes(x: Any, n: int) -> Any:
    k = None
    for i in range(9):
        if x[i] > 1:
            k = x[i]
    return 1.0 if isinstance(k, (tuple, type(None))) else 2.0


def places_that_begin_as_none(x: Any, n: int) -> Any:
    used, sums, at = [False] * n, [0.0] * n, 0
    while True:
        used[at] = True
        following = None
        for k in range(n):
            if not used[k]:
                following = k
                sums[k] += x[at] * x[k]
        if following is None or x[following] > 2:
            break
        at = following
        sums[following] -= x[at]
    return np.array(sums), used


NONES = (
    tuple_found,
    array_found,
    greatest_found,
    object_found,
    best_and_its_value,
    best_of_some,
    one_before,
    array_before,
    pair_from_a_function,
    end_of_a_function,
    asked_for_its_truth,
    else_another,
    searched_by_while,
    first_and_last,
    compared_to_none,
    returned,
    item_of_a_dict,
    attribute,
    items_of_a_list,
    runs,
    part_of_a_tuple,
    index_by_tuple,
    index_by_tuple_unguarded,
    operand,
    methods_owner,
    taken_apart,
    argument_of_numpy,
    asked_for_its_class,
    error_if_nothing_was_found,
    dict_found,
    carried_array,
    argument_or_its_default,
    falsy_or_none,
    search_inside_a_loop,
    attributes_of_a_method,
    to_none,
    some_to_none,
    int_or_float_or_none,
    text_or_none,
    array_of_unknown_length,
    matched,
    walrus,
    comprehension,
    none_beside_a_number,
    object_changed,
    differs_from_a_number,
    bounds_of_slices,
    asked_for_two_classes,
    places_that_begin_as_none,
)
