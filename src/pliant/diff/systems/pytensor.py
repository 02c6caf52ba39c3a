"""PyTensor: f runs on its symbolic tensors; the graph of a derivative is compiled once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Mode, Pushed
from pliant.diff.systems.base import package
from pliant.diff.systems.staged import Compiled, Staged

_ABILITIES: Final = Abilities(forward=True, reverse=True, is_traced=True, bakes=True, cache=False, complex=False)


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

    abilities: ClassVar[Abilities] = _ABILITIES
    mode: Mode = "both"

    @property
    def name(self) -> str:
        """PyTensor."""
        return "PyTensor"

    @property
    def tensor(self) -> Any:
        """Its module of tensors."""
        return package("pytensor.tensor", self.name, "pytensor")

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return Namespace(self.tensor)

    def require(self) -> None:
        """The package pytensor."""
        assert self.tensor

    def _gradient(self) -> Any:
        return package("pytensor.gradient", self.name, "pytensor")

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`pytensor.gradient.pushforward`; many in a loop, which is unrolled."""
        ys, aux = fn(xs)

        def push(dxs: Arrays) -> Any:
            return self._gradient().pushforward(list(ys), list(xs), list(dxs), disconnected_outputs="ignore")

        return ys, aux, self._each(push, dxs, xs, is_many)

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`pytensor.gradient.pullback`; many in a loop, which is unrolled."""
        ys, aux = fn(xs)

        def pull(cts: Arrays) -> Any:
            return self._gradient().pullback(
                list(ys), list(xs), list(cts), disconnected_inputs="ignore", return_disconnected="zero"
            )

        return ys, aux, self._each(pull, seed(ys), ys, is_many)

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
        make = package("pytensor", self.name, "pytensor").function
        function, lock = make(list(symbols), list(results), on_unused_input="ignore"), threading.Lock()

        def run(given: Sequence[Any]) -> Sequence[Any]:
            with lock:
                return function(*given)

        return run

    def guard(self, x: Any) -> Any:
        """The tensor itself: it cannot be assigned to."""
        return x

    def array(self, x: Any) -> Any:
        """A tensor."""
        return self.tensor.as_tensor(x)

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return self.tensor.as_tensor(np.eye(n, dtype=like.dtype))

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros."""
        return self.tensor.as_tensor(np.zeros(shape, like.dtype))

    def cast(self, x: Any, like: Any) -> Any:
        """`astype`."""
        return x if x.dtype == like.dtype else x.astype(like.dtype)
