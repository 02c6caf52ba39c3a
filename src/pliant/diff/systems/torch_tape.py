"""PyTorch's tape: gradients of one tensor the shortest way, and pullbacks at one point."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.diff.system import Arrays, Bound, Linear, Way, mutation_error, unboxed


class _Local(threading.local):
    is_taping = False


_local = _Local()


def is_nested(torch: Any) -> bool:
    """Whether PyTorch is differentiating what runs now: then tensors need their history."""
    return _local.is_taping or torch._C._functorch.peek_interpreter_stack() is not None


def direct(system: Any, f: Callable[..., Any], way: Way, is_alone: bool) -> Way:
    """`(x, *constants) → (y, gradient)`, or the gradient alone, of tensors or NumPy's arrays; the given way for what
    the tape's short one does not cover, and once at first: it gives f copies, so that a function that writes to them
    is found out."""
    torch, array, differentiate, is_checked = system.torch, system.array, backward(system.torch), False
    tensor, peek = torch.Tensor, torch._C._functorch.peek_interpreter_stack
    version = operator.attrgetter("_version")

    def run(x: Any, *constants: Any) -> Any:
        nonlocal is_checked
        is_own = x.__class__ is tensor
        if not is_checked or _local.is_taping or peek() is not None or not (is_own or x.__class__ is np.ndarray):
            made = way(x, *constants)
            is_checked = True
            return made
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
            if y.__class__ is not tensor or y.ndim or y._base is not None or y is point or y.is_complex():
                return way(x, *constants)
            (gradient,) = differentiate(y, point)
        except RuntimeError as error:
            if "leaf Variable" in str(error):
                raise mutation_error(system.name, error) from error
            return way(x, *constants)  # which says what is wrong, or makes zeros
        if before != list(map(version, tensors)):
            raise mutation_error(system.name)
        gradient = gradient.contiguous() if is_own else unboxed(gradient.contiguous().numpy())
        if is_alone:
            return gradient
        return (y.detach(), gradient) if is_own else (y.detach().numpy()[()], gradient)

    return run


def backward(torch: Any) -> Callable[[Any, Any], Any]:
    """`torch.autograd.grad(y, x)`, or what it calls, with which a gradient of a hundred numbers takes a tenth less,
    as long as PyTorch has that."""
    one = torch.ones_like

    def short(y: Any, x: Any) -> Any:
        return engine((y,), (one(y),), False, False, (x,), False, accumulate_grad=False)

    try:
        engine = torch.autograd.Variable._execution_engine.run_backward
        x = torch.full((), 3.0, requires_grad=True)
        return short if short(x * x, x)[0].item() == 6.0 else torch.autograd.grad
    except (AttributeError, TypeError, RuntimeError):
        return torch.autograd.grad


def at_point(system: Any, bound: Bound, xs: Arrays, constants: Arrays) -> Linear:
    """Cotangents pulled back along a tape that is kept."""
    own, _, values = system.entered(xs, (), constants)
    _, pull, _ = system.func.vjp(bound(values), own, has_aux=True)

    def at(cts: Arrays) -> Arrays:
        return pull(tuple([system.array(ct) for ct in cts]))[0]

    return at
