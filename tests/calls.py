"""Forms of calls: functions with arguments, and what is said about their results."""

from __future__ import annotations

import collections
import dataclasses
import sys
from typing import Any

import numpy as np

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Line:
    """A container with attributes."""

    slope: Any
    offset: Any


def frames(call: Any) -> list[str]:
    """The Python functions that run during a call."""
    seen: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            seen.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen[1:]  # the first is `call` itself


def matrix() -> Any:
    return np.arange(12.0).reshape(3, 4)


def read_only() -> Any:
    x = matrix()
    x.flags.writeable = False
    return x


def write(x: Any, y: Any) -> None:
    x[1] += y[0]


def twice(x: Any) -> Any:
    x *= 2
    return x


def view_after_write(x: Any) -> Any:
    x[:, 0] = 7
    return x[:, :2], np.sum(x)


def checked(x: Any, limit: float) -> Any:
    if np.sum(x) > limit:
        raise ValueError("too large")
    return x + 1, np.sum(x)


def checked_write(x: Any, limit: float) -> Any:
    x[0] = 1.0
    if np.sum(x) > limit:
        raise ValueError("too large")
    return x[1:]


def halved(x: Any, times: int, limit: float) -> Any:
    y, n = x, 0.0
    while n < times:
        n, y = n + 1.0, y * 0.5
    return y, (x if limit > 2.0 else y), [y]


