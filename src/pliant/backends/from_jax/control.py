"""Operations of JAX that hold programs: calls, branches, loops and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

from pliant.backends.from_jax.shapes import folded
from pliant.backends.from_jax.walk import HolderRule, Walk, type_of
from pliant.core.build import trace
from pliant.core.ir import Function, Value, Values, const, param
from pliant.core.types import Type
from pliant.ops.compare import greater_equal
from pliant.ops.cond import Cond
from pliant.ops.custom import Checkpoint
from pliant.ops.elementwise import convert
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.reduce import reduce_or
from pliant.ops.select import select
from pliant.ops.shape import broadcast, reshape
from pliant.ops.tape import Kind
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.vmap import vmap


def call(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """A program that is called."""
    program = next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in eqn.params)
    return walk.closed(closed(program), xs)


def closed(program: Any) -> Any:
    """A program with arrays that it holds, of one that may have none."""
    return program if hasattr(program, "consts") else import_module("jax.extend.core").ClosedJaxpr(program, ())


def checkpoint(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """A program of which nothing is kept for its derivative."""
    body, free = walk.function(closed(eqn.params["jaxpr"]))
    return Checkpoint(body).apply(*xs, *free)


def platform_index(walk: Walk, eqn: Any) -> Value:
    """Which of several programs is for this platform: that for CPUs, or for any."""
    platforms = eqn.params["platforms"]
    number = next(n for n, names in enumerate(platforms) if names is None or "cpu" in names)
    return const(number, type_of(eqn.outvars[0].aval).dtype)


def scan(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """A loop of a known number of steps."""
    p = eqn.params
    consts, carries = p["num_consts"], p["num_carry"]
    body, free = walk.function(p["jaxpr"])
    ins: list[In] = ["const" for _ in range(consts)]
    ins.extend("carry" for _ in range(carries))
    ins.extend("each" for _ in range(len(xs) - consts - carries))
    ins.extend("const" for _ in free)
    outs: list[Any] = ["last"] * carries + ["stack"] * (len(eqn.outvars) - carries)
    step = _after_index(body)
    return Loop(p["length"], tuple(ins), tuple(outs), step, p["reverse"]).apply(*xs, *free)


def _after_index(body: Function) -> Function:
    """A function with one more operand before the others: the index of the step, which programs of JAX count."""
    return Function(body.name, (param(Type("i64"), "i"), *body.params), body.results)


def while_(walk: Walk, eqn: Any, *xs: Value) -> Values:
    """A loop whose end is found on the way. Of a batch it goes on while one problem does; others are kept."""
    p = eqn.params
    tested, used = p["cond_nconsts"], p["body_nconsts"]
    test, free_of_test = walk.function(p["cond_jaxpr"])
    body, free_of_body = walk.function(p["body_jaxpr"])
    carries, consts = xs[tested + used :], (*xs[: tested + used], *free_of_test, *free_of_body)
    ends = tested, tested + used, tested + used + len(free_of_test)

    def parts(args: Values) -> tuple[Values, Values, Values, Values, Values]:
        state, rest = args[: len(carries)], args[len(carries) :]
        return state, rest[: ends[0]], rest[ends[0] : ends[1]], rest[ends[1] : ends[2]], rest[ends[2] :]

    def goes_on(*args: Value) -> Values:
        state, own, _, free, _ = parts(args)
        return test(*own, *state, *free)

    def step(*args: Value) -> Values:
        state, _, own, _, free = parts(args)
        return body(*own, *state, *free)

    def one_goes_on(*args: Value) -> Value:
        return reduce_or(goes_on(*args)[0])

    def masked(*args: Value) -> Values:
        (going,) = goes_on(*args)
        pairs, axes = zip(args, step(*args), strict=False), tuple(range(going.type.rank))
        return tuple([select(broadcast(going, new.shape, axes), new, old) for old, new in pairs])

    types = [x.type for x in (*carries, *consts)]
    ins: list[Kind] = ["carry" for _ in carries]
    ins.extend("const" for _ in consts)
    tests, steps = (one_goes_on, masked) if test.results[0].shape else (goes_on, step)
    return WhileLoop(trace(tests, *types), trace(steps, *types), tuple(ins)).apply(*carries, *consts)


def reduce_(walk: Walk, eqn: Any, *args: Value) -> Values:
    """A fold of arrays along axes by any function, which JAX may apply in any order."""
    program, axes, count = closed(eqn.params["jaxpr"]), tuple(eqn.params["dimensions"]), len(args) // 2
    body, free = walk.function(program)
    xs, starts = args[:count], args[count:]

    def combine(*pairs: Value) -> Values:
        shape = pairs[0].shape
        n = pairs[0].type.size
        over = vmap(body, n, tuple([k < len(pairs) for k in range(len(body.params))]))
        return tuple([reshape(y, shape) for y in over(*[reshape(p, (n,)) for p in pairs], *free)])

    rest = tuple([n for a, n in enumerate(xs[0].shape) if a not in axes])
    starts = tuple([broadcast(s, rest, ()) for s in starts])
    return starts if xs[0].type.size == 0 else combine(*starts, *folded(combine, xs, axes))


def cond(walk: Walk, eqn: Any, which: Value, *xs: Value) -> Values:
    """One of several programs, by a number."""
    made = [walk.function(program) for program in eqn.params["branches"]]
    frees = [free for _, free in made]
    which = convert(which, "i64")
    given = (*xs, *[v for free in frees for v in free])
    starts = [len(xs) + sum(map(len, frees[:n])) for n in range(len(frees))]

    def branch(n: int) -> Callable[..., Values]:
        def run(_: Value, *args: Value) -> Values:
            return made[n][0](*args[: len(xs)], *args[starts[n] : starts[n] + len(frees[n])])

        return run

    def of(n: int, which: Value, args: Sequence[Value]) -> Values:
        if n == len(made) - 1:
            return branch(n)(which, *args)
        types = [which.type, *(x.type for x in args)]
        later = trace(partial(_later, of, n + 1), *types)
        is_later = greater_equal(which, const(n + 1, "i64"))
        return Cond(later, trace(branch(n), *types)).apply(is_later, which, *args)

    return of(0, which, given)


def _later(of: Callable[..., Values], n: int, which: Value, *args: Value) -> Values:
    return of(n, which, args)


HOLDERS: Final[dict[str, HolderRule]] = {
    "jit": call, "pjit": call, "closed_call": call, "core_call": call, "custom_lin": call, "checkpoint": checkpoint,
    "platform_index": platform_index,
    "remat2": checkpoint, "scan": scan, "reduce": reduce_, "while": while_, "cond": cond,
}  # fmt: skip
