"""Small programs that read what may be None where it is known which it is, and go on with it; x: f64[9]."""

from __future__ import annotations

from typing import Any

# ruff: noqa: RET505, RET507, RUF034, SIM114 (those ways on are what is tested)
# pyright: basic, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false


def of(best: Any) -> Any:
    return 9.0 if best is None else best


def kept(best: Any) -> Any:
    if best is None:
        return best
    return best


def passed_on(x: Any, n: int) -> Any:
    best = x[0] if x[0] > 0 else None
    y = 0.0
    if best is None:
        y = of(best)
    return y if best is None else best


def passed_on_in_expressions(x: Any, n: int) -> Any:
    best = x[1] if x[1] > 0 else None
    y = best * 2 if best is not None else of(best)
    k = 1 if best is None and of(best) > 0 else 2
    row = [best if best is None else best for _ in range(2)]
    return y * k + (0.0 if best is None else best) + (0.0 if row[1] is None else row[1])


def returned_as_it_is(x: Any, n: int) -> Any:
    best = kept(x[1] if x[1] > 0 else None)
    return 9.0 if kept(best) is None else best


def kept_from_step_to_step(x: Any, n: int) -> Any:
    best, count = None, 0
    for v in x:
        if v > 1:
            best = v
        best = best if best is None else best
        same = kept(best)
        if same is not None:
            count += 1
    return count, 0.0 if best is None else best


def either_of_two(x: Any, n: int) -> Any:
    one, two, y = (x[0] if x[0] > 0 else None), (x[4] if x[4] > 0.5 else None), 0.0
    while y < 3:
        y += 1.0
        if one is None and two is None:
            y += of(one) + of(two)
        elif one is None:
            y += of(one) - two
        elif two is None:
            y += of(two) + one
            one = None
    return y, of(one), of(two)


def bound_to_none(x: Any, n: int) -> Any:
    best, y = (x[0] if x[0] > 0 else None), 0.0
    if best is not None:
        y, best = best, None
        if x[1] > 0:
            y += of(best)
    else:
        y = of(best) * 3
    return y, of(best)


def bound_to_none_in_an_expression(x: Any, n: int) -> Any:
    best = x[0] if x[0] > 0 else None
    y = of(best) if best is None else (best := None, 5.0)[1]
    return y, of(best)


def bound_to_none_by_a_function(x: Any, n: int) -> Any:
    best, y = (x[0] if x[0] > 0 else None), 0.0

    def drop() -> None:
        nonlocal best
        best = None

    if best is not None:
        if x[1] > 0:
            drop()
    else:
        y = of(best)
    return y, of(best)


def bound_by_a_function(x: Any, n: int) -> Any:
    best = x[0] if x[0] > 0 else None

    def put(v: Any) -> None:
        nonlocal best
        best = v

    if best is None:
        y = of(best)
        put(x[1] * 3)
    else:
        y = best * 2
        put(x[1] if x[1] > 0 else None)
    return y, of(best)


def bound_by_a_function_in_steps(x: Any, n: int) -> Any:
    best, y = (x[0] if x[0] > 0 else None), 0.0

    def put(v: Any) -> None:
        nonlocal best
        best = v

    for v in x:
        if best is not None and v > 0.5:
            y += best
            put(None)
        elif v < -0.5:
            y += of(best)
            put(v * 2 if best is None else best)
    return y, of(best)


def square_inside(v: Any) -> Any:
    if v < -0.5:
        return None
    elif v > 1:
        return None
    y = v * v
    return y + 1


def square_and_sign(v: Any) -> Any:
    if v < -0.5:
        return None, None
    elif v > 1:
        return None, 1.0
    elif v > 0.5:
        y = v * v
    else:
        y, z = v, 2.0
        y *= z
    w = y + 1
    return w * y, -1.0


def after_ways_to_return_none(x: Any, n: int) -> Any:
    y = square_inside(x[0])
    y = 0.5 if y is None else y
    z = square_inside(x[4])
    if z is None:
        return y
    elif z > 1.2:
        return z
    w = y * z
    return w + y


def after_ways_to_return_none_in_steps(x: Any, n: int) -> Any:
    s, signs = 0.0, 0
    for v in x:
        y = square_inside(v)
        if y is None:
            continue
        elif y > 1.5:
            s += 0.5
            continue
        z = y * s
        s += z
        a, b = square_and_sign(v)
        if a is None or b is None:
            continue
        c = a * b
        s, signs = s + c, signs + 1
    return s, signs


NARROWED = (
    after_ways_to_return_none,
    after_ways_to_return_none_in_steps,
    passed_on,
    passed_on_in_expressions,
    returned_as_it_is,
    kept_from_step_to_step,
    either_of_two,
    bound_to_none,
    bound_to_none_in_an_expression,
    bound_to_none_by_a_function,
    bound_by_a_function,
    bound_by_a_function_in_steps,
)
