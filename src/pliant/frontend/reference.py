"""`pliant.Ref`: memory of the caller by name, read and written in place, by compiled functions and outside them."""

from __future__ import annotations

from typing import Any, Final, cast, final

import numpy as np
import optree
from numpy.lib.mixins import NDArrayOperatorsMixin

from pliant.errors import ReadOnlyError
from pliant.frontend.array import TracedArray
from pliant.frontend.kinds import is_array
from pliant.frontend.shaped import Shaped


@final
class Ref(Shaped, NDArrayOperatorsMixin):
    """A reference to an array: what is written to it is written to the array, `+=` included.

    x: a writeable array; of anything else, as a number, a new array is made. Views of a reference are
    references: `r.T`, `r.reshape(…)`. Indexing is that of the array. References may overlap. They may be
    arguments, parts of them, or captured: then a compiled function reads and writes the array anew at
    every call. A derivative or a batch writes to a copy, as with arrays.
    Raises ReadOnlyError for an array that cannot be written.

    >>> import numpy as np, pliant
    >>> count = pliant.Ref(0)
    >>> @pliant.jit
    ... def double(x):
    ...     count[...] += 1
    ...     return 2 * x
    >>> double(3.0), double(4.0), int(count)
    (6.0, 8.0, 2)
    """

    __slots__ = ("array", "source")
    source: Ref | None  # what this one, of a trace, stands for outside of it

    def __init__(self, x: Any) -> None:
        self.array = x.array if isinstance(x, Ref) else x if _is_array(x) else np.array(x)
        self.source = None
        if is_array(self.array) and not self.array.flags.writeable:
            raise ReadOnlyError("pliant.Ref: the array is read-only")

    @property
    def T(self) -> Ref:
        """The transposed view."""
        return Ref(self.array.T)

    def reshape(self, *shape: Any) -> Ref:
        """A view of another shape; ValueError where there is none."""
        return Ref(np.reshape(self.array, shape[0] if len(shape) == 1 else shape, copy=False))

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __setitem__(self, key: Any, y: Any) -> None:
        self.array[key] = bare(y)

    def __int__(self) -> int:
        return int(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __repr__(self) -> str:
        return f"Ref({self.array!r})"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.array, *args, **kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        given = {k: bare(v) for k, v in kwargs.items()}
        made = getattr(ufunc, method)(*map(bare, args), **given)
        out = kwargs.get("out")
        return made if out is None else out[0] if len(out) == 1 else out

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return func(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()})


def bare(x: Any) -> Any:
    """The array of a reference, in tuples and lists too; anything else unchanged."""
    if isinstance(x, Ref):
        return x.array
    if type(x) in (tuple, list):
        return type(x)(map(bare, x))
    return x


def _is_array(x: Any) -> bool:
    """Whether x is an array of NumPy's, or of a trace."""
    return isinstance(x, np.ndarray | TracedArray)


def traced(ref: Ref, array: TracedArray) -> Ref:
    """What stands for a reference inside a trace."""
    made = Ref(array)
    made.source = ref
    return made


NAMESPACE: Final = "pliant"
"""Of optree's node types: there a reference is a container of its array."""


def _parts(ref: Ref) -> tuple[Any, ...]:
    return (ref.array,), None, None


def _rebuilt(_: Any, parts: tuple[Any, ...]) -> Ref:
    return Ref(parts[0])


cast("Any", optree).register_pytree_node(Ref, _parts, _rebuilt, namespace=NAMESPACE)
