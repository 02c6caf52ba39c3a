"""PyTorch's tape: gradients of one tensor the shortest way, and pullbacks at one point."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.diff.system import Arrays, Bound, Form, Linear, Way, mutation_error, unboxed


class _Local(threading.local):
    is_taping = False


_local = _Local()


def is_nested(torch: Any) -> bool:
    """Whether PyTorch is differentiating what runs now: then tensors need their history."""
    return _local.is_taping or torch._C._functorch.peek_interpreter_stack() is not None


def direct(system: Any, f: Callable[..., Any], way: Way, form: Form) -> Way:
    """A call of this form on tensors or NumPy's arrays, one of which f returns; the given way for what the tape's
    short one does not cover, and once at first: it gives f copies, so that a function that writes to them is found
    out."""
    torch, array, is_checked = system.torch, system.array, False
    differentiate = {"gradient": _gradient, "pullback": _pullback, "jacobian": _jacobian}[form.operator](system)
    tensor, peek, has_seeds = torch.Tensor, torch._C._functorch.peek_interpreter_stack, form.has_seeds
    version = operator.attrgetter("_version")

    def run(x: Any, *args: Any) -> Any:
        nonlocal is_checked
        is_own = x.__class__ is tensor
        if not is_checked or _local.is_taping or peek() is not None or not (is_own or x.__class__ is np.ndarray):
            made = way(x, *args)
            is_checked = True
            return made
        seeds, constants = (args[0], args[1:]) if has_seeds else ((), args)
        given = constants if is_own else [array(c) if c.__class__ is np.ndarray else c for c in constants]
        tensors = [c for c in given if c.__class__ is tensor]
        before = list(map(version, tensors))
        point = (x.detach() if is_own else array(x)).requires_grad_()
        try:
            _local.is_taping = True
            try:
                y = f(point, *given)
            finally:
                _local.is_taping = False
            if y.__class__ is not tensor or y._base is not None or y is point or y.is_complex():
                return way(x, *args)
            derivative = differentiate(y, point, seeds)
        except RuntimeError as error:
            explain(system.name, error)
            return way(x, *args)  # which says what is wrong, or makes zeros
        if before != list(map(version, tensors)):
            raise mutation_error(system.name)
        if derivative is None:
            return way(x, *args)
        derivative = _handed_out(derivative, is_own)
        return derivative if form.is_alone else (_handed_out(y.detach(), is_own), derivative)

    return run


def _handed_out(x: Any, is_own: bool) -> Any:
    if x.__class__ is tuple:
        return tuple([_handed_out(a, is_own) for a in x])
    return x.contiguous() if is_own else unboxed(x.contiguous().numpy())


Differentiate = Callable[[Any, Any, Any], Any]  # of y, x and seeds; None for what it does not cover


def _gradient(system: Any) -> Differentiate:
    """The gradient of a number."""
    pull, one = backward(system.torch), system.torch.ones_like
    return lambda y, x, seeds: None if y.ndim else pull(y, x, one(y), False)


def _pullback(system: Any) -> Differentiate:
    """A cotangent of x for each of y."""
    pull, torch, array = backward(system.torch), system.torch, system.array

    def pulled(y: Any, x: Any, seeds: Any) -> Any:
        given = [array(t) if t.__class__ is np.ndarray else t for t in seeds]
        if not all([t.__class__ is torch.Tensor and t.shape == y.shape and t.dtype == y.dtype for t in given]):
            return None
        made = tuple([pull(y, x, t, n + 1 < len(given)) for n, t in enumerate(given)])
        return apart(torch, made, storages(torch, given))

    return pulled


def _jacobian(system: Any) -> Differentiate:
    """The Jacobian, row by row; nothing where columns are fewer."""
    torch = system.torch

    def rows(y: Any, x: Any, seeds: Any) -> Any:
        n = y.numel()
        if system.mode == "forward" or not n or (system.mode == "both" and x.numel() <= n):
            return None
        seeds = torch.eye(n, dtype=y.dtype).reshape(n, *y.shape)
        (made,) = torch.autograd.grad(y, x, seeds, is_grads_batched=True)
        return made.reshape(*y.shape, *x.shape)

    return rows


def explain(system: str, error: RuntimeError) -> None:
    """Raise what PyTorch says where f writes to x as our error."""
    if any([text in str(error) for text in ("leaf Variable", "mutate a captured Tensor")]):
        raise mutation_error(system, error) from error


def backward(torch: Any) -> Callable[[Any, Any, Any, bool], Any]:
    """`torch.autograd.grad(y, x, seed)`, or what it calls, with which a gradient of a hundred numbers takes a tenth
    less, as long as PyTorch has that. Its last argument: whether the tape is kept."""

    def short(y: Any, x: Any, seed: Any, is_kept: bool) -> Any:
        return engine((y,), (seed,), is_kept, False, (x,), False, accumulate_grad=False)[0]

    def long(y: Any, x: Any, seed: Any, is_kept: bool) -> Any:
        return torch.autograd.grad(y, x, seed, retain_graph=is_kept)[0]

    try:
        engine = torch.autograd.Variable._execution_engine.run_backward
        x = torch.full((), 3.0, requires_grad=True)
        return short if short(x * x, x, torch.ones(()), False).item() == 6.0 else long
    except (AttributeError, TypeError, RuntimeError):
        return long


def at_point(system: Any, bound: Bound, xs: Arrays, constants: Arrays) -> Linear:
    """Cotangents pulled back along a tape that is kept."""
    own, _, values = system.entered(xs, (), constants)
    _, pull, _ = system.func.vjp(bound(values), tuple([system.copy(x) for x in own]), has_aux=True)

    def at(cts: Arrays) -> Arrays:
        given = tuple([system.array(ct) for ct in cts])
        return ended(system.torch, apart(system.torch, pull(given)[0], storages(system.torch, given)))

    return at


def on_copies(system: Any, program: Callable[..., Any]) -> Callable[..., Any]:
    """`run(xs, seeds, constants, key)`: the program on a copy of x, and the first time of constants, to which
    `torch.func` refuses writes wherever it differentiates. Results that lie in memory of the caller are copied, and
    those of plain functions, which are arrays of their own, where they lie in memory of one another."""
    is_checked = False

    def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
        nonlocal is_checked
        xs, seeds, constants = system.entered(xs, seeds, constants)
        given: Arrays = constants if is_checked else tuple([system.copy(c) for c in constants])
        made = ended(system.torch, program(tuple([system.copy(x) for x in xs]), seeds, given))
        is_checked = True
        theirs = storages(system.torch, (*constants, *[t for seed in seeds for t in seed]))
        is_plain = system.plain and not is_nested(system.torch)
        return apart(system.torch, made, theirs, is_plain) if theirs or is_plain else made

    return run


def ended(torch: Any, made: Any) -> Any:
    """Results without the history that parameters of f's own give them, unless that is being differentiated."""
    if made.__class__ is tuple or made.__class__ is list:
        return tuple([ended(torch, x) for x in made])
    has_history = made.__class__ is torch.Tensor and made.requires_grad and not is_nested(torch)
    return made.detach() if has_history else made


def storages(torch: Any, xs: Sequence[Any]) -> set[int]:
    """Where the memory of tensors begins, of those that have any."""
    tensors = [x for x in xs if x.__class__ is torch.Tensor and x.numel()]
    return set() if is_nested(torch) else {x.untyped_storage().data_ptr() for x in tensors}


def apart(torch: Any, made: Any, theirs: set[int], is_each: bool = False) -> Any:
    """Results, with copies of those that lie in memory that is not theirs; is_each: nor that of results before them,
    which is added to it."""
    if made.__class__ is tuple or made.__class__ is list:
        return tuple([apart(torch, x, theirs, is_each) for x in made])
    if made.__class__ is not torch.Tensor or not made.numel():
        return made
    place = made.untyped_storage().data_ptr()
    if place in theirs:
        return made.clone()
    theirs.update([place] if is_each else [])
    return made
