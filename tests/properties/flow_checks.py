"""What must hold of a random program of loops and branches: each check returns None, or what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

import pliant
from pliant.errors import PliantError
from tests.properties.checks import Unsupported, differences, is_smooth, near
from tests.properties.flows import Flow
from tests.properties.programs import quiet
from tests.properties.writes import copying

LARGEST = 1e5
NOISE = 1e-13


class Skipped(Exception):
    """The program says nothing: Python refuses it, or rounding decides about its path."""


def leaves(tree: Any) -> list[Any]:
    """The results of a call, of whatever structure."""
    return optree.tree_leaves(tree, none_is_leaf=True)


def called(f: Any, inputs: list[Any]) -> list[Any]:
    """What a call returns, and what it leaves in its first two arguments."""
    with quiet():
        return [*leaves(f(*inputs)), *inputs[:2]]


def expected(flow: Flow, which: int = 0) -> list[Any]:
    """What Python does; Skipped if that is no number, or if arguments a little off make something else, or if it is
    another thing with what is assigned copied: see Note [what NumPy stores] in `writes`."""
    f = flow.function()
    try:
        wanted = called(f, flow.inputs(which))
        if not all(map(np.array_equal, wanted, called(flow.function(copying), flow.inputs(which)))):
            raise Skipped("NumPy reads what it has written")
        if np.dtype(flow.dtype).kind == "f":
            x, y, *rest = flow.inputs(which)
            nearby = called(f, [x * (1 + NOISE), y * (1 - NOISE), *rest])
        else:
            nearby = wanted
    except Exception as error:
        raise Skipped(str(error)) from error
    for a, b in [(a, b) for a, b in zip(wanted, nearby, strict=True) if a is not None and b is not None]:
        if not (np.all(np.isfinite(a)) and np.all(np.abs(a) < LARGEST)):
            raise Skipped("large numbers")
        if np.shape(a) != np.shape(b) or not np.allclose(a, b, 1e-6, 1e-8):
            raise Skipped("rounding decides")
    return wanted


def does_what_python_does(flow: Flow, backend: str) -> str | None:
    """Values, dtypes and shapes, and what is left in the arguments; for two sets of arguments."""
    f = pliant.jit(flow.function(), backend=backend)
    for which in (0, 1):
        try:
            wanted = expected(flow, which)
        except Skipped:
            if not which:
                raise
            continue
        try:
            got = called(f, flow.inputs(which))
        except PliantError as error:
            raise Unsupported(str(error)) from error
        except Exception as error:
            return f"{backend} raised {type(error).__name__}: {error}"
        wrong = differs(flow, got, wanted)
        if wrong:
            return f"{backend}, arguments {which}: {wrong}"
    return None


def _widest(x: Any) -> Any:
    """Numbers with all the digits there are."""
    return np.asarray(x, complex if np.iscomplexobj(x) else float)


def is_rough(flow: Flow) -> bool:
    """Whether it holds floats of single precision."""
    return "float32" in (flow.dtype + flow.source())


def differs(flow: Flow, got: list[Any], wanted: list[Any]) -> str | None:
    """How two calls differ."""
    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    tolerance = 1e-4 if is_rough(flow) else 1e-9
    names = ("s", *flow.results)
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        name = names[i] if i < len(names) and len(wanted) == len(names) + 2 else f"result {i}"
        if a is None or b is None:
            if a is not b:
                return f"{name}: got {a!r}, Python has {b!r}"
            continue
        if np.shape(a) != np.shape(b):
            return f"{name}: got {a!r}, Python has {b!r}"
        # a branch that is not taken may make an array's type wider; a Python number takes that of the others
        kinds: list[Any] = [np.asarray(b).dtype, np.asarray(a).dtype]
        if isinstance(b, np.generic | np.ndarray) and not np.can_cast(*kinds):
            return f"{name}: got {kinds[1]}, Python has {kinds[0]}"
        if not np.allclose(_widest(a), _widest(b), tolerance, tolerance, equal_nan=True):
            return f"{name}: got {a!r}, Python has {b!r}"
    return None


def derivatives_agree(flow: Flow, backend: str = "") -> str | None:
    """Tangents against differences, and cotangents against tangents."""
    if flow.dtype != "float64":
        return None
    expected(flow)
    loss, xs, ways = loss_of(flow)
    rough = 1e-5 if is_rough(flow) else 1e-8

    def losses(*xs: Any) -> Any:
        return (loss(*xs),)

    def pushed(xs: Any, ways: Any) -> Any:
        return pliant.jvp(loss, xs, ways)

    try:
        with quiet():
            coarse, fine = (differences(losses, xs, ways, h) for h in (1e-3, 5e-4))
    except Exception as error:
        raise Skipped(str(error)) from error
    try:
        with quiet():
            value, gradient = pliant.jit(pliant.value_and_grad(loss, (0, 1, 2)), backend=backend)(*xs)
            _, tangent = pliant.jit(pushed, backend=backend)(tuple(xs), tuple(ways))
    except PliantError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"derivatives raised {type(error).__name__}: {error}"
    if not near(value, loss(*xs), rough / 10, rough / 10):
        return f"value of the gradient {value!r}, Python has {loss(*xs)!r}"
    products: list[Any] = [np.vdot(g, d) for g, d in zip(gradient, ways, strict=True)]
    pulled = sum(products)
    if np.isfinite(pulled) and not near(tangent, pulled, rough, rough):  # what nobody reads may divide by zero
        return f"tangent {tangent!r}, by cotangents {pulled!r}"
    (a, ((b,), (kink,))) = coarse, fine
    if is_smooth((a[0][0], a[1][0]), (b, kink), 1e-6, 1e-7) and not near(tangent, b):
        return f"tangent {tangent!r}, differences {b!r}"
    return None


def second_derivatives_agree(flow: Flow) -> str | None:
    """The gradient's tangent against differences of the gradient; and against the gradient of the gradient's part along
    the same way, of the function as it is and of one that keeps no states of its loops."""
    if flow.dtype != "float64" or is_rough(flow):
        return None
    expected(flow)
    loss, xs, ways = loss_of(flow)
    every = (0, 1, 2)

    def along(f: Any) -> Any:
        def part(*xs: Any) -> Any:
            made: list[Any] = [np.sum(g * d) for g, d in zip(pliant.grad(f, every)(*xs), ways, strict=True)]
            return sum(made)

        return part

    try:
        with quiet():
            gradient = pliant.grad(loss, every)
            coarse, fine = (differences(gradient, xs, ways, h) for h in (1e-3, 5e-4))
            _, pushed = pliant.jvp(gradient, tuple(xs), tuple(ways))
            pulled = pliant.grad(along(loss), every)(*xs)
            again = pliant.jvp(pliant.grad(pliant.checkpoint(loss, save="sqrt"), every), tuple(xs), tuple(ways))[1]
            anew = pliant.grad(pliant.checkpoint(loss), every)(*xs)
            first = gradient(*xs)
    except PliantError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"second derivatives raised {type(error).__name__}: {error}"
    names = ("x", "y", "a")
    for name, t, r, c, g, h in zip(names, pushed, pulled, again, anew, first, strict=True):
        if np.all(np.isfinite(t)) and not near(r, t, 1e-7, 1e-7):
            return f"by {name}: reverse over reverse {r!r}, forward over reverse {t!r}"
        if np.all(np.isfinite(t)) and not near(c, t, 1e-7, 1e-7):
            return f"by {name}: of a checkpoint {c!r}, else {t!r}"
        if np.all(np.isfinite(h)) and not near(g, h, 1e-8, 1e-8):
            return f"by {name}: gradient of a checkpoint {g!r}, else {h!r}"
    for name, t, *a, b, kink in zip(names, pushed, *coarse, *fine, strict=True):
        if is_smooth(a, (b, kink), 1e-5, 1e-6) and np.all(np.isfinite(t)) and not near(t, b, 1e-4, 1e-5):
            return f"by {name}: second derivative {t!r}, differences {b!r}"
    return None


def loss_of(flow: Flow) -> tuple[Any, list[Any], list[Any]]:
    """A number made of all results, its three arguments, and a way to go from there."""
    f = flow.function()
    inputs = flow.inputs()
    rng = np.random.default_rng(flow.seed)
    ways = [rng.uniform(-1, 1, flow.shape), rng.uniform(-1, 1, flow.shape), 0.7]
    sizes = [np.size(r) for r in leaves(f(*flow.inputs()))]
    weights = [rng.uniform(-1, 1, size) for size in sizes]

    def loss(x: Any, y: Any, a: Any) -> Any:
        made = leaves(f(np.copy(x), np.copy(y), a, inputs[3], inputs[4]))
        return (
            sum([np.sum(np.real(np.ravel(r) * w)) for r, w in zip(made, weights, strict=True) if r is not None])
            + 0.0 * a
        )

    return loss, inputs[:3], ways


def batch_is_a_loop(flow: Flow) -> str | None:
    """A batch of arguments against calls one by one."""
    for which in (0, 1):
        expected(flow, which)
    f = flow.function()
    sets = [flow.inputs(which) for which in (0, 1)]
    xs, ys, scalars = np.stack([s[0] for s in sets]), np.stack([s[1] for s in sets]), np.array([s[2] for s in sets])

    def each(x: Any, y: Any, a: Any) -> Any:
        x, y = np.copy(x), np.copy(y)
        return [*[0.0 if r is None else r for r in leaves(f(x, y, a, 4, 0))], x, y]

    try:
        wanted = [
            np.stack(rows) for rows in zip(*[each(*row) for row in zip(xs, ys, scalars, strict=True)], strict=True)
        ]
    except Exception as error:
        raise Skipped(str(error)) from error
    try:
        with quiet():
            got = pliant.vmap(each)(xs, ys, scalars)
    except PliantError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"vmap raised {type(error).__name__}: {error}"
    return differs(
        flow, [np.asarray(g) for g in got], [w.astype(np.asarray(g).dtype) for g, w in zip(got, wanted, strict=True)]
    )
