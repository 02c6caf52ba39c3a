"""PyTorch: f runs on its tensors, differentiated by `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from pliant.diff.system import (
    Abilities,
    Arrays,
    AtPoint,
    Bound,
    Flat,
    Form,
    Mode,
    Pushed,
    System,
    Way,
    entered,
    is_numpy,
    mutation_error,
    native,
    unboxed,
)
from pliant.diff.systems import torch_forward, torch_tape
from pliant.frontend.kinds import is_array


@final
@dataclass(frozen=True)
class PyTorch(System):
    """Forward and reverse mode of PyTorch, eager. The caller's tensors and their `.grad` are never
    touched.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes. plain:
    f is written in plain NumPy; Pliant traces it and PyTorch runs the program.
    """

    abilities = Abilities(forward=True, reverse=True)
    modules = ("torch",)
    pip = "torch"
    mode: Mode = "both"
    plain: bool = False

    @property
    def torch(self) -> Any:
        """The package."""
        return self.module("torch")

    @property
    def func(self) -> Any:
        """Its function transformations."""
        self.module("torch._decomp.decompositions_for_jvp")  # warns when it is first used
        return self.module("torch.func")

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return self.torch

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`; PyTorch counts the writes to a tensor."""
        tensors = [x for x in guarded if isinstance(x, self.torch.Tensor)]
        before = [x._version for x in tensors]
        try:
            made = f(*args)
        except RuntimeError as error:
            torch_tape.explain(self.name, error)
            raise
        if before != [x._version for x in tensors]:
            raise mutation_error(self.name)
        return made

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """The program on copies of what f may write, so that nothing reaches the caller."""
        return torch_tape.on_copies(self, program)

    def copy(self, x: Any) -> Any:
        """A copy of a tensor; anything else itself."""
        return x.clone() if isinstance(x, self.torch.Tensor) else x

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`torch.func.jvp`; many by vmap."""

        def push(*dxs: Any) -> Any:
            ys, dys, aux = self.func.jvp(fn, (xs,), (dxs,), has_aux=True)
            return ys, aux, dys

        if not is_many:
            return push(*dxs)
        ys, aux, dys = self.func.vmap(push)(*dxs)
        return tuple([y[0] for y in ys]), tuple([a[0] for a in aux]), dys

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`torch.func.vjp`; many by vmap."""
        ys, pull, aux = self.func.vjp(fn, xs, has_aux=True)
        cts = seed(ys)
        (gs,) = self.func.vmap(pull)(cts) if is_many else pull(cts)
        return ys, aux, gs

    def entered(self, xs: Arrays, seeds: Any, constants: Arrays) -> tuple[Arrays, Any, Arrays]:
        """Tensors that share the caller's memory, and not their history unless that is being differentiated."""
        tensor, is_nested = self.torch.Tensor, torch_tape.is_nested(self.torch)

        def own(x: Any) -> Any:
            if isinstance(x, tensor):
                return x if is_nested else x.detach()
            return self.array(x) if is_numpy(x) else x

        return entered(own, xs, seeds, constants)

    def at_point(self, bound: Bound, is_forward: bool) -> AtPoint | None:
        """The tape of `torch.func.vjp`; forward mode keeps nothing."""
        return None if is_forward else partial(torch_tape.at_point, self, bound)

    def direct(self, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
        """PyTorch's tape, for what has a reverse mode: it does less per operation than `torch.func`."""
        if not self.plain and form.operator in ("gradient", "pullback", "jacobian"):
            return torch_tape.direct(self, functional.f, way, form)
        is_product = form.operator == "hvp" and form.is_alone and self.mode != "reverse"
        is_forward = not self.plain and (form.operator == "pushforward" or is_product)
        return torch_forward.direct(self, functional.f, way, form) if is_forward else way

    def array(self, x: Any) -> Any:
        """A tensor; NumPy's memory is shared where PyTorch can."""
        if isinstance(x, self.torch.Tensor):
            return x
        if is_array(x) and x.flags.writeable and min(x.strides, default=0) >= 0 and x.dtype.isnative:
            return self.torch.from_numpy(x)
        return (
            self.torch.from_numpy(native(np.array(x)))
            if is_numpy(x)
            else self.torch.tensor(x, dtype=self.torch.float64)
        )

    def numpy(self, x: Any) -> Any:
        """A NumPy array or scalar."""
        return unboxed(x.detach().resolve_conj().contiguous().numpy())

    def owns(self, x: Any) -> bool:
        """Whether x is a tensor."""
        return isinstance(x, self.torch.Tensor)

    def cast(self, x: Any, like: Any) -> Any:
        """`to`."""
        return x.to(like.dtype)

    def buffer(self, template: Any) -> Any:
        """Fresh zeros."""
        dtype = template.dtype
        own = dtype if isinstance(dtype, self.torch.dtype) else self.torch.from_numpy(np.zeros(0, dtype)).dtype
        return self.torch.zeros(template.shape, dtype=own)
