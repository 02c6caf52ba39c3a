"""What is an object, or None, by a condition known only at run time: a flag beside the object.

best = None
for v in xs:
    if v > 1: best = v, f(v)        the steps carry whether `best` is an object, and the object
if best is not None:                asks for the flag; where it is known to hold, `best` is bound to the object
    total += best[1]
return best[0]                      any other use fails if it is None, as Python does
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, cast, final

from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.errors import DTypeError, UnsupportedError
from pliant.frontend import signature
from pliant.frontend.array import TracedArray
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.signals import RETURN, TRUTH, Signal
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.failures import fail_if, marked
from pliant.frontend.missing import MISSING
from pliant.frontend.number import kind_of, with_kind
from pliant.frontend.text import Either, Shown, as_text, noted, shown
from pliant.frontend.tracing import current, is_tracing
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.select import select
from pliant.ops.shape import reshape

_OPERATORS: Final = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_COMPARISONS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY: Final = {"neg": "unary -", "pos": "unary +", "invert": "unary ~", "abs": "abs()"}
_ITEMS: Final = {"getitem": "is not subscriptable", "setitem": "does not support item assignment",
                 "delitem": "does not support item deletion", "contains": "is not a container"}  # fmt: skip
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "float": float, "int": int, "complex": complex, "round": round, "index": operator.index, "len": len,
}  # fmt: skip


@final
class OrNone(Shown):
    """An object if a flag holds, else None. What it holds has names that no attribute of the user's has."""

    __slots__ = ("pliant_flag", "pliant_value")
    __array_priority__: Final = TracedArray.__array_priority__ + 1  # it answers where functions are given both

    def __init__(self, flag: Any, value: Any) -> None:
        self.pliant_flag, self.pliant_value = flag, value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(self.pliant_value, name):
            raise AttributeError(f"'NoneType' object has no attribute {name!r}", name=name, obj=None)
        missing = AttributeError(f"'NoneType' object has no attribute {name!r}", name=name)
        return getattr(present(self, missing), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(present(self, TypeError("'NoneType' object is not iterable")))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return present(self, TypeError("'NoneType' object is not callable"))(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(truth(self, bool))

    def __eq__(self, other: object) -> Any:
        return equal(self, other, operator.eq)

    def __ne__(self, other: object) -> Any:
        if other is None:
            return flag_of(self)
        return equal(self, other, operator.eq) ^ True  # of Python's bools, of which `~` makes integers, too

    def __hash__(self) -> int:
        return hash(present(self, _unusable("a key")))

    def __traced__(self) -> TracedArray:
        """The object as a traced array."""
        return as_traced(self.pliant_object())

    def pliant_object(self) -> Any:
        """The object; the call fails where there is none."""
        return present(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*all_present(inputs), **all_present(kwargs))

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return func(*all_present(args), **all_present(kwargs))

    def pliant_bound(self, default: int) -> Any:
        """The object, or what a bound of a slice is where there is none."""
        index = as_traced(self.pliant_value)
        flag = value_of(self.pliant_flag, "bool")
        return with_kind(select(flag, value_of(index, "i64"), const(default, "i64")), kind_of(index))

    def pliant_text(self, conversion: str, spec: str) -> str:
        if not is_tracing():
            return "<an object or None>"
        if spec and (conversion != "%" or spec[-1] not in "sra"):  # None has no such text
            return as_text(present(self), conversion, spec)
        there, none = (shown(as_text(x, conversion, spec)) for x in (self.pliant_value, None))
        return noted(Either(value_of(self.pliant_flag, "bool"), there, none), f"{there} or None")


def present(x: Any, error: Exception | None = None) -> Any:
    """The object; the call fails where there is none. error: what Python raises there."""
    if type(x) is not OrNone:
        return x
    error = error or _unusable("an argument")
    held = is_known(x)
    if held is False:
        raise marked(error)
    if held is None and not is_sure(x.pliant_flag.value):
        fail_if(logical_not(x.pliant_flag.value), marked(error))
    return x.pliant_value


def place_or_error(key: Any, kind: str = "list") -> Any:
    """The place in a list that may be None, at which the call fails; DTypeError for a number that is no integer."""
    if type(key) is TracedArray and not key.shape and key.type.kind in "fc":
        message = f"{kind} indices must be integers or slices, not {key.stands_for}"
        raise DTypeError(message, hint="int(i) makes an integer of a number").at(("indexed here", here()))
    if type(key) is not OrNone:
        return key
    return present(key, TypeError(f"{kind} indices must be integers or slices, not NoneType"))


def holder_of_item(holder: Any, name: str = "setitem") -> Any:
    """What an item is put into or taken out of, which may be None; name: the method that does."""
    return present(holder, TypeError(f"'NoneType' object {_ITEMS[name]}"))


def holder_of_attribute(holder: Any, name: str) -> Any:
    """What an attribute is set or deleted of, which may be None."""
    if type(holder) is not OrNone:
        return holder
    return present(holder, AttributeError(f"'NoneType' object has no attribute {name!r}", name=name))


def updated_operand(name: str, x: Any, y: Any) -> Any:
    """What `x op= y` changes, which may be None. name: of the method."""
    return _operand(x, y, f"{_OPERATORS[name.removeprefix('i')]}=", is_left=True) if type(x) is OrNone else x


def presenting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of another library, which would take what may be None for an object of a class of ours."""

    def run(*args: Any, **options: Any) -> Any:
        return function(*map(present, args), **{key: present(x) for key, x in options.items()})

    return run


def all_present(tree: Any) -> Any:
    """Arguments, of which none may be None."""
    if type(tree) in (list, tuple):
        return type(tree)([all_present(part) for part in tree])
    if type(tree) is dict:
        return {key: all_present(part) for key, part in cast("dict[Any, Any]", tree).items()}
    return present(tree)


def is_aside(a: Any, b: Any) -> bool:
    """Whether one of two tuples has something that may be None where the other has another kind of thing."""
    if a is None or b is None or OrNone in (type(a), type(b)):
        return a is not b
    if type(a) is not tuple or type(b) is not tuple:
        return False
    ones, twos = cast("tuple[Any, ...]", a), cast("tuple[Any, ...]", b)
    return len(ones) == len(twos) and any([is_aside(x, y) for x, y in zip(ones, twos, strict=True)])


def returned(tree: Any) -> Any:
    """What a function returns, in which nothing may be None at run time that is an object at other times."""
    leaves, structure = signature.flatten(tree)
    if not any([type(x) is OrNone for x in leaves]):
        return tree
    return returned(signature.unflatten(structure, [_returned(x) for x in leaves]))


def _returned(x: Any) -> Any:
    if type(x) is not OrNone or is_known(x) is False:
        return None if type(x) is OrNone else x
    return present(x, UnsupportedError(
        "the function returns None by a condition that is known only at run time",
        hint="return a value that says so, as in: return 0.0 if best is None else best",
    ).at(("condition here", value_of(x.pliant_flag).origin)))  # fmt: skip


def _unusable(what: str) -> TypeError:
    return TypeError(f"None is used as {what}, where by other conditions an object is")


def is_known(x: OrNone) -> bool | None:
    """Whether there is an object, if that is known while tracing."""
    flag = x.pliant_flag
    if type(flag) is bool:
        return flag
    known = flag.concrete
    return None if known is None else bool(known)


def flag_of(x: Any) -> Any:
    """Whether something is not None: a bool if that is known, else a traced one."""
    if type(x) is not OrNone:
        return x is not None
    known = is_known(x)
    return x.pliant_flag if known is None else known


def object_of(x: Any) -> Any:
    """The object that something is if it is not None; MISSING if it is None."""
    return x.pliant_value if type(x) is OrNone else MISSING if x is None else x


def with_flag(x: Any) -> OrNone:
    """The same as something that may be None."""
    current().outermost.has_nones = True
    if type(x) is OrNone and type(x.pliant_flag) is TracedArray:
        return x
    return OrNone(with_kind(value_of(flag_of(x), "bool"), TRUTH), object_of(x))


def is_none(x: Any) -> Any:
    """Whether something is None: a bool if that is known, else a traced one."""
    return _not(flag_of(x))


def truth(x: OrNone, ask: Callable[[Any], Any]) -> Any:
    """What is asked of the object, and False where there is none."""

    def asked() -> Any:
        made = ask(x.pliant_value)
        is_open = type(made) is TracedArray and made.concrete is None and made.size == 1
        return with_kind(reshape(value_of(made, "bool"), ()), TRUTH) if is_open else bool(made)

    return _both(flag_of(x), asked)


def equal(x: Any, y: Any, ask: Callable[[Any, Any], Any]) -> Any:
    """Whether two are the same, or both None. ask: the same of objects."""
    if x is None or y is None:
        return is_none(y if x is None else x)
    one, two = flag_of(x), flag_of(y)
    same = _both(_both(one, lambda: two), lambda: ask(object_of(x), object_of(y)))
    return either(same, _both(_not(one), lambda: _not(two)))


def _not(x: Any) -> Any:
    return not x if isinstance(x, bool) else with_kind(logical_not(value_of(x, "bool")), TRUTH)


def _both(x: Any, make: Callable[[], Any]) -> Any:
    if isinstance(x, bool):
        return make() if x else False
    y = make()
    if isinstance(y, bool):
        return x if y else False
    if type(y) is not TracedArray or y.shape:
        return y & x
    return with_kind(logical_and(x.value, value_of(y, "bool")), TRUTH)


def either(x: Any, y: Any) -> Any:
    """Whether one of two truth values holds."""
    if isinstance(x, bool):
        return True if x else y
    if isinstance(y, bool):
        return True if y else x
    return x | y if x.shape else with_kind(logical_or(value_of(x, "bool"), y.value), TRUTH)


# --- what is known to hold


def is_sure(value: Value) -> bool:
    """Whether a condition holds where the function is traced now."""
    return is_tracing() and (value, True) in current().outermost.sure


def result(signal: Signal | None) -> Any:
    """What a function returns whose last block was left so."""
    if signal is None or signal.result is MISSING:
        return None
    is_returned = signal.is_one_of(RETURN)
    return signal.result if is_returned is True or signal.result is None else or_none(is_returned, signal.result)


# --- one of two


def or_none(flag: Any, x: Any) -> OrNone:
    """Something if a flag holds, else None."""
    current().outermost.has_nones = True
    if type(x) is OrNone:
        return OrNone(_both(flag_of(x), lambda: flag), object_of(x))
    return OrNone(flag, x)


def none_or_other(join: Any, a: Any, b: Any, what: str) -> Recipe:
    """How to make what is None after one of two blocks, or may be; or a tuple of which an element is."""
    if type(a) is tuple and type(b) is tuple:
        pairs: Any = zip(cast("tuple[Any, ...]", a), cast("tuple[Any, ...]", b), strict=True)
        parts: list[Recipe] = [join.joined(x, y, what) for x, y in pairs]
        return lambda results: tuple([part(results) for part in parts])
    one, two = flag_of(a), flag_of(b)
    flag: Recipe
    if isinstance(one, bool) and isinstance(two, bool):
        condition = join.condition
        flag = (lambda _: True) if one is two else (
            lambda _: with_kind(condition if one else logical_not(condition), TRUTH)
        )  # fmt: skip
    else:
        flag = join.joined(one, two, "a flag")
    x, y = object_of(a), object_of(b)
    lone = x is MISSING or y is MISSING
    value = (join.lone(y, 1) if x is MISSING else join.lone(x, 0)) if lone else join.joined(x, y, what)

    def recipe(results: Values) -> Any:
        held = flag(results)
        return value(results) if held is True else or_none(held, value(results))

    return recipe


# --- operators


def _type_of(x: Any) -> str:
    """How Python calls the type of an operand."""
    if type(x) is not TracedArray:
        return cast("Any", type(x)).__name__
    if x.shape:
        return "numpy.ndarray"
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[x.type.kind]


def _operand(x: Any, other: Any, symbol: str, *, is_left: bool) -> Any:
    names = ("NoneType", _type_of(other)) if is_left else (_type_of(other), "NoneType")
    text = f"unsupported operand type(s) for {symbol}: {names[0]!r} and {names[1]!r}"
    if symbol in _COMPARISONS.values():
        text = f"{symbol!r} not supported between instances of {names[0]!r} and {names[1]!r}"
    return present(x, TypeError(text))


def _binary(apply: Callable[..., Any], symbol: str, *, is_left: bool = True) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        x = _operand(self, other, symbol, is_left=is_left)
        return apply(x, other) if is_left else apply(other, x)

    return method


def _unary(apply: Callable[..., Any], error: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        return apply(present(self, TypeError(error)), *args)

    return method


def _give_operators() -> None:
    made: dict[str, Callable[..., Any]] = {}
    for name, symbol in _OPERATORS.items():
        apply = getattr(operator, f"__{name}__")
        made[name], made[f"r{name}"] = _binary(apply, symbol), _binary(apply, symbol, is_left=False)
        made[f"i{name}"] = _binary(getattr(operator, f"__i{name}__"), f"{symbol}=")
    made["divmod"], made["rdivmod"] = _binary(divmod, "divmod()"), _binary(divmod, "divmod()", is_left=False)
    for name, symbol in _COMPARISONS.items():
        made[name] = _binary(getattr(operator, name), symbol)
    for name, symbol in _UNARY.items():
        made[name] = _unary(getattr(operator, name), f"bad operand type for {symbol}: 'NoneType'")
    for name, reason in _ITEMS.items():
        made[name] = _unary(getattr(operator, name), f"'NoneType' object {reason}")
    for name, apply in _FUNCTIONS.items():
        error = "object of type 'NoneType' has no len()" if name == "len" else f"{name}: 'NoneType' is no number"
        made[name] = _unary(apply, error)
    for name, method in made.items():
        setattr(OrNone, f"__{name}__", method)


_give_operators()
