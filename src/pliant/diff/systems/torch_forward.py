"""PyTorch's forward mode called on tensors as by hand, without the containers that its general form has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.diff.system import Form, Way, mutation_error
from pliant.diff.systems import torch_tape


class _NestedError(Exception):
    """A function returns more than a tensor, or one that does not depend on its argument."""


def direct(system: Any, f: Callable[..., Any], way: Way, form: Form) -> Way:
    """A pushforward, or a Hessian's products alone, of tensors; the given way for all else."""
    torch = system.torch
    tensor, is_product, ad = torch.Tensor, form.operator == "hvp", torch.autograd.forward_ad

    def pushed(at: Callable[..., Any], x: Any, t: Any) -> tuple[Any, Any]:
        with ad.dual_level():
            if is_product:
                x = ad.make_dual(x.requires_grad_(), t)
                (made,) = torch.autograd.grad(at(x), x, create_graph=True)
            else:
                made = at(ad.make_dual(x, t))
            y, dy = ad.unpack_dual(made)
        if dy is None:  # it does not depend on x
            raise _NestedError
        return y.detach(), dy.detach()

    def run(x: Any, seeds: Any, *constants: Any) -> Any:
        if torch_tape.is_nested(torch) or not all([t.__class__ is tensor for t in (x, *seeds)]):
            return way(x, seeds, *constants)

        def at(x: Any) -> Any:
            before = x._version
            y = f(x, *constants)
            if x._version != before:
                raise mutation_error(system.name)
            if y.__class__ is not tensor:
                raise _NestedError
            return y

        try:
            pairs = [pushed(at, x.detach().clone(), t.detach()) for t in seeds]
        except (_NestedError, RuntimeError, ValueError):
            return way(x, seeds, *constants)  # which says what is wrong
        theirs = torch_tape.storages(torch, (*constants, *seeds))
        parts = torch_tape.apart(torch, tuple([dy for _, dy in pairs]), theirs)
        return parts if form.is_alone else (torch_tape.apart(torch, pairs[-1][0], theirs), parts)

    return run
