"""PyTensor: f runs on its symbolic tensors; the graph of a derivative is compiled once."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Mode, Pushed
from pliant.diff.systems.staged import Compiled, Staged


class Namespace:
    """`pytensor.tensor` with the names of the array API."""

    __name__ = "pytensor.tensor"

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self.asarray, self.concat, self.permute_dims = tensor.as_tensor, tensor.concatenate, tensor.transpose

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tensor, name)


@final
@dataclass(frozen=True)
class PyTensor(Staged):
    """Forward and reverse mode of PyTensor.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    abilities = Abilities(forward=True, reverse=True, is_traced=True, bakes=True, cache=False, complex=False)
    modules = ("pytensor.tensor",)
    pip = "pytensor"
    mode: Mode = "both"

    @property
    def tensor(self) -> Any:
        """Its module of tensors."""
        return self.module("pytensor.tensor")

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return Namespace(self.tensor)

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`pytensor.gradient.pushforward`; many in a loop, which is unrolled."""
        ys, aux = fn(xs)
        push = self.module("pytensor.gradient").pushforward

        def along(dxs: Arrays) -> Any:
            return push(list(ys), list(xs), list(dxs), disconnected_outputs="ignore")

        return ys, aux, self._each(along, dxs, xs, is_many)

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`pytensor.gradient.pullback`; many in a loop, which is unrolled."""
        ys, aux = fn(xs)
        pull = self.module("pytensor.gradient").pullback

        def against(cts: Arrays) -> Any:
            return pull(list(ys), list(xs), list(cts), disconnected_inputs="ignore", return_disconnected="zero")

        return ys, aux, self._each(against, seed(ys), ys, is_many)

    def _each(self, linear: Callable[..., Any], seeds: Arrays, like: Arrays, is_many: bool) -> Arrays:
        if not is_many:
            return tuple(linear(seeds))
        parts = [linear(tuple([s[n] for s in seeds])) for n in range(seeds[0].type.shape[0])]
        return tuple([self.tensor.stack(leaves) for leaves in zip(*parts, strict=True)])

    def symbol(self, x: Any) -> Any:
        """A tensor of known shape."""
        array = np.asarray(x)
        return self.tensor.tensor(dtype=array.dtype.name, shape=array.shape)

    def compiled(self, symbols: Sequence[Any], results: Sequence[Any]) -> Compiled:
        """A PyTensor function; it keeps its storage between calls, so threads take turns."""
        make = self.module("pytensor").function
        function, lock = make(list(symbols), list(results), on_unused_input="ignore"), threading.Lock()
        function.trust_input = True  # it would look at the types of arrays, which are right here
        dtypes, is_new = [np.dtype(s.dtype) for s in symbols], True

        def run(given: Sequence[Any]) -> Sequence[Any]:
            nonlocal is_new
            # row-major: it would be compiled anew for arrays laid out otherwise
            arrays = [np.asarray(x, dtype, "C") for x, dtype in zip(given, dtypes, strict=True)]
            with lock:
                if not is_new:
                    return function(*arrays)
                with warnings.catch_warnings():  # of numba, about code that PyTensor wrote
                    warnings.simplefilter("ignore", self.module("numba.core.errors").NumbaPerformanceWarning)
                    made = function(*arrays)
                is_new = False
                return made

        return run

    def array(self, x: Any) -> Any:
        """A tensor."""
        return self.tensor.as_tensor(x)

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return self.tensor.as_tensor(np.eye(n, dtype=like.dtype))

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros."""
        return self.tensor.as_tensor(np.zeros(shape, like.dtype))
