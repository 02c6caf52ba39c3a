"""Functions of JAX and of NumPy, each as one of the other."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, final

import numpy as np

from pliant.backends.jax import emitted, has_wide, is_told, jax_package, wide
from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.data import frozen
from pliant.core.ir import Value, Values
from pliant.core.origin import here
from pliant.core.types import DTYPES, itemsize
from pliant.errors import ArgumentError, DTypeError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.closed import Closed, trace_closed
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import exception, note
from pliant.frontend.kinds import is_array, is_of, is_traced
from pliant.frontend.printing import PRINTED
from pliant.frontend.program import Program
from pliant.frontend.signature import as_arrays, flatten, key_orders, signature, unflatten
from pliant.frontend.tracing import untraced

PROGRAMS: Final = 64  # kept for one form of calls
WEAK: Final[dict[str, type]] = {"i": int, "f": float, "c": complex}
NARROW: Final = {"i": "int32", "f": "float32", "c": "complex64"}


def to_jax(f: Callable[..., Any]) -> Callable[..., Any]:
    """The plain NumPy function `f` as one of JAX's arrays: for `jax.jit`, `jax.grad`, `jax.vmap`, GPUs and sharding.

    f is traced for the shapes and dtypes of its arguments, once for each, and becomes operations of `jax.numpy` and
    `jax.lax`: loops are `lax.scan`, or `lax.while_loop` if nothing bounds their steps, branches `lax.cond`. Containers
    go in and come out as they are. Python's integers are known to the program, as what is static is to `jax.jit`.
    Dtypes are NumPy's: what returns 64 bits needs `jax_enable_x64`. Writes to arguments are local, as under
    derivatives; indices out of range read NaN (of integers the least one), and write nothing.
    JAX's derivatives of it follow Pliant's rules for each operation; `to_jax(pliant.grad(f))` is Pliant's own gradient.
    Raises DTypeError if a result has 64 bits and JAX has not, UnsupportedError for what JAX's functions cannot do: draw
    from generators that are made outside, or, under its transformations, raise exceptions by what arrays hold.

    >>> import jax, numpy as np, pliant
    >>> def smooth(x):
    ...     y = np.zeros_like(x)
    ...     y[1:] = (x[1:] + x[:-1]) / 2
    ...     return y
    >>> jax.jacobian(pliant.to_jax(smooth))(jax.numpy.ones(2, "float32"))
    Array([[0. , 0. ],
           [0.5, 0.5]], dtype=float32)
    """
    function_of(f)
    kept = _Kept(f)

    @functools.wraps(f)
    def of_jax(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        return kept.emission(leaves, structure, (args, kwargs))(leaves)

    return of_jax


def from_jax(g: Callable[..., Any]) -> Callable[..., Any]:
    """The function `g` of JAX as one for functions that Pliant traces, and for NumPy arrays outside of them.

    g is traced by JAX for the shapes and dtypes given, and what it is made of there is translated: derivatives,
    batches, rewrite rules and machine code apply to it as to NumPy's functions. Derivatives of its own (`custom_jvp`,
    `custom_vjp`) are kept. Arrays keep their dtypes: those of 64 bits are 64 bits inside, too, whatever
    `jax_enable_x64` says. As under `jax.jit`, g is called once for each form of arguments, arrays that it captures are
    those of that time, and numbers that are no arrays of the trace are known to it.
    Raises UnsupportedError, which names the operation of JAX and its line, for what has no translation.

    >>> import jax, numpy as np, pliant
    >>> silu = pliant.from_jax(jax.nn.silu)
    >>> pliant.grad(lambda x: np.sum(silu(x) ** 2))(np.array([0.0, 1.0]))
    array([0.        , 1.35636297])
    """
    function_of(g)

    def translated_of(*args: Any, **kwargs: Any) -> Any:
        return _on_values(g, args, kwargs)

    return Compiled(translated_of, original=g, again=functools.partial(from_jax, g))


def _on_values(g: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The results of a function of JAX, in the current trace."""
    from pliant.backends.from_jax import translated

    jax = jax_package()
    leaves, structure = flatten((args, kwargs))
    leaves = [as_traced(x) if is_array(x) or type(x) is list else x for x in leaves]
    xs = [x for x in leaves if is_traced(x)]

    def flat(*given: Any) -> Any:
        rest = iter(given)
        args, kwargs = unflatten(structure, [next(rest) if is_traced(x) else x for x in leaves])
        return g(*args, **kwargs)

    like = [jax.ShapeDtypeStruct(x.shape, DTYPES[x.type.dtype], weak_type=x.is_weak) for x in xs]
    with _bits_of(xs):
        program, made = _recorded(flat, like, xs)
        arrays = dict[int, Any]()

        def enter(x: Any) -> Value:
            array = arrays.setdefault(id(x), (np.asarray(x), x))[0]
            return as_traced(array).value

        ys = translated(program, tuple([x.value for x in xs]), enter, is_wide=has_wide())
    tree = jax.tree_util
    results = [_result(y, a.weak_type) for y, a in zip(ys, program.out_avals, strict=True)]
    return tree.tree_unflatten(tree.tree_structure(made), results)


