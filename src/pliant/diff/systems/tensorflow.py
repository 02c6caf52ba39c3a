"""TensorFlow: f runs on its tensors, traced into graphs by `tf.function`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.diff.captured import UNREAD
from pliant.diff.system import Abilities, Arrays, Flat, Form, Mode, Pushed, System, Way, entered, unboxed


@final
@dataclass(frozen=True)
class TensorFlow(System):
    """Forward and reverse mode of TensorFlow. Tensors cannot be written.

    mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    abilities = Abilities(forward=True, reverse=True, is_traced=True, bakes=True, cache=False)
    modules = ("tensorflow",)
    pip = "tensorflow"
    mode: Mode = "both"

    @property
    def tf(self) -> Any:
        """The package."""
        return self.module("tensorflow")

    @property
    def namespace(self) -> Any:
        """Its NumPy."""
        return self.module("tensorflow.experimental.numpy")

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
            return graph(*entered(self.array, xs, seeds, constants), key)

        return run

    def direct(self, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
        """One call of a graph whose arguments are single tensors."""
        if form.has_seeds:
            return way
        latest: Any = (*UNREAD, (), way)  # what tells that f reads the same, that, and the graph for it
        is_own, array, numpy = self.tf.is_tensor, self.array, self.numpy

        def flat(x: Any, *constants: Any) -> Any:
            ys, _, parts = program((x,), (), constants)
            leaves = tuple([leaf for part in (ys, *parts) for leaf in part])
            return leaves[0] if form.is_alone else leaves

        def run(*args: Any) -> Any:
            places, rest, arrays, graph = latest
            for container, key, content in places:
                if container.get(key, places) is not content:
                    return renewed(*args)
            if rest is not None and not rest():
                return renewed(*args)
            made = graph(*map(array, (*args, *arrays)))
            if is_own(args[0]):
                return made
            return numpy(made) if form.is_alone else tuple(map(numpy, made))

        def renewed(*args: Any) -> Any:
            nonlocal latest
            made = way(*args)
            if functional.returned.is_single:
                reads = functional.reads(args[:1], args[1:])
                graph = self.tf.function(flat, autograph=False, reduce_retracing=False)
                given = map(array, (*args, *reads.arrays))
                latest = *reads.steps, reads.arrays, graph.get_concrete_function(*given)
            return made

        return run

    def array(self, x: Any) -> Any:
        """A tensor; a Python number as one of 64 bits."""
        if isinstance(x, self.tf.Tensor):
            return x
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
