"""TensorFlow: f runs on its tensors, traced into graphs by `tf.function`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.system import Abilities, Arrays, Flat, Mode, Pushed, unboxed
from pliant.diff.systems.base import mutation_error, package
from pliant.errors import UnsupportedError

_ABILITIES: Final = Abilities(forward=True, reverse=True, is_traced=True, bakes=True, cache=False)


@final
@dataclass(frozen=True)
class TensorFlow:
    """Forward and reverse mode of TensorFlow. Tensors cannot be written.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    mode: Mode = "both"

    @property
    def name(self) -> str:
        """TensorFlow."""
        return "TensorFlow"

    @property
    def abilities(self) -> Abilities:
        """Both modes, no writes to memory."""
        return _ABILITIES

    @property
    def plain(self) -> bool:
        """Functions are written with `tensorflow`."""
        return False

    @property
    def tf(self) -> Any:
        """The package."""
        return package("tensorflow", self.name, "tensorflow")

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return package("tensorflow.experimental.numpy", self.name, "tensorflow")

    def require(self) -> None:
        """The package tensorflow."""
        assert self.tf

    def call(self, f: Callable[..., Any], args: Arrays, guarded: Arrays) -> Any:
        """`f(*args)`: tensors have no assignment."""
        try:
            return f(*args)
        except TypeError as error:
            if "item assignment" not in str(error):
                raise
            raise mutation_error(self.name, error) from error

    def guard(self, x: Any) -> Any:
        """The tensor itself: it is immutable."""
        return x

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`tf.autodiff.ForwardAccumulator`; many in a loop, which is unrolled."""
        if is_many:
            made = [self.pushforward(fn, xs, part, False) for part in self._parts(dxs)]
            return made[0][0], made[0][1], self._stacked([dys for _, _, dys in made])
        with self.tf.autodiff.ForwardAccumulator(
            list(xs), [self.cast(d, x) for d, x in zip(dxs, xs, strict=True)]
        ) as a:
            ys, aux = fn(tuple([self.tf.identity(x) for x in xs]))
        zero = self.tf.UnconnectedGradients.ZERO
        return ys, aux, tuple([a.jvp(y, unconnected_gradients=zero) for y in ys])

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`tf.GradientTape`; many in a loop, which is unrolled."""
        with self.tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(list(xs))
            ys, aux = fn(xs)
        cts = seed(ys)
        made = [self._pulled(tape, ys, xs, part) for part in (self._parts(cts) if is_many else [cts])]
        return ys, aux, self._stacked(made) if is_many else made[0]

    def _pulled(self, tape: Any, ys: Arrays, xs: Arrays, cts: Arrays) -> Arrays:
        zero = self.tf.UnconnectedGradients.ZERO
        return tuple(tape.gradient(list(ys), list(xs), output_gradients=list(cts), unconnected_gradients=zero))

    def _parts(self, stacks: Arrays) -> list[Arrays]:
        return list(zip(*[self.tf.unstack(s) for s in stacks], strict=True))

    def _stacked(self, parts: list[Arrays]) -> Arrays:
        return tuple([self.tf.stack(leaves) for leaves in zip(*parts, strict=True)])

    def compile(self, program: Callable[..., Any]) -> Callable[..., Any]:
        """`tf.function`: one graph per signature and key."""

        @self.tf.function(autograph=False, reduce_retracing=False)
        def graph(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            return program(xs, seeds, constants)

        def run(xs: Arrays, seeds: Any, constants: Arrays, key: Any) -> Any:
            seeds = tuple([tuple(map(self.array, s)) for s in seeds])
            return graph(tuple(map(self.array, xs)), seeds, tuple(map(self.array, constants)), key)

        return run

    def array(self, x: Any) -> Any:
        """A tensor; a Python number as one of 64 bits."""
        return self.tf.constant(x, self.tf.float64) if type(x) is float else self.tf.convert_to_tensor(x)

    def numpy(self, x: Any) -> Any:
        """A NumPy array or scalar."""
        return unboxed(np.array(x))

    def owns(self, x: Any) -> bool:
        """Whether x is a tensor."""
        return self.tf.is_tensor(x)

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return self.tf.eye(n, dtype=like.dtype)

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros."""
        return self.tf.zeros(shape, dtype=like.dtype)

    def cast(self, x: Any, like: Any) -> Any:
        """`tf.cast`."""
        return self.tf.cast(x, like.dtype)

    def buffer(self, template: Any) -> Any:
        """Refused: what is assigned to a variable has no derivative."""
        raise UnsupportedError(
            f"{self.name} differentiates no writes: no Cache, no in-place functions",
            hint="use Pliant(), or return new arrays",
        )

    def read(self, buffer: Any) -> Any:
        """The buffer itself."""
        return buffer
