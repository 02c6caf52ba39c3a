"""Frozen data classes that cost nothing to define: their methods are compiled when the first instance is made.

`dataclass` compiles five methods for each class where the class stands, half a millisecond each time: half of what
`import pliant` would take, for primitives of which a program uses a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from inspect import get_annotations
from typing import Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def frozen(cls: type[T]) -> type[T]:
    """The class as `dataclass(frozen=True)` makes it from annotations and defaults, to `fields` and `replace` too.

    Annotations are texts, as `from __future__ import annotations` leaves them; `field(…)` is not read. Methods that
    the class defines itself are kept.
    """
    known: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        known |= base.__dict__.get("__dataclass_fields__", {})
    for name, text in get_annotations(cls).items():
        if not text.startswith("ClassVar"):
            known[name] = made = field(default=getattr(cls, name, _FIELD.default))
            made.name, made.type, made.kw_only, made._field_type = name, text, False, _FIELD._field_type
    methods = {**_late(cls), "__repr__": _repr, "__setattr__": _refuse, "__delattr__": _refuse}
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:  # Python sets `__hash__` to None where there is an `__eq__`
            setattr(cls, name, method)
    for name, data in (("match_args", tuple(known)), ("dataclass_fields", known), ("dataclass_params", _OPTIONS)):
        setattr(cls, f"__{name}__", data)
    return cls


@dataclass(frozen=True)
class _Template:
    """What a field and the options of `dataclass(frozen=True)` look like."""

    a: Any


_FIELD: Final[Any] = fields(_Template)[0]
_OPTIONS: Final[Any] = vars(_Template)["__dataclass_params__"]


def _late(cls: type) -> dict[str, Callable[..., Any]]:
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
    stubs = {name: stub(name) for name in ("__eq__", "__hash__", "__init__")}
    return stubs


def _compiled(cls: type) -> dict[str, Any]:
    """The methods that differ from class to class, written out."""
    names = [f.name for f in fields(cls)]
    defaults = {f.name: f.default for f in fields(cls) if f.default is not _FIELD.default}
    given = "".join(f", {name}=defaults[{name!r}]" if name in defaults else f", {name}" for name in names)
    ours, theirs = ("(" + "".join(f"{x}.{name}, " for name in names) + ")" for x in ("self", "other"))
    source = [
        f"def __init__(self{given}):",
        *(f"    assign(self, {name!r}, {name})" for name in names),
        "    self.__post_init__()" if hasattr(cls, "__post_init__") else "    pass",
        "def __eq__(self, other):",
        f"    return {ours} == {theirs} if other.__class__ is self.__class__ else NotImplemented",
        "def __hash__(self):",
        f"    return hash({ours})",
    ]
    namespace: dict[str, Any] = {"assign": object.__setattr__, "defaults": defaults}
    exec("\n".join(source), namespace)
    return namespace


def _repr(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields(self))})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"{type(self).__name__} is frozen: {name!r} cannot change")
