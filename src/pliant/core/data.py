"""Data classes that cost nothing to define: their methods are compiled when the first instance is made.

`dataclass` compiles five methods for each class where the class stands, half a millisecond each time: half of what
`import pliant` would take, for classes of which a program uses a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from inspect import get_annotations
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T], /) -> type[T]: ...
@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
def frozen(cls: Any = None, /, *, eq: bool = True) -> Any:
    """The class as `dataclass(frozen=True, eq=eq)` makes it, also to `fields` and `replace`.

    Annotations are texts, as `from __future__ import annotations` leaves them. Methods that the class defines itself
    are kept.
    """
    return partial(_made, _Frozen, eq) if cls is None else _made(_Frozen, eq, cls)


@overload
@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[T], /) -> type[T]: ...
@overload
@dataclass_transform(field_specifiers=(field,))
def mutable(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
def mutable(cls: Any = None, /, *, eq: bool = True) -> Any:
    """The class as `dataclass(eq=eq)` makes it, as `frozen` does."""
    return partial(_made, _Mutable, eq) if cls is None else _made(_Mutable, eq, cls)


@dataclass(frozen=True)
class _Frozen:
    """What a field and the options of `dataclass(frozen=True)` look like."""

    a: Any


@dataclass
class _Mutable:
    """What the options of `dataclass` look like."""

    a: Any


_FIELD: Final[Any] = fields(_Frozen)[0]
_Field: Final[Any] = Field


def _made(like: type, eq: bool, cls: Any) -> Any:
    known: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        known |= base.__dict__.get("__dataclass_fields__", {})
    for name, text in get_annotations(cls).items():
        if not text.startswith("ClassVar"):
            known[name] = _field(cls, name, text)
    compared = {"__eq__": None, "__hash__": None} if eq else {}
    methods: dict[str, Any] = {**_late(cls, ("__init__", *compared)), "__repr__": _repr}
    if like is _Frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    elif eq:
        methods["__hash__"] = None
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:  # Python sets `__hash__` to None where there is an `__eq__`
            setattr(cls, name, method)
    options = vars(like)["__dataclass_params__"]
    for name, data in (("match_args", tuple(known)), ("dataclass_fields", known), ("dataclass_params", options)):
        setattr(cls, f"__{name}__", data)
    return cls


def _field(cls: type, name: str, text: str) -> Any:
    """What `dataclass` knows of a field: what stands behind it is its default, or says more than one."""
    given: Any = getattr(cls, name, MISSING)
    is_field = isinstance(given, _Field)
    made: Any = given if is_field else field(default=given)
    made.name, made.type, made.kw_only, made._field_type = name, text, False, _FIELD._field_type
    if is_field and made.default is MISSING:
        delattr(cls, name)
    elif is_field:
        setattr(cls, name, made.default)
    return made


def _late(cls: type, names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    """The methods that differ from class to class: the first call of any compiles all, and they step aside."""

    def stub(name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            compiled = _compiled(cls)
            for each, late in stubs.items():
                if cls.__dict__[each] is late:
                    setattr(cls, each, compiled[each])
            return compiled[name](self, *args, **kwargs)

        return method

    # `__init__` last: another thread that finds the compiled one finds the others too
    stubs = {name: stub(name) for name in sorted(names)}
    return stubs


def _compiled(cls: type) -> dict[str, Any]:
    """The methods that differ from class to class, written out."""
    known = fields(cls)
    defaults = {f.name: f.default for f in known if f.default is not MISSING}
    factories: dict[str, Any] = {f.name: f.default_factory for f in known if f.default_factory is not MISSING}
    given = "".join(
        f", {name}=_defaults[{name!r}]" if name in defaults else f", {name}" + "=_MISSING" * (name in factories)
        for name in (f.name for f in known)
    )
    is_frozen = cls.__setattr__ is _refuse
    taken = {
        f.name: f"_factories[{f.name!r}]() if {f.name} is _MISSING else {f.name}" if f.name in factories else f.name
        for f in known
    }
    assigned = "_assign(self, {0!r}, {1})" if is_frozen else "self.{0} = {1}"
    compared = [f.name for f in known if f.compare]
    hashed = [f.name for f in known if (f.compare if f.hash is None else f.hash)]
    ours, theirs, mixed = (
        "(" + "".join(f"{x}.{name}, " for name in names) + ")"
        for x, names in (("self", compared), ("other", compared), ("self", hashed))
    )
    source = [
        f"def __init__(self{given}):",
        *("    " + assigned.format(name, value) for name, value in taken.items()),
        "    self.__post_init__()" if hasattr(cls, "__post_init__") else "    pass",
        "def __eq__(self, other):",
        f"    return {ours} == {theirs} if other.__class__ is self.__class__ else NotImplemented",
        "def __hash__(self):",
        f"    return hash({mixed})",
    ]
    namespace = {"_assign": object.__setattr__, "_defaults": defaults, "_factories": factories, "_MISSING": MISSING}
    exec("\n".join(source), namespace)
    return namespace


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"{type(self).__name__} is frozen: {name!r} cannot change")
