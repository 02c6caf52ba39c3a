"""NumPy functions for PyTorch: `to_torch`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, final

from pliant.emission import Emission, emission, traceable
from pliant.errors import ArgumentError, UnavailableError
from pliant.frontend.signature import Static, signature, unflatten
from pliant.frontend.tracing import is_tracing
from pliant.pipeline import emitted


def to_torch(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, a function of NumPy arrays, as a function of PyTorch's tensors, on any device.

    f: plain NumPy, or what Pliant makes of that: `pliant.grad(f)`, `pliant.vmap(f)`. It is traced once for each
    structure, dtypes and shapes of its arguments, and PyTorch runs the program: no number goes through NumPy. Tensors
    come back in the structure that f returns; dtypes are NumPy's. Numbers and NumPy arrays may be given too; arrays
    that f reads from outside are read again at each call.

    PyTorch differentiates it, to any order, and batches it: `backward`, `torch.autograd`, `torch.func.grad`, `vjp`,
    `jvp`, `jacrev`, `jacfwd`, `hessian`, `vmap`. Derivatives are Pliant's, as of `pliant.grad`: equal elements share
    evenly what an extremum gets, and custom derivatives count. What f writes into arguments, and into arrays outside,
    stays inside the call, as in `pliant.grad`; so does what it sets of names and objects outside. Integers that have to
    be known to trace f, such as extents, get a program for each value. An index out of range raises IndexError.
    Raises UnavailableError without PyTorch, MissingRuleError for what PyTorch does not compute, like random numbers of
    NumPy's generators.

    >>> import numpy as np, pliant, torch
    >>> f = pliant.to_torch(lambda x: np.sum(np.sort(x)[:2] ** 2))
    >>> torch.func.grad(f)(torch.tensor([3.0, 1.0, 2.0]))
    tensor([0., 2., 4.])
    """
    return OnTensors(f)


@final
class OnTensors:
    """A function on tensors: a program for each signature."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.compiled, self.torch = traceable(f), _torch()
        functools.update_wrapper(self, f, updated=())
        self.entries: dict[Any, list[tuple[Emission, Any]]] = {}
        self.known: dict[Any, tuple[int, ...]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return self.compiled(*args, **kwargs)
        leaves, structure = self.compiled.flattened(args, kwargs)
        found = self._entry(leaves, structure, args, kwargs)
        if found is None:
            return self(*args, **kwargs)
        made, call = found
        made.program.check_numbers(leaves)
        results = call(*self.torch.operands(made.fn, made.arguments(leaves)))
        return made.returned(leaves, results)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _entry(self, leaves: list[Any], structure: Any, args: Any, kwargs: Any) -> tuple[Emission, Any] | None:
        """The program for arguments like these, made if there is none; None if names or objects from outside are such
        from now on."""
        name = str(getattr(self, "__name__", "to_torch"))
        form = (structure, *[self._signature(x, name) for x in leaves])
        self._check(self.known.get(form, ()), name, leaves)
        found = self._found(form, leaves)
        if found is not None:
            return found
        with self.torch.lock:
            tree = unflatten(structure, [self.torch.example(_thawed(x), name) for x in leaves])
            taken = len(tree[0]) - len(args)
            made = emission(self.compiled, tree[0][taken:], tree[1])
            if self.compiled.flattened(args, kwargs)[1] != structure:
                return None
            self._check(made.program.known, name, leaves)
            self.torch.check_apart(name, leaves, made.program.watched)
            self.known[form] = tuple(sorted({*self.known.get(form, ()), *made.program.known}))
            before = functools.partial(emitted, is_derived=False)
            call = self.torch.call_of(made.fn, before, emitted, made.check, made.failed)
            entries = self.entries.setdefault(self._key(form, leaves), [])
            entries[:] = [(made, call), *[e for e in entries if e[0].holds()]][:8]
        return made, call

    def _found(self, form: Any, leaves: Sequence[Any]) -> tuple[Emission, Any] | None:
        for entry in self.entries.get(self._key(form, leaves), ()):
            if entry[0].holds():
                self.torch.check_apart(entry[0].fn.name, leaves, entry[0].program.watched)
                return entry
        return None

    def _key(self, form: Any, leaves: Sequence[Any]) -> Any:
        known = [leaves[n] for n in self.known.get(form, ())]
        return (form, *[x.item() if self.torch.is_tensor(x) else x for x in known])

    def _signature(self, x: Any, name: str) -> Any:
        """What of a leaf a program is made for."""
        if self.torch.is_tensor(x):
            return ("tensor", self.torch.numpy_name(x, name), tuple(x.shape))
        return signature(x)

    def _check(self, known: Sequence[int], name: str, leaves: Sequence[Any]) -> None:
        """Refuse arguments that have to be known, and cannot be looked at."""
        for n in known:
            if self.torch.is_tensor(leaves[n]) and not self.torch.can_be_read(leaves[n]):
                raise ArgumentError(
                    f"{name} has to know an integer argument, which is a tensor of a batch or of a graph",
                    hint="pass a Python int",
                )


def _thawed(x: Any) -> Any:
    return x.value if isinstance(x, Static) else x


def _torch() -> Any:
    """What Pliant knows of PyTorch, which is imported when it is first asked for."""
    try:
        return import_module("pliant.backends.torch_call")
    except ImportError as error:
        raise UnavailableError(f"to_torch needs the package 'torch': {error}", hint="pip install torch") from None
