"""Printing: a line is written when the program comes to it, each after the one before."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeAlias, final

import numpy as np

from pliant.core.frozen import frozen
from pliant.core.ir import Namespace, Op, Tangents, Values
from pliant.core.types import Type
from pliant.errors import DTypeError

Steps: TypeAlias = "tuple[tuple[str, str], ...]"
"""How the text of an object is made, from that of the step before: one of `CONVERSIONS`, or "%", and a format."""
Piece: TypeAlias = "tuple[str, int, bool, bool, Steps]"
"""Text; or, if the number of an operand is not negative, that operand: whether it is a scalar, and whether one of
Python's, and how its text is made."""

CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {"r": repr, "s": str, "a": ascii}


@final
@frozen
class Print(Op):
    """`count + 1`, after the pieces of text have been written if `is_on`: `i64[1], bool[], any… → i64[1]`.

    The count is that of what has been printed before, so that nothing is printed twice, early, or never.
    """

    pieces: tuple[Piece, ...]
    is_error: bool = False
    flush: bool = False

    def infer(self, count: Type, is_on: Type, *xs: Type) -> Type:
        if (count, is_on) != (Type("i64", (1,)), Type("bool")):
            raise DTypeError(f"print: the count and the condition are {count} and {is_on}, expected i64[1] and bool[]")
        return count

    def text(self, xs: Any) -> str:
        """What is printed, of arrays of NumPy."""
        made = list[str]()
        for known, n, is_scalar, is_weak, steps in self.pieces:
            x: Any = known if n < 0 else xs[n].item() if is_weak else xs[n][()] if is_scalar else np.array(xs[n])
            for conversion, spec in steps:
                x = spec % (x,) if conversion == "%" else format(CONVERSIONS[conversion](x) if conversion else x, spec)
            made.append(x)
        return "".join(made)

    def show(self, xs: Any) -> None:
        """Print it."""
        print(self.text(xs), end="", file=sys.stderr if self.is_error else sys.stdout, flush=self.flush)

    def array(self, xp: Namespace, count: Any, is_on: Any, *xs: Any) -> Any:
        if is_on:
            self.show([np.asarray(x) for x in xs])
        return count + 1

    def jax(self, jnp: Namespace, *xs: Any) -> Any:
        def shown(*xs: Any) -> Any:
            return self.array(np, *[np.asarray(x) for x in xs])

        return import_module("jax.experimental").io_callback(shown, xs[0], *xs, ordered=True)

    def torch(self, torch: Namespace, count: Any, *xs: Any) -> Any:
        return self.array(torch, count, *[x.detach().cpu().numpy() for x in xs])

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return (self(*xs),), (None,)