CALLS: dict[str, tuple[Any, Any]] = {
    "arrays": (lambda x, y, z: x + y * z, lambda: ((matrix(), matrix(), matrix()), {})),
    "python numbers": (lambda x, a, b: x * a + b, lambda: ((matrix(), 2.5, 3), {})),
    "python numbers out": (lambda a, b, c, d: (a * 2, b + 1, c * 1j, not d), lambda: ((2.5, 3, 1 + 2j, True), {})),
    "numpy numbers": (lambda x, a, b: x * a + b, lambda: ((matrix(), np.float32(2.5), np.int8(3)), {})),
    "strided": (lambda x: np.cumsum(x, axis=0), lambda: ((matrix()[:, ::2],), {})),
    "reversed": (lambda x: np.cumsum(x, axis=0), lambda: ((matrix()[::-1, ::-2],), {})),
    "column-major": (lambda x: np.cumsum(x, axis=0), lambda: ((np.asfortranarray(matrix()),), {})),
    "broadcast": (lambda x: np.cumsum(x, axis=0), lambda: ((np.broadcast_to(np.arange(4.0), (3, 4)),), {})),
    "strided complex": (lambda x: x + 1, lambda: (((matrix() * (1 + 2j))[::2, ::3],), {})),
    "strided bytes": (lambda x: x + x, lambda: ((np.arange(24, dtype="i1")[::-3],), {})),
    "empty": (lambda x: x + 1, lambda: ((np.ones((3, 0, 2)),), {})),
    "rank 0": (lambda x: x + 1, lambda: ((np.array(3.0),), {})),
    "read-only": (lambda x: x.T + 1, lambda: ((read_only(),), {})),
    "static": (lambda x, how, n: np.sum(x) if how == "sum" else x * n, lambda: ((matrix(), "sum", None), {})),
    "keywords": (
        lambda x, *, scale, shift: x * scale + shift,
        lambda: ((matrix(),), {"shift": 1.0, "scale": matrix()}),
    ),
    "dict": (lambda p: {"b": p["a"] @ p["b"].T}, lambda: (({"b": matrix(), "a": matrix()},), {})),
    "list": (lambda xs: [x + 1 for x in xs], lambda: (([matrix(), 2.0, matrix()],), {})),
    "nested": (
        lambda p: ((p["a"][0][0], [p["a"][1] + 1]), {}, None, ()),
        lambda: (({"a": ((matrix(),), matrix()), "n": None, 3: []},), {}),
    ),
    "named tuple": (lambda p: p.left - p.right, lambda: ((Pair(matrix(), 1.0),), {})),
    "named tuple out": (lambda x: Pair(x + 1, [x * 2]), lambda: ((matrix(),), {})),
    "dataclass": (
        lambda p, q: p.slope - p.offset + q[0].slope,
        lambda: ((Line(matrix(), 1.0), [Line(matrix(), None)]), {}),
    ),
    "identity": (lambda x: x, lambda: ((matrix(),), {})),
    "identities": (lambda x, y: (y, [x], x), lambda: ((matrix(), matrix()), {})),
    "views": (lambda x: (x[::2], x.T, x[1:, ::-1], x.reshape(-1), x[None]), lambda: ((matrix(),), {})),
    "a view twice": (lambda x: (y := x[::2], [y], x[::2]), lambda: ((matrix(),), {})),
    "views of strided": (lambda x: (x[::2], x.T, x[..., None]), lambda: ((matrix()[::-1, ::2],), {})),
    "views of read-only": (lambda x: (x[::2], np.broadcast_to(x, (2, 3, 4))), lambda: ((read_only(),), {})),
    "views of results": (lambda x: ((y := x + 1), y[::2], y.T), lambda: ((matrix(),), {})),
    "selected": (lambda x: (few := x[x > 8], [few], {"many": x[x > 2]}, x[x > 99]), lambda: ((matrix(),), {})),
    "selected rows": (lambda x, m: (x[m], x[:, 1:][m, None]), lambda: ((matrix(), np.arange(3) > 1), {})),
    "places": (lambda x: (np.flatnonzero(x > 7), np.flatnonzero(x > 3), np.unique(x % 3)), lambda: ((matrix(),), {})),
    "real and imaginary": (lambda z: (z.real, z.imag, z.view("f8")), lambda: ((matrix() * (1 + 2j),), {})),
    "write": (write, lambda: ((matrix(), matrix()), {})),
    "write strided": (write, lambda: ((matrix()[:, ::-2], matrix()[:, 1:3]), {})),
    "write and return": (twice, lambda: ((matrix(),), {})),
    "write strided and return": (twice, lambda: ((matrix().T,), {})),
    "view after write": (view_after_write, lambda: ((matrix(),), {})),
    "might raise": (checked, lambda: ((matrix(), 1e9), {})),
    "writes unless it raises": (checked_write, lambda: ((matrix()[:, ::2], 1e9), {})),
    "perhaps an argument": (halved, lambda: ((matrix(), 3, 3.0), {})),
    "the argument after all": (halved, lambda: ((matrix(), 0, 1.0), {})),
    "turned": (lambda x, y: (x, x.T, x[1:], x @ y), lambda: ((matrix().T, np.asfortranarray(matrix())), {})),
    "nothing": (lambda: None, lambda: ((), {})),
    "constants": (lambda x: ("text", 3, x), lambda: ((matrix(),), {})),
    "long": (lambda x, y: (np.sqrt(x) @ y, x[::2]), lambda: ((np.ones((400, 300)), np.ones((600, 20))[::2]), {})),
}


def same(made: Any, wanted: Any) -> None:
    """Equal values, types, layout and flags."""
    assert type(made) is type(wanted)
    if isinstance(wanted, tuple | list):
        assert len(made) == len(wanted)
        for m, w in zip(made, wanted, strict=True):
            same(m, w)
    elif isinstance(wanted, Line):
        same(vars(made), vars(wanted))
    elif isinstance(wanted, dict):
        assert list(made) == list(wanted)
        same(list(made.values()), list(wanted.values()))
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(made, wanted, strict=True)
        assert made.flags.writeable == wanted.flags.writeable
        steps = [(m, w) for m, w, n in zip(made.strides, wanted.strides, wanted.shape, strict=True) if n > 1]
        assert all(m == w for m, w in steps) or wanted.base is None
    else:
        assert made == wanted
