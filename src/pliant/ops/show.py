"""Printing, warning and logging: a line is written when the program comes to it, each after the one before."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeAlias, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Op, Tangents, Values
from pliant.core.types import Type
from pliant.errors import DTypeError
from pliant.ops.in_jax import jax_module

Steps: TypeAlias = "tuple[tuple[str, str], ...]"
"""How the text of an object is made, from that of the step before: one of `CONVERSIONS`, or "%", and a format."""
Piece: TypeAlias = "str | tuple[Any, ...]"
"""Text; or what stands for text, with operands by their numbers:

("of", n, is_scalar, is_weak, lengths, steps)     an operand: whether it is a scalar, and whether one of Python's; the
                                                  operands that say how long its axes are, -1 for those that are whole
("if", n, pieces, pieces)                         one of two, by a condition
("text", pieces, steps)                           text that is put into a format
"""

Target: TypeAlias = "tuple[Any, ...]"
"""Where text is written to: () standard output, or

("error",)                                        standard error
("warning", module, class, file, line, module)    a warning of a class, for a line of a module
("log", logger, level, file, line, function, args, extra)
                                                  a record of a logger, None if the functions of the module make it;
                                                  what its text is a template of, and the items that it has besides

The name of a class, and of a logger, may hold another one, or a warning, that is found by no name.
"""


@final
class Holding(str):
    """A name that holds what is meant, in this process: what is read back, or unpickled, is the name alone."""

    content: Any

    def __new__(cls, name: str, content: Any) -> Holding:
        made = str.__new__(cls, name)
        made.content = content
        return made

    def __eq__(self, other: object) -> bool:
        return type(other) is Holding and str.__eq__(self, other) and self.content is other.content

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __reduce__(self) -> Any:
        return str, (str(self),)


CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {"r": repr, "s": str, "a": ascii}


@final
@frozen
class Print(Op):
    """`count + 1`, after the pieces of text have been written if `is_on`: `i64[1], bool[], any… → i64[1]`.

    The count is that of what has been printed before, so that nothing is printed twice, early, or never.
    """

    pieces: tuple[Piece, ...]
    target: Target = ()
    flush: bool = False

    def infer(self, count: Type, is_on: Type, *xs: Type) -> Type:
        if (count, is_on) != (Type("i64", (1,)), Type("bool")):
            raise DTypeError(f"print: the count and the condition are {count} and {is_on}, expected i64[1] and bool[]")
        return count

    def array(self, xp: Namespace, count: Any, is_on: Any, *xs: Any) -> Any:
        if is_on:
            tell(text_of(self.pieces, xs), self.target, flush=self.flush)
        return count + 1

    def jax(self, jnp: Namespace, count: Any, *xs: Any) -> Any:
        def shown(*xs: Any) -> None:
            self.array(jnp, 0, *[x.__array__() for x in xs])

        jax_module("debug").callback(shown, *xs, ordered=True)
        return count + 1

    def torch(self, torch: Namespace, count: Any, *xs: Any) -> Any:
        return self.array(torch, count, *[x.detach().cpu().numpy() for x in xs])

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return (self(*xs),), (None,)


def tell(text: str, target: Target, *, flush: bool) -> None:
    """Write, warn or log."""
    match target:
        case ("warning", kind, name, file, line, module):
            found = held(name) or kind_named(kind, name)
            is_warning = isinstance(found, Warning)
            kind, given = (type(found), found) if is_warning else (found, text)
            warnings.warn_explicit(cast("Any", given), kind, file, line, module, registry_of(module))
        case ("log", name, level, file, line, function, args, extra):
            logging = import_module("logging")
            if name is None and not logging.root.handlers:
                logging.basicConfig()
            logger = held(name) or logging.getLogger(name)
            if logger.isEnabledFor(level):
                place = logger.name, level, file, line
                logger.handle(logger.makeRecord(*place, text, args, None, function, dict(extra)))
        case _:
            print(text, end="", file=sys.stderr if target else sys.stdout, flush=flush)


def held(name: str | None) -> Any:
    """What a name holds; None if it is a name alone."""
    return name.content if isinstance(name, Holding) else None


def registry_of(module: str) -> Any:
    """Where it is noted which warnings for the lines of a module were shown."""
    names: dict[str, Any] = vars(sys.modules[module]) if module in sys.modules else {}
    return names.setdefault("__warningregistry__", {})


def kind_named(module: str, name: str) -> Any:
    """The class of a module that has a name; None if there is none."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def text_of(pieces: tuple[Piece, ...], xs: Any) -> str:
    """The text of pieces, of operands that are arrays of NumPy."""
    made = list[str]()
    for piece in pieces:
        match piece:
            case ("of", n, is_scalar, is_weak, lengths, steps):
                x = xs[n][tuple([slice(None if k < 0 else int(xs[k])) for k in lengths])]
                made.append(formatted(x.item() if is_weak else x[()] if is_scalar else x, steps))
            case ("if", n, one, two):
                made.append(text_of(one if xs[n] else two, xs))
            case ("text", inner, steps):
                made.append(formatted(text_of(inner, xs), steps))
            case _:
                made.append(str(piece))
    return "".join(made)


def formatted(x: Any, steps: Steps) -> str:
    """The text of an object, by conversions and formats."""
    for conversion, spec in steps:
        x = spec % (x,) if conversion == "%" else format(CONVERSIONS[conversion](x) if conversion else x, spec)
    return x
