"""A program as a function of tensors that PyTorch differentiates and batches: by Pliant's own derivatives and batches.

    y… = Call(f)(x…)      forward    f, run by PyTorch one primitive at a time; with what its pullback keeps
                          backward   Call(pullback)(kept…, ct…)
                          jvp        Call(pushforward)(x…, dx…)
                          vmap       Call(f over n problems)(x…)

Each is again such a function, so that derivatives of all orders, and batches of them, are there, and follow the same
conventions as everywhere: equal elements share what an extremum gets, and what a branch leaves out adds nothing. Loops
and branches whose conditions differ between problems have a batch too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeAlias, final

from pliant.backends.torch import on_tensors
from pliant.backends.torch_namespace import storage_of, torch
from pliant.core.build import abstract, trace
from pliant.core.ir import Function, Node, Param, Tangents, Value, Values, nodes, param
from pliant.core.scope import scope
from pliant.ops.custom import pick, spread
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.transpose import linearize, pull, vjp
from pliant.transforms.vmap import vmap

Flags: TypeAlias = "tuple[bool, ...]"
Prepare: TypeAlias = Callable[[Function], Function]

with warnings.catch_warnings():  # it warns when forward mode is first used, which is not the user's concern
    warnings.simplefilter("ignore")
    import_module("torch._decomp.decompositions_for_jvp")


@final
class Call:
    """A program, with the passes that make it ready, and what was derived from it so far.

    before: what it goes through before derivatives are taken; ready: before it is run. check: looks at the results of
    a run, and may raise. linear: (kept…, dx of active parameters…) → (tangents of the float results…), if the results
    after `count` are what it keeps; kept: numbers of results, or of parameters, counted from -1.
    """

    def __init__(
        self, fn: Function, before: Prepare, ready: Prepare, check: Callable[[Sequence[Any]], None] | None = None
    ) -> None:
        self.fn, self.before, self.ready, self.check = fn, before, ready, check
        self.count = len(fn.results)
        self.floats = tuple([r.type.is_float for r in fn.results])
        self.linear: Function | None = None
        self.active: Flags = ()
        self.kept: tuple[int, ...] = ()
        self._run: Any = None
        self._made: dict[Any, Call] = {}

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        """The results, each a tensor of its own."""
        if not self.fn.results:
            return ()
        active = tuple([x.requires_grad and p.type.is_float for x, p in zip(xs, self.fn.params, strict=True)])
        if not (torch.is_grad_enabled() and any(active)):
            return _Running.apply(self, *xs)
        return _Running.apply(self._known("keeping", active, lambda: self.keeping(active)), *xs)[: self.count]

    def run(self, xs: Sequence[Any]) -> tuple[Any, ...]:
        """The results for tensors that nothing follows."""
        if self._run is None:
            self._run = on_tensors(self.ready(self.fn))
        ys = self._run([x.resolve_conj().resolve_neg() if x.is_complex() else x for x in xs])
        if self.check is not None:
            self.check(ys)
        return own(ys, xs)

    def keeping(self, active: Flags) -> Call:
        """The program that also returns what its derivative by the active parameters keeps."""
        fn = self.before(self.fn)
        with scope():
            params = tuple([param(p.type, f"x{n}") for n, p in enumerate(fn.params)])
            ys, dxs, dys = linearize(fn, params, active)
            tangents = pick(instantiate(ys, dys), self.floats)
            kept = residuals(tangents, dxs)
            linear = abstract(tangents, (*kept, *dxs), f"tangents_{fn.name}")
            inner = tuple([v for v in kept if v not in params])
            ahead = Function(fn.name, params, (*ys, *inner))
        made = Call(ahead, self.before, self.ready, self.check)
        made.count, made.linear, made.active = self.count, linear, active
        made.kept = tuple([-1 - params.index(v) if v in params else self.count + inner.index(v) for v in kept])
        return made

    def cotangents(self, xs: Sequence[Any], kept: Sequence[Any], cts: Sequence[Any], needed: Flags) -> Sequence[Any]:
        """Cotangents of the parameters that need one, and None for others. kept: the results that are only kept. cts:
        of all results, None where zero."""
        has = tuple([c is not None and r.type.is_float for c, r in zip(cts, self.fn.results, strict=True)])
        given = pick(cts, has)
        if not given:
            return [None] * len(xs)
        linear = None if any(has[self.count :]) else self.linear
        if linear is not None and all([a or not n for a, n in zip(self.active, needed, strict=True)]):
            flags = pick(has[: self.count], self.floats[: self.count])
            call = self._known("pullback", flags, lambda: self._pullback(linear, flags))
            read = [xs[-1 - n] if n < 0 else kept[n - self.count] for n in self.kept]
            made = spread(call(*read, *given), self.active)
            return [m if n else None for m, n in zip(made, needed, strict=True)]
        call = self._known("pulled", (has, needed), lambda: self._pulled(has, needed))
        return spread(call(*xs, *given), needed)

    def tangents(self, xs: Sequence[Any], dxs: Sequence[Any]) -> Sequence[Any]:
        """Tangents of the results; None of those that are no floats."""
        has = tuple([d is not None and p.type.is_float for d, p in zip(dxs, self.fn.params, strict=True)])
        if not any(has):
            return [None] * len(self.fn.results)
        call = self._known("pushed", has, lambda: self._pushed(has))
        return spread(call(*xs, *pick(dxs, has)), self.floats)

    def batched(self, n: int, flags: Flags) -> Call:
        """The program over n problems; operands marked in `flags` have them along axis 0, and so has every result."""

        def made() -> Call:
            return Call(vmap(self.fn, n, flags), self.before, self.ready, self.check)

        return self._known("batched", (n, flags), made)

    def _pullback(self, linear: Function, flags: Flags) -> Call:
        """(kept…, ct of the marked float results…) → (ct of the active parameters…): the tangents, transposed."""
        types = [p.type for p in linear.params]
        count = len(self.kept)

        def pulled(*args: Value) -> Values:
            dxs = tuple([param(t, "dx") for t in types[count:]])
            return instantiate(dxs, pull(linear(*args[:count], *dxs), dxs, spread(args[count:], flags)))

        wanted = pick([r.type for r in linear.results], flags)
        return Call(trace(pulled, *types[:count], *wanted), self.before, self.ready)

    def _pulled(self, has: Flags, needed: Flags) -> Call:
        """(x…, ct…) → (ct of the parameters that need one…), which runs the program again."""
        fn = self.before(self.fn)
        types = [p.type for p in fn.params]

        def pulled(*args: Value) -> Values:
            xs: Values = args[: len(types)]
            back: Tangents = vjp(fn, xs, spread(args[len(types) :], has), needed)[1]
            return instantiate(pick(xs, needed), pick(back, needed))

        return Call(trace(pulled, *types, *pick([r.type for r in fn.results], has)), self.before, self.ready)

    def _pushed(self, has: Flags) -> Call:
        """(x…, dx…) → (tangents of the float results…)."""
        fn = self.before(self.fn)
        types = [p.type for p in fn.params]

        def pushed(*args: Value) -> Values:
            ys, dys = push(fn, args[: len(types)], spread(args[len(types) :], has))
            return pick(instantiate(ys, dys), self.floats)

        return Call(trace(pushed, *types, *pick(types, has)), self.before, self.ready)

    def _known(self, what: str, key: Any, make: Callable[[], Call]) -> Call:
        """What is derived from the program, made once."""
        found = self._made.get((what, key))
        if found is None:
            found = self._made[what, key] = make()
        return found


class _Running(torch.autograd.Function):  # pyright: ignore[reportUntypedBaseClass]
    """A call, to PyTorch."""

    @staticmethod
    def forward(call: Call, *xs: Any) -> Any:
        return call.run(xs)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.call, *xs = inputs
        ctx.set_materialize_grads(False)
        ctx.count = len(xs)
        ctx.save_for_backward(*xs, *output[ctx.call.count :])
        ctx.save_for_forward(*xs)

    @staticmethod
    def backward(ctx: Any, *cts: Any) -> Any:
        xs, kept = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
        return None, *ctx.call.cotangents(xs, kept, cts, ctx.needs_input_grad[1:])

    @staticmethod
    def jvp(ctx: Any, _: Any, *dxs: Any) -> Any:
        return tuple(ctx.call.tangents(ctx.saved_tensors, dxs))

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: Call, *xs: Any) -> Any:
        flags = tuple([d is not None for d in in_dims[1:]])
        rows = [x if d is None else x.movedim(d, 0) for x, d in zip(xs, in_dims[1:], strict=True)]
        ys = call.batched(info.batch_size, flags)(*rows)
        return ys, (0,) * len(ys)


def residuals(results: Values, seeds: Values) -> Values:
    """What the results read that no seed is needed for, but for what is made of literals alone."""
    depends, is_anew = set(seeds), set[Node]()
    found: dict[Value, None] = {}
    order = nodes(results)
    for node in order:
        if any([a in depends for a in node.args]):
            depends.update(node.values)
        elif not isinstance(node.op, Param) and all([a.node in is_anew for a in node.args]):
            is_anew.add(node)
    for node in order:
        if node.values[0] in depends:
            found.update((a, None) for a in node.args if a not in depends and a.node not in is_anew)
    found.update((r, None) for r in results if r not in depends and r.node not in is_anew)
    return tuple(found)


def own(ys: Sequence[Any], xs: Sequence[Any]) -> tuple[Any, ...]:
    """The results, copied where they share memory with operands, with each other, or within themselves."""
    seen = {None, *map(storage_of, xs)}
    made = list[Any]()
    for y in ys:
        storage = storage_of(y)
        is_free = storage not in seen and all([s for s, n in zip(y.stride(), y.shape, strict=True) if n > 1])
        seen.add(storage)
        made.append(y if is_free else y.clone(memory_format=torch.contiguous_format))
    return tuple(made)
