"""Functions and modules of PyTorch for NumPy: `from_torch`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, final

from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.errors import PliantError, UnavailableError
from pliant.frontend.array import TracedArray
from pliant.frontend.guards import Slot
from pliant.frontend.kinds import is_traced
from pliant.frontend.signature import as_arrays, flatten, hash_of
from pliant.frontend.tracing import current, is_tracing


def from_torch(g: Callable[..., Any], *, functional: bool = False) -> Callable[..., Any]:
    """`g`, a function of PyTorch's tensors or an `nn.Module`, as a function of NumPy arrays that Pliant traces.

    Inside functions that Pliant transforms, g is part of the program: `pliant.grad`, `vmap`, rewriting and native code
    see its operations; outside it is compiled. dtypes are PyTorch's. Derivatives are those of PyTorch: of `detach` and
    `no_grad` there are none.

    functional: g is a module, and its parameters and buffers are an argument, the first, a dict by their names, as
    `torch.func.functional_call` takes it; names that are not in it are read from the module. Otherwise the module's
    are captured arrays, read again at each call: what an optimizer of PyTorch writes to them counts. Where a module
    changes its tensors or its mode, programs are made anew; its other attributes are as when g was recorded.
    A module in training that draws numbers, as dropout does, or changes its buffers, is refused.

    g is recorded once for each structure, dtypes and shapes of its arguments, with no numbers: it must not look at
    them. Raises UnsupportedError, with the operator's name, for what has no translation.

    >>> import numpy as np, pliant, torch
    >>> f = pliant.from_torch(torch.nn.functional.softplus)
    >>> pliant.grad(lambda x: np.sum(f(x)))(np.array([0.0]))
    array([0.5])
    """
    function_of(g)
    return OnArrays(g, functional)


@final
class OnArrays:
    """A function of tensors on arrays: a graph for each signature."""

    def __init__(self, g: Callable[..., Any], functional: bool) -> None:
        self.torch = _torch()
        name = getattr(g, "__name__", type(g).__name__)
        self.g, self.functional, self.__name__, self.__qualname__ = g, functional, name, name
        self.__doc__, self.__module__ = g.__doc__, getattr(g, "__module__", __name__)
        self.is_module = self.torch.is_module(g)
        self.graphs: dict[Any, Any] = {}
        self.own: dict[str, Any] = {}
        self.modes: tuple[bool, ...] = ()
        self.seen = object()
        self.lock = threading.RLock()

    def __reduce__(self) -> Any:
        return OnArrays, (self.g, self.functional)

    @functools.cached_property
    def compiled(self) -> Compiled:
        """The function outside of traces."""
        return Compiled(self.traced)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return self.traced(*args, **kwargs)
        self._look_at_modules()
        return self.compiled(*args, **kwargs)

    def traced(self, *args: Any, **kwargs: Any) -> Any:
        """The operations of the graph on traced arrays, or NumPy's."""
        leaves, structure = flatten((args, kwargs))
        leaves = [x if is_traced(x) else _array(x) for x in leaves]
        held = self._held(args)
        with self.lock:
            arrays = [(n, a.dtype, a.shape) for n, a in held.items()]
            key = (structure, self.modes, *[_signature(x) for x in leaves], *arrays)
            if key not in self.graphs:
                self.graphs[key] = self._graph(held, leaves, structure)
        tensors = [_solid(x) for x in leaves if hasattr(x, "dtype") and hasattr(x, "shape")]
        return self.graphs[key].run([*held.values(), *tensors])

    def _graph(self, held: dict[str, Any], leaves: list[Any], structure: Any) -> Any:
        """The graph for such arguments. If there is none, integers and truth values may have to be known."""
        try:
            return self.torch.graph_of(self._called(held), [*held.values(), *leaves], structure)
        except PliantError as error:
            raise error.needing(
                *[x.value for x in leaves if is_traced(x) and x.is_weak and x.dtype.kind in "bi"]
            ) from None

    def _held(self, args: Sequence[Any]) -> dict[str, Any]:
        """The arrays of the module that no argument stands for."""
        if is_tracing():
            current().outermost.roots.setdefault((id(self), "now"), (Slot(self), "now", self.now))
        self._look_at_modules()
        if not self.is_module:
            return {}
        given: Any = args[0] if self.functional and args else {}
        return {name: a for name, a in self.own.items() if name not in given}

    @property
    def now(self) -> object:
        """What is another object if the module's arrays lie elsewhere, or its modes are others: for guards of programs
        that read them."""
        self._look_at_modules()
        return self.seen

    def _look_at_modules(self) -> None:
        """Note where the arrays of the modules lie now, and their modes; what was made for others is not used any more.

        These are g, or those that it names itself."""
        with self.lock:
            modules = self.torch.modules_of(self.g)
            found, modes = self.torch.arrays_of(modules, self.own), self.torch.modes_of(modules)
            if (
                modes != self.modes
                or found.keys() != self.own.keys()
                or any([found[n] is not self.own[n] for n in found])
            ):
                self.own, self.modes, self.seen = found, modes, object()
                self.__dict__.pop("compiled", None)
                if not self.is_module:  # arrays are constants of the graphs
                    self.graphs.clear()

    def _called(self, held: dict[str, Any]) -> Callable[..., Any]:
        """g as a function of the arrays of its module, then of its arguments."""
        return functools.partial(self.torch.called, self.g, tuple(held), self.is_module, self.functional)


def _array(x: Any) -> Any:
    (made,) = as_arrays([x])
    return made


def _solid(x: Any) -> Any:
    """A number of Python's as what PyTorch makes of it, an array with a dtype of its own."""
    return TracedArray(x.storage, x.lenses, is_scalar=False) if is_traced(x) else x


def _signature(x: Any) -> Any:
    """What of a leaf a graph is made for."""
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return ("array", str(x.dtype), tuple(x.shape))
    return (type(x), x, hash_of(x))


def _torch() -> Any:
    """What Pliant knows of PyTorch's graphs, which is imported when it is first asked for."""
    try:
        return import_module("pliant.backends.torch_modules")
    except ImportError as error:
        raise UnavailableError(f"from_torch needs the package 'torch': {error}", hint="pip install torch") from None