def _recorded(flat: Callable[..., Any], like: Sequence[Any], xs: Sequence[TracedArray]) -> tuple[Any, Any]:
    """What JAX makes of a function of arrays like these, and what the function returns."""
    jax = jax_package()
    assert is_told()
    try:
        return jax.make_jaxpr(flat, return_shape=True)(*like)
    except Exception as error:
        numbers = [x.value for x in xs if not x.shape and x.type.kind in "biu"]
        is_of_arrays = isinstance(error, jax.errors.ConcretizationTypeError | jax.errors.TracerArrayConversionError)
        if not numbers and not is_of_arrays:
            raise
        reason = str(error).partition("\n")[0]
        if not numbers:
            raise TracedValueError(
                f"from_jax: the function of JAX needs to know what an array holds: {reason}",
                hint="jax.lax.cond and jax.numpy.where choose by what arrays hold",
            ).at(("called here", here())) from error
        raise TracedValueError(
            f"from_jax: a number has to be known to JAX: {reason}", hint="pass it as a Python int"
        ).needing(*numbers) from error


def _bits_of(xs: Sequence[TracedArray]) -> AbstractContextManager[Any]:
    """64 bits in JAX, if arrays have them, or if there are none but numbers of Python's."""
    arrays = [x for x in xs if not x.is_weak]
    return wide() if not arrays or any([is_wide(x.value) for x in arrays]) else nullcontext()


def _result(y: Value, is_weak: bool) -> TracedArray:
    """A result as NumPy has it: a number, if it has no axes; one of Python's, where JAX takes it as such."""
    made = fresh(y)
    return TracedArray(made.storage, is_scalar=made.is_scalar, is_weak=is_weak and not y.shape)


@final
class _Kept:
    """The programs of a function, by the forms of its calls."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.made: dict[Any, list[_Emission]] = {}
        self.lock = threading.RLock()

    def emission(self, leaves: Sequence[Any], structure: Any, tree: Any) -> _Emission:
        """The program for arguments like these."""
        given = as_arrays([_stand_in(x) if is_jax(x) else x for x in leaves])
        forms = [y if is_known(y) else (signature(x), is_jax(y)) for x, y in zip(given, leaves, strict=True)]
        key = (structure, key_orders(tree), *map(type, given), *forms)
        with self.lock:
            for one in self.made.get(key, ()):
                passed = [given[n] for n in one.places]
                if one.program.fits(passed) and one.program.is_for(passed):
                    return one
            with untraced():  # `from_jax` of it calls it where another function is traced
                made = _traced(self.f, given, structure, [is_jax(x) for x in leaves])
            self.made[key] = [made, *self.made.get(key, ())][:PROGRAMS]
        return made


@final
@frozen
class _Emission:
    """A program, what runs it on arrays of JAX, and how its results make what the function returns.

    places: of the leaves that the program is a function of, among all."""

    program: Program
    places: tuple[int, ...]
    run: Callable[..., tuple[Any, ...]]
    leaves: tuple[Any, ...]
    structure: Any

    def __call__(self, given: Sequence[Any]) -> Any:
        program = self.program
        self.check(given)
        operands = [given[self.places[i]] for i in program.leaves] + [np.asarray(a) for a in program.captured]
        with wide():
            asarray = jax_package("jax.numpy").asarray
            types = [DTYPES[p.dtype] for p in program.fn.params]
            results = self.run(*[asarray(x, dtype=t) for x, t in zip(operands, types, strict=True)])
        if program.failed is not None:
            program.check(results)
        rest = iter(results if has_wide() else self.narrowed(results))
        return unflatten(self.structure, [next(rest) if type(x) is TracedArray else x for x in self.leaves])

    @property
    def traced(self) -> list[TracedArray]:
        """What the first results are, in the function."""
        return [x for x in self.leaves if type(x) is TracedArray]

    def narrowed(self, results: Sequence[Any]) -> list[Any]:
        """The results, of which numbers of Python's are of 32 bits, as JAX has them."""
        with wide():
            return [
                y.astype(NARROW[y.dtype.kind]) if x.is_weak and y.dtype.kind in NARROW else y
                for x, y in zip(self.traced, results, strict=False)
            ]

    def check(self, given: Sequence[Any]) -> None:
        """Raise if JAX could not hold the results, or tell that the function raises an exception."""
        jax = jax_package()
        if not has_wide():
            for y, leaf in zip(self.program.fn.results, self.traced, strict=False):
                if is_wide(y) and not leaf.is_weak:
                    raise _narrow(y)
        if self.program.failed is not None and any([isinstance(x, jax.core.Tracer) for x in given]):
            error, where = self.program.failures[0]
            raise UnsupportedError(
                f"to_jax: the function may raise {type(error).__name__}, by what arrays hold, which JAX's "
                "transformations cannot",
                hint="check arguments before the call, or return a flag",
            ).at(("raised here", where))


