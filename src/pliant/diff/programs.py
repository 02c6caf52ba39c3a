"""Every operator in terms of a system's two primitives.

A program takes (xs, seeds, constants), all tuples of arrays, and returns (ys, aux, parts):
leaves of f's value, of its auxiliary result, and one tuple per derivative. It runs once per call,
or once per signature if the system traces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pliant.diff.functional import Functional
from pliant.diff.system import Arrays, Flat, Pushed, System, dtype_name, shape, size, units
from pliant.errors import DifferentiationError, DTypeError, ShapeError, UnsupportedError

Program = Callable[[Arrays, Any, Arrays], tuple[Arrays, Arrays, tuple[Any, ...]]]


def is_complex(x: Any) -> bool:
    """Whether an array has a complex dtype."""
    return "complex" in dtype_name(x)


def refuse_complex(seeds: Sequence[Any], likes: Sequence[Any], name: str, whose: str) -> None:
    """DTypeError if one of the seeds is complex that belongs to something real."""
    for seed, like in zip(seeds, likes, strict=True):
        if is_complex(seed) and not is_complex(like):
            raise DTypeError(
                f"{name} is {_form(seed)}, expected {_form(like)}, like {whose}", hint="take its real part"
            )


def refuse_shapes(seeds: Sequence[Any], likes: Sequence[Any], name: str, whose: str) -> None:
    """ShapeError unless each of the seeds has the shape of what it belongs to."""
    if [shape(seed) for seed in seeds] != [shape(like) for like in likes]:
        shapes = [", ".join(str(list(shape(a))) for a in arrays) for arrays in (seeds, likes)]
        raise ShapeError(f"{name} has shape {shapes[0]}, {whose} {shapes[1]}")


def columns(system: System, fn: Flat, xs: Arrays, scale: complex = 1) -> tuple[Arrays, Arrays, list[Arrays]]:
    """ys, aux, and per leaf of xs the derivatives [size of x, *y] of all ys along its unit vectors."""
    made: list[Arrays] = []
    ys, aux = (), ()
    found = False
    for i, x in enumerate(xs):
        if size(x):
            ys, aux, dys = system.columns(fn, xs, i, scale)
            found = True
        else:
            ys, aux = (ys, aux) if found else fn(xs)
            dys = tuple([system.zeros((0, *shape(y)), y) for y in ys])
        made.append(dys)
    return ys, aux, made


def rows(system: System, fn: Flat, xs: Arrays) -> tuple[Arrays, Arrays, list[list[Arrays]]]:
    """ys, aux, and per leaf of ys the parts [size of y, *x] of its derivatives, as of `pulled`."""
    ys, aux = fn(xs)
    made: list[list[Arrays]] = []
    for j, y in enumerate(ys):
        if not size(y) or not any(size(x) for x in xs):
            made.append([tuple([system.zeros((size(y), *shape(x)), x) for x in xs])])
            continue
        ys, aux, parts = pulled(system, fn, xs, _unit_seeds(system, j), j)
        made.append(parts)
    return ys, aux, made


def _unit_seeds(system: System, j: int) -> Callable[[Arrays], Arrays]:
    return lambda ys: units(system, ys, j)


def pulled(
    system: System, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], j: int
) -> tuple[Arrays, Arrays, list[Arrays]]:
    """ys, aux, and what real cotangents of leaf j of ys, stacked, pull back; if it is complex, what i times them pull
    back, too: Re⟨ct, dy⟩ sees its imaginary part by these."""
    ys, aux, cts = system.pullback(fn, xs, seed, True)
    if not is_complex(ys[j]):
        return ys, aux, [cts]

    def times_i(ys: Arrays) -> Arrays:
        return tuple([ct * 1j if n == j else ct for n, ct in enumerate(seed(ys))])

    return ys, aux, [cts, system.pullback(fn, xs, times_i, True)[-1]]


def joined(parts: list[Any]) -> Any:
    """What was found of the real part of y and, if it is complex, of the imaginary one."""
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


def push(system: System, fn: Flat, xs: Arrays, dxs: Arrays) -> Pushed:
    """One directional derivative."""
    if system.abilities.forward:
        return system.pushforward(fn, xs, dxs, False)
    ys, aux, table = rows(system, fn, xs)
    tangents = [
        joined([sum(_along(system, block, dx, y) for block, dx in zip(part, dxs, strict=True)) for part in parts])
        for y, parts in zip(ys, table, strict=True)
    ]
    return ys, aux, tuple(tangents)


def _along(system: System, block: Any, dx: Any, y: Any) -> Any:
    """Re⟨ct, dx⟩ for each of the cotangents [size of y, *x] in a block."""
    xp = system.namespace
    terms = xp.reshape(_conj(system, block), (size(y), size(dx))) * xp.reshape(dx, (1, size(dx)))
    return xp.reshape(xp.sum(_real(system, terms), 1), shape(y))


def pull(system: System, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays]) -> Pushed:
    """One cotangent, pulled back."""
    if system.abilities.reverse:
        return system.pullback(fn, xs, seed, False)
    ys, aux, table = columns(system, fn, xs)
    cts = seed(ys)
    gradients = [_against(system, cts, dys, x) for dys, x in zip(table, xs, strict=True)]
    if any(is_complex(x) for x in xs):  # ∂/∂Re z + i·∂/∂Im z
        _, _, table = columns(system, fn, xs, 1j)
        imaginary = [_against(system, cts, dys, x) for dys, x in zip(table, xs, strict=True)]
        gradients = [a + 1j * b if is_complex(x) else a for a, b, x in zip(gradients, imaginary, xs, strict=True)]
    return ys, aux, tuple(gradients)


def _against(system: System, cts: Arrays, dys: Arrays, x: Any) -> Any:
    """Re⟨ct, dy⟩ for each of the stacked tangents dys, in the shape of x."""
    xp, total = system.namespace, system.zeros((size(x),), x)
    for ct, dy in zip(cts, dys, strict=True):
        terms = xp.reshape(dy, (size(x), size(ct))) * xp.reshape(_conj(system, ct), (1, size(ct)))
        total = total + xp.sum(_real(system, terms), 1)
    return xp.reshape(total, shape(x))


def _conj(system: System, x: Any) -> Any:
    return system.namespace.conj(x) if is_complex(x) else x


def _real(system: System, x: Any) -> Any:
    return system.namespace.real(x) if is_complex(x) else x


def _one(system: System) -> Callable[[Arrays], Arrays]:
    """The seed of a gradient; raises unless y is one real number."""

    def seed(ys: Arrays) -> Arrays:
        if len(ys) != 1 or shape(ys[0]) != () or is_complex(ys[0]):
            given = " and ".join(map(_form, ys))
            raise DifferentiationError(
                f"expected a function that returns one real number, this one returns {given}",
                hint="reduce it, for example with .sum(); or use jacobian or pullback",
            )
        return (system.zeros((), ys[0]) + 1,)

    return seed


def _ones(system: System, xs: Arrays) -> Arrays:
    if len(xs) != 1 or shape(xs[0]) != ():
        raise DifferentiationError(
            f"derivative: expected x to be one number, got {', '.join(str(list(shape(x))) for x in xs)}",
            hint="use jacobian, or pushforward with a tangent",
        )
    return (system.zeros((), xs[0]) + 1,)


def gradient_of(system: System, fn: Flat) -> Flat:
    """The gradient as a flat function: gradients, and (*ys, *aux) on the side."""

    def gradient(xs: Arrays) -> tuple[Arrays, Arrays]:
        ys, aux, gs = pull(system, fn, xs, _one(system))
        return gs, (*ys, *aux)

    return gradient


def derivative_of(system: System, fn: Flat) -> Flat:
    """The derivative in one number as a flat function; (*ys, *aux) on the side."""

    def derivative(xs: Arrays) -> tuple[Arrays, Arrays]:
        ys, aux, dys = push(system, fn, xs, _ones(system, xs))
        return dys, (*ys, *aux)

    return derivative


def pushforward(system: System, functional: Functional) -> Program:
    """parts: one tuple of tangents of ys per seed."""

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn = system.once(functional.bind(constants), xs)
        ys, aux, parts = (), (), list[Arrays]()
        for dxs in seeds:
            ys, aux, dys = push(system, fn, xs, dxs)
            parts.append(dys)
        return ys, aux, tuple(parts)

    return program


def pullback(system: System, functional: Functional) -> Program:
    """parts: one tuple of cotangents of xs per seed."""

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn = system.once(functional.bind(constants), xs)
        ys, aux, parts = (), (), list[Arrays]()
        for cts in seeds:
            ys, aux, gs = pull(system, fn, xs, _given(system, cts))
            parts.append(gs)
        return ys, aux, tuple(parts)

    return program


def _given(system: System, cts: Arrays) -> Callable[[Arrays], Arrays]:
    """The seed of a pullback; raises unless it is like ys."""

    def seed(ys: Arrays) -> Arrays:
        refuse_shapes(cts, ys, "pullback: the cotangent", "the result")
        refuse_complex(cts, ys, "pullback: the cotangent", "the result")
        return tuple([system.cast(ct, y) for ct, y in zip(cts, ys, strict=True)])

    return seed


def derivative(system: System, functional: Functional) -> Program:
    """parts: (derivatives of ys,)."""

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        ys, aux, dys = push(system, functional.bind(constants), xs, _ones(system, xs))
        return ys, aux, (dys,)

    return program


def gradient(system: System, functional: Functional) -> Program:
    """parts: (gradients,)."""

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        ys, aux, gs = pull(system, functional.bind(constants), xs, _one(system))
        return ys, aux, (gs,)

    return program


def jacobian(system: System, functional: Functional) -> Program:
    """parts: (blocks [*y, *x], for each y all x,)."""

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn, able = system.once(functional.bind(constants), xs), system.abilities
        forward = able.forward and system.mode != "reverse"
        if forward and able.reverse and system.mode == "both":
            forward = sum(map(size, xs)) <= sum([size(y) * (1 + is_complex(y)) for y in fn(xs)[0]])
        if forward or not able.reverse:
            ys, aux, table = columns(system, fn, xs)
            blocks = _column_blocks(system, table, ys, xs)
        else:
            ys, aux, table = rows(system, fn, xs)
            blocks = _row_blocks(system, table, ys, xs)
        _refuse_real_parts(xs, ys)
        return ys, aux, (tuple(blocks),)

    return program


def _row_blocks(system: System, table: list[list[Arrays]], ys: Arrays, xs: Arrays) -> list[Any]:
    """Blocks [*y, *x] in the real parts of xs, for each y all x, of what `rows` found."""
    xp = system.namespace
    return [
        xp.reshape(joined([_real(system, part[i]) for part in table[j]]), (*shape(y), *shape(x)))
        for j, y in enumerate(ys)
        for i, x in enumerate(xs)
    ]


def _column_blocks(system: System, table: list[Arrays], ys: Arrays, xs: Arrays) -> list[Any]:
    """The same of what `columns` found."""
    return [_last(system.namespace, table[i][j], xs[i], y) for j, y in enumerate(ys) for i in range(len(xs))]


def _refuse_real_parts(xs: Arrays, ys: Arrays) -> None:
    """DifferentiationError for real results of complex x: no one number is their derivative."""
    x, y = next(filter(is_complex, xs), None), next((y for y in ys if not is_complex(y)), None)
    if x is not None and y is not None:
        raise DifferentiationError(
            f"jacobian: expected a complex result of complex x, got {_form(y)} of {_form(x)}",
            hint="gradient and pullback give ∂/∂Re x + i·∂/∂Im x; or take real and imaginary parts as x",
        )


def _form(x: Any) -> str:
    return f"{dtype_name(x)}{list(shape(x))}"


def _last(xp: Any, block: Any, x: Any, y: Any) -> Any:
    """[size of x, *y] as [*y, *x]."""
    return xp.reshape(xp.swapaxes(xp.reshape(block, (size(x), size(y))), 0, 1), (*shape(y), *shape(x)))


def over(outer: System, inner: System, functional: Functional, of: Callable[[System, Flat], Flat], program: Any) -> Any:
    """bind(constants): the inner derivative as a flat function that `outer` can differentiate."""
    if outer.abilities.over_any and type(outer) is not type(inner):
        compiled = inner.compile_of(functional, program(inner, functional))

        def bound(constants: Arrays) -> Flat:
            def flat(xs: Arrays) -> tuple[Arrays, Arrays]:
                ys, aux, (gs,) = compiled(xs, (), *functional.inputs(xs, constants))
                return tuple(map(inner.numpy, gs)), (*map(inner.numpy, ys), *map(inner.numpy, aux))

            return flat

        return bound

    def composed(constants: Arrays) -> Flat:
        return of(inner, functional.bind(constants))

    return composed


def second_derivative(outer: System, inner: System, functional: Functional) -> Program:
    """parts: (derivatives, second derivatives)."""
    bind = over(outer, inner, functional, derivative_of, derivative)

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        dys, rest, ddys = push(outer, bind(constants), xs, _ones(outer, xs))
        return rest[: len(dys)], rest[len(dys) :], (dys, ddys)

    return program


def hvp(outer: System, inner: System, functional: Functional) -> Program:
    """parts: (gradients, one tuple of products per seed…). The Hessian is symmetric: an outer
    system without a forward mode pulls the tangent back instead."""
    bind = over(outer, inner, functional, gradient_of, gradient)

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn = outer.once(bind(constants), xs)
        gs, rest, parts = (), (), list[Arrays]()
        for dxs in seeds:
            if outer.mode == "reverse" or not outer.abilities.forward:
                gs, rest, products = pull(outer, fn, xs, _given(outer, dxs))
            else:
                gs, rest, products = push(outer, fn, xs, dxs)
            parts.append(products)
        return rest[:1], rest[1:], (gs, *parts)

    return program


def hessian(outer: System, inner: System, functional: Functional) -> Program:
    """parts: (gradients, blocks [*x, *x'], for each x all x')."""
    bind = over(outer, inner, functional, gradient_of, gradient)

    def program(xs: Arrays, seeds: Any, constants: Arrays) -> Any:
        fn = outer.once(bind(constants), xs)
        if outer.mode == "reverse" or not outer.abilities.forward:
            gs, rest, table = rows(outer, fn, xs)
            return rest[:1], rest[1:], (gs, tuple(_row_blocks(outer, table, gs, xs)))
        gs, rest, table = columns(outer, fn, xs)
        if any(map(is_complex, xs)):
            return rest[:1], rest[1:], (gs, tuple(_column_blocks(outer, table, gs, xs)))
        reshape, shapes = outer.namespace.reshape, [shape(x) for x in xs]
        blocks = [
            reshape(block, (*a, *b))
            for a, row in zip(shapes, table, strict=True)
            for b, block in zip(shapes, row, strict=True)
        ]
        return rest[:1], rest[1:], (gs, tuple(blocks))

    return program


def refuse_second_order(outer: System, inner: System) -> None:
    """UnsupportedError where `outer` cannot differentiate what `inner` makes."""
    if outer.abilities.over_any or (type(outer) is type(inner) and outer.abilities.second_order):
        return
    raise UnsupportedError(
        f"{outer.name} cannot differentiate derivatives made by {inner.name}",
        hint="use one system for both, or SecondOrder(FiniteDifferences(), inner)",
    )
