"""What CasADi and SymPy share: NumPy arrays of their scalar expressions.

NumPy's functions of such an array work element by element on the expressions: `functions` of its
class gives a function of scalars for each of NumPy's names.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np

from pliant.diff.system import Abilities, is_ndarray
from pliant.diff.systems.staged import Staged
from pliant.errors import UnsupportedError

# what Python's operators do on any expression
_OWN = ("add", "subtract", "multiply", "divide", "negative", "positive", "power", "matmul", "conjugate")
# what depends on how numbers compare
_BY_VALUE = ("sort", "argsort", "argmax", "argmin", "searchsorted", "partition", "argpartition", "unique", "nonzero")


class ExpressionArray(np.ndarray[Any, Any]):
    """An array of dtype object; one of rank 0 stays an array."""

    library: ClassVar[str]
    functions: ClassVar[Mapping[str, Callable[..., Any]]]

    def __getitem__(self, key: Any) -> Any:
        """A part; an element as an array of rank 0."""
        made = np.asarray(self)[key]
        return filled(type(self), made)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's operator on expressions, or the library's function of them."""
        raw = [np.asarray(x) if is_ndarray(x) else x for x in inputs]
        if "out" in options:
            options["out"] = tuple([np.asarray(x) for x in options["out"]])
        options.pop("dtype", None)
        if ufunc is np.square:
            return self * self
        if ufunc is np.reciprocal:
            return 1 / self
        if ufunc.__name__ in _OWN:
            return filled(type(self), getattr(ufunc, method)(*raw, **options))
        scalar = self.function(ufunc.__name__)
        if method == "__call__":
            return filled(type(self), np.frompyfunc(scalar, ufunc.nin, 1)(*raw, **options))
        if method == "reduce" and ufunc.nin == 2:
            return filled(type(self), _reduced(scalar, raw[0], **options))
        raise self.unsupported(f"{ufunc.__name__}.{method}")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """`where` of expressions; NumPy's own function for all that moves elements."""
        if func is np.where and len(args) == 3:
            return filled(type(self), np.frompyfunc(self.function("where"), 3, 1)(*map(np.asarray, args)))
        if func.__name__ in _BY_VALUE or (func.__module__ == "numpy.linalg" and func is not np.linalg.norm):
            raise self.unsupported(func.__name__)
        made: Any = np.ndarray.__array_function__(self, func, types, args, kwargs)
        if isinstance(made, list | tuple):
            return type(cast("Any", made))([_kept(type(self), part) for part in cast("Any", made)])
        return _kept(type(self), made)  # some of NumPy's functions drop subclasses

    @classmethod
    def function(cls, name: str) -> Callable[..., Any]:
        """The library's function for one of NumPy's names."""
        if name not in cls.functions:
            raise cls.unsupported(name)
        return cls.functions[name]

    @classmethod
    def unsupported(cls, name: str) -> UnsupportedError:
        """The error for what has no expression."""
        return UnsupportedError(
            f"{cls.library} has no expression for numpy.{name}", hint="use Pliant(), or JAX(plain=True)"
        )


def array_class(library: str, functions: Mapping[str, Callable[..., Any]]) -> type[ExpressionArray]:
    """The arrays of a library, by its functions of scalars under NumPy's names."""
    return type("Expressions", (ExpressionArray,), {"library": library, "functions": functions})


def filled(kind: type[ExpressionArray], made: Any) -> Any:
    """An object array, or a single expression or number, as an array of this kind; other arrays as they are."""
    if is_ndarray(made):
        return made.view(kind) if made.dtype == object else made
    array = np.empty((), object)
    array[()] = made
    return array.view(kind)


def _kept(kind: type[ExpressionArray], made: Any) -> Any:
    """What a function of NumPy returned, with object arrays as arrays of this kind."""
    return filled(kind, made) if is_ndarray(made) else made


def _reduced(scalar: Callable[..., Any], x: Any, axis: Any = 0, keepdims: bool = False, **_: Any) -> Any:
    """A function of two scalars, folded over axes."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
    fold = np.frompyfunc(scalar, 2, 1)
    for a in sorted(axes, reverse=True):
        x = fold.reduce(x, axis=a, keepdims=keepdims)
    return x


def expressions(kind: type[ExpressionArray], values: Any, shape: tuple[int, ...]) -> Any:
    """An array of these expressions, in row-major order."""
    made = np.empty(len(values), object)
    for n, value in enumerate(values):
        made[n] = value
    return made.reshape(shape).view(kind)


@functools.cache
def namespace_of(kind: type[ExpressionArray]) -> Any:
    """NumPy, making arrays of expressions where it makes arrays of floats: they can be assigned to."""

    def lifting(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: lifted(kind, function(*args, **kwargs))

    def astype(x: Any, dtype: Any) -> Any:
        if not isinstance(x, kind):
            return lifted(kind, np.astype(x, dtype))
        if np.dtype(dtype).kind != "f":
            raise kind.unsupported(f"astype({np.dtype(dtype)})")
        is_truth = any(getattr(e, "is_Boolean", False) for e in np.asarray(x).flat)
        return np.where(x, 1.0, 0.0) if is_truth else x

    rest = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    own = {name: lifting(rest[name]) for name in ("asarray", "zeros", "ones", "full", "zeros_like", "ones_like")}
    return SimpleNamespace(**rest | own | {"astype": astype, "__name__": "numpy"})


def lifted(kind: type[ExpressionArray], x: Any) -> Any:
    """An array of floats as one of expressions; other arrays as they are."""
    array = np.asarray(x)
    if isinstance(x, kind) or array.dtype.kind not in "fO":
        return x
    return array.astype(object).view(kind)


class OnExpressions(Staged):
    """A system whose functions get NumPy arrays of scalar expressions: real ones."""

    abilities = Abilities(forward=True, reverse=True, is_traced=True, mutation="local", complex=False)

    @property
    @abstractmethod
    def kind(self) -> type[ExpressionArray]:
        """The class of its arrays."""

    @abstractmethod
    def variables(self, count: int) -> Sequence[Any]:
        """Fresh symbols."""

    @property
    def namespace(self) -> Any:
        """NumPy, for such arrays."""
        return namespace_of(self.kind)

    def symbol(self, x: Any) -> Any:
        """An array of fresh symbols."""
        array = np.asarray(x)
        return expressions(self.kind, self.variables(array.size), array.shape)

    def is_symbolic(self, x: Any) -> bool:
        """Floats: integers may be indices, which expressions are not."""
        return np.asarray(x).dtype.kind in "fO"

    def guard(self, x: Any) -> Any:
        """A copy: writes to it stay inside the program."""
        return x.copy()

    def array(self, x: Any) -> Any:
        """An array of expressions."""
        return lifted(self.kind, x)

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return lifted(self.kind, np.eye(n))

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros."""
        return lifted(self.kind, np.zeros(shape))

    def cast(self, x: Any, like: Any) -> Any:
        """Expressions have one precision."""
        return x

    def buffer(self, template: Any) -> Any:
        """Fresh zeros."""
        return lifted(self.kind, np.zeros(template.shape))