def is_jax(x: Any) -> bool:
    """Whether something is an array of JAX, or a tracer of one."""
    return hasattr(x, "aval") and hasattr(x, "dtype")


def is_known(x: Any) -> bool:
    """Whether a program is made for the value of an argument: of one of Python's integers."""
    return type(x) in (int, bool)


def is_wide(y: Value) -> bool:
    """Whether a value needs arrays of 64 bits."""
    return itemsize(y.dtype) >= (16 if y.dtype[0] == "c" else 8)


def _narrow(y: Value) -> DTypeError:
    convert = {"f": "np.float32", "c": "np.complex64", "i": "np.int32", "u": "np.uint32"}[y.dtype[0]]
    return DTypeError(
        f"to_jax: the function returns {y.type}, of 64 bits, which JAX has switched off",
        hint=f'jax.config.update("jax_enable_x64", True), or return .astype({convert})',
    ).at(("made here", y.origin))


def _stand_in(x: Any) -> Any:
    """What the function is traced for in place of an array of JAX: one of its shape and dtype, of any content."""
    dtype: Any = x.dtype
    if not is_of(dtype, np.dtype) or dtype.kind not in "biufc":
        hint = (
            "jax.random.key_data(key) makes integers of it" if "key" in str(dtype) else "convert it with .astype(...)"
        )
        raise DTypeError(f"to_jax: NumPy has no dtype for JAX's {x.dtype}", hint=hint)
    if getattr(x, "weak_type", False) and not x.shape and dtype.kind in WEAK:  # a number of Python's
        return WEAK[dtype.kind](0)
    return np.empty(x.shape, dtype)


def _traced(f: Callable[..., Any], given: Sequence[Any], structure: Any, are_jax: Sequence[bool]) -> _Emission:
    """The program of f, for whose Python integers it is made."""
    from pliant.pipeline import for_jax

    found, places = list[Closed](), tuple([n for n, x in enumerate(given) if are_jax[n] or not is_known(x)])

    def flat(*xs: Any) -> tuple[Any, ...]:
        passed = dict(zip(places, xs, strict=True))
        leaves = [passed.get(n, x) for n, x in enumerate(given)]
        closed = trace_closed(
            f, leaves, structure, [is_traced(x) for x in leaves], may_raise=True, may_draw=True, may_set=True,
            role="a function for JAX",
        )  # fmt: skip
        operands: Values = (*[x.value for x in leaves if is_traced(x)], *closed.free)
        if closed.failing is not None:
            note(*closed.failing(*operands))
        closed.drawn_by(operands[: len(operands) - len(closed.free)])
        found.append(closed)
        return tuple([fresh(y, is_array=True) for y in closed.fn(*operands)])

    compiled = Compiled(flat)
    name = getattr(f, "__name__", "fn")
    try:
        program = compiled.program(*[given[n] for n in places])
    except jax_package().errors.TracerArrayConversionError as error:
        raise ArgumentError(
            f"to_jax: {name} reads an array from outside that JAX traces, and that has no numbers",
            hint="pass it as an argument",
        ) from error
    if any([are_jax[places[i]] for i in program.known]):
        raise TracedValueError(
            f"to_jax: {name} needs to know a number that is in an array of JAX", hint="pass it as a Python int"
        )
    written = [place for place, _ in program.written if place is not PRINTED]
    if written or program.groups or compiled.objects.taken or program.changed is not None:
        raise UnsupportedError(
            f"to_jax: {name} changes what is outside of it, like a generator of random numbers",
            hint="make it inside, from a seed that is an argument, or return what is changed",
        )
    if not found:  # it raises, whatever it is given
        raise exception(*program.failures[-1])
    made = found[-1]
    if made.is_writing and not any([type(x) is TracedArray for x in made.leaves]):
        raise ArgumentError(
            f"to_jax: {name} returns no arrays, and what it writes into its arguments stays inside",
            hint="return the arrays that it writes",
        )
    return _Emission(program, places, emitted(for_jax(program.fn)), made.leaves, made.structure)


__all__ = ["from_jax", "to_jax"]
