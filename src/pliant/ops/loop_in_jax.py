"""Loops in JAX: `lax.scan`, which has derivatives in either mode.

A number of steps that is found at run time is bounded by the length of the loop: steps beyond it do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pliant.core.types import DTYPES, Type
from pliant.ops.folds import UFUNCS, start_of
from pliant.ops.in_jax import carrying, jax_module, of_kind
from pliant.transforms.evaluate import stepper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pliant.core.ir import Namespace
    from pliant.ops.loop_form import LoopForm

SHORTEST: Final = 16  # steps: shorter loops are written out,
LONGEST: Final = 512  # if that makes no more operations than these
STACKED: Final = 2**22  # elements: folds of fewer terms are taken over all of them at once, as accurately as of arrays
REDUCTIONS: Final = {**{kind: kind for kind in UFUNCS}, "total": "sum"}


def loop(op: LoopForm, jnp: Namespace, xs: Sequence[Any]) -> tuple[Any, ...]:
    """`lax.scan`, with folds over what it stacks, or, of large terms, as carries."""
    is_counted = "count" in op.ins
    if not is_counted and op.length < SHORTEST and op.length * len(op.body.nodes) <= LONGEST:
        return op.array(jnp, *xs)
    body, types = stepper(op.body, jnp), [y.type for y in op.body.results]
    kinds = [_place(kind, type, op.length) for kind, type in zip(op.outs, types, strict=True)]
    idle = [_idle(jnp, kind, type) for kind, type in zip(op.outs, types, strict=True)]
    steps = jnp.minimum(of_kind("count", op.ins, xs)[0], op.length) if is_counted else None

    def run(i: Any, rows: Any, carries: Any, totals: Any) -> tuple[Any, ...]:
        ys = body((i, *carrying(op.ins, xs, carries, rows)))
        terms = zip(of_kind("running", kinds, op.outs), totals, of_kind("running", kinds, ys), strict=True)
        folded = tuple([getattr(jnp, UFUNCS[kind])(total, term) for kind, total, term in terms])
        return of_kind("last", kinds, ys), folded, of_kind("stack", kinds, ys)

    def rest(i: Any, rows: Any, carries: Any, totals: Any) -> tuple[Any, ...]:
        return carries, totals, of_kind("stack", kinds, idle)

    def step(state: Any, given: Any) -> tuple[Any, Any]:
        i, rows = given
        operands = i, rows, *state
        made = run(*operands) if steps is None else jax_module("lax").cond(i < steps, run, rest, *operands)
        return (made[0], made[1]), made[2]

    start = of_kind("carry", op.ins, xs), of_kind("running", kinds, idle)
    given = jnp.arange(op.length), of_kind("each", op.ins, xs)
    (lasts, totals), stacks = jax_module("lax").scan(step, start, given, reverse=op.reverse)
    made = {"last": iter(lasts), "running": iter(totals), "stack": iter(stacks)}
    rows = zip(op.outs, [next(made[kind]) for kind in kinds], kinds, strict=True)
    return tuple([_folded(jnp, out, y) if kind == "stack" else y for out, y, kind in rows])


def _place(kind: str, type: Type, length: int) -> str:
    """Where a result of a step goes: to the next step, to a stack, or into a running fold."""
    if kind in ("last", "stack"):
        return kind
    return "stack" if type.size * length <= STACKED else "running"


def _idle(jnp: Namespace, kind: str, type: Type) -> Any:
    """What a step that is not run leaves: zeros on a stack, what a fold starts from."""
    number = 0 if kind in ("last", "stack") else start_of(kind, type.dtype)
    return jnp.full(type.shape, number, dtype=getattr(jnp, DTYPES[type.dtype]))


def _folded(jnp: Namespace, kind: str, stack: Any) -> Any:
    """A fold over a stack, or the stack itself."""
    if kind == "stack":
        return stack
    options = {"dtype": stack.dtype} if kind in ("sum", "total", "prod") else {}
    return getattr(jnp, REDUCTIONS[kind])(stack, axis=0, **options)
