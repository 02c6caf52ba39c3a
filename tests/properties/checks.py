"""What must hold of a random program: each check returns None, or what is wrong."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np

import pliant
from pliant.core.parse import parse
from pliant.core.verify import verify
from pliant.errors import IndexRangeError, ShapeError, UnsupportedError
from pliant.ops import ALL
from pliant.pipeline import DEFAULT_RULES, optimise
from tests.properties.forced import forced
from tests.properties.programs import Effects, Program, call, quiet, spread, widened

BACKENDS = ("reference", "llvm")
ALLOWED = 30  # times the spread of the noisy runs


class Unsupported(Exception):
    """The program holds something that Pliant says it does not compile."""


def compiled_equals_numpy(program: Program, backend: str) -> str | None:
    """Values, dtypes, shapes, kinds, effects on arguments and shared memory."""
    wanted = call(program.function(), program.inputs())
    f = pliant.jit(program.function(), backend=backend)
    try:
        got = call(f, program.inputs())
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except (IndexRangeError, ShapeError) as error:
        if any(np.size(x) == 0 for x in program.inputs()):
            return None  # where nothing is read or written, NumPy often does not look
        return f"{backend} raised {type(error).__name__}: {error}"
    except Exception as error:
        return f"{backend} raised {type(error).__name__}: {error}"
    wrong = differs(program, got, wanted)
    for number in ("second", "third"):  # the second finds the program compiled, the third a C-level entry
        try:
            wrong = wrong or differs(program, call(f, program.inputs()), wanted)
        except Exception as error:
            return f"{backend}, {number} call, raised {type(error).__name__}: {error}"
    return wrong and f"{backend}: {wrong}"


def searched_is_compiled(program: Program) -> str | None:
    """What an e-graph of the rules that never lose accuracy finds is what every compilation makes."""
    try:
        wanted = call(pliant.jit(program.function()), program.inputs())
        got = call(pliant.optimize(program.function(), DEFAULT_RULES), program.inputs())
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except (IndexRangeError, ShapeError) as error:
        if any(np.size(x) == 0 for x in program.inputs()):
            return None
        return f"optimize raised {type(error).__name__}: {error}"
    except Exception as error:
        return f"optimize raised {type(error).__name__}: {error}"
    return differs(program, got, wanted)


def equalities_hold(program: Program) -> str | None:
    """What an e-graph of all rules finds is what NumPy does, where that is a number and rounding does not decide."""
    wanted, off = call(program.function(), program.inputs()), spread(program)
    try:
        got = call(pliant.optimize(program.function()), program.inputs())
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"optimize raised {type(error).__name__}: {error}"
    names = (*program.results, *(f"argument {n}" for n, _ in program.arguments))
    for i, (name, x, y) in enumerate(zip(names, got.arrays, wanted.arrays, strict=True)):
        wrong = _kind(x, y)
        if wrong:
            return f"{name}: {wrong}"
        if off[i] is None or np.asarray(y).dtype.kind not in "fc":
            continue  # rounding decides about it
        known = np.isfinite(np.asarray(y)) & np.isfinite(off[i])
        a, b, noise = [np.where(known, v, 0) for v in (x, y, off[i])]
        if np.any(np.abs(a - b) > 1e-6 * (1 + np.abs(b)) + 1e6 * noise):
            return f"{name}: got {x!r}, NumPy has {y!r}"
    return None


def threads_do_not_matter(program: Program) -> str | None:
    """However many threads there are, a program whose every nest is in parts does what NumPy does, bit for bit
    the same."""
    f = pliant.jit(program.function())
    with forced(("parts",)), suppress(IndexRangeError, ShapeError):  # where NumPy does not look
        wrong, first = compiled_equals_numpy(program, "llvm"), None
        for count in (1, 2, 3, 8) if wrong is None else ():
            pliant.threads(count)
            made = call(f, program.inputs())
            bits = [np.asarray(x).tobytes() for x in made.arrays]
            first = first or bits
            wrong = wrong or (None if bits == first else f"differs between 1 and {count} threads")
        return wrong
    return None


def captured_equals_numpy(program: Program, backend: str) -> str | None:
    """The same with the first array met outside instead of given: read anew at every call, written in place."""
    name, _ = program.arguments[0]
    ours, theirs = program.inputs(), program.inputs()
    if len(ours) < 2 or not isinstance(ours[0], np.ndarray):
        return None
    f = program.function(captured={name: ours[0]})
    if name in f.__code__.co_varnames:
        return None  # `x += y` makes x a local variable
    wanted = call(program.function(), theirs)
    try:
        made = call(pliant.jit(f, backend=backend), ours[1:])
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"{backend}, {name} captured, raised {type(error).__name__}: {error}"
    wrong = differs(program, Effects(made.results, (ours[0], *made.inputs)), wanted)
    return wrong and f"{backend}, {name} captured: {wrong}"


def differs(program: Program, got: Effects, wanted: Effects) -> str | None:
    """How two calls differ beyond rounding, or None."""
    names = (*program.results, *(f"argument {n}" for n, _ in program.arguments))
    off: list[Any] | None = None
    for i, (name, x, y) in enumerate(zip(names, got.arrays, wanted.arrays, strict=True)):
        kind = _kind(x, y)
        if kind:
            return f"{name}: {kind}"
        if not _equal(x, y):
            off = spread(program) if off is None else off
            if not _within(off[i], x, y):
                return f"{name}: got {x!r}, NumPy has {y!r}"
    for i, j, shared, expected in _memory(got, wanted):
        if shared != expected and not (expected and looks_at_traced_places(program)):
            return f"{names[i]} and {names[j]} {'share' if shared else 'do not share'} memory"
    return None


def looks_at_traced_places(program: Program) -> bool:
    """Whether an index is an integer of the program: views of such places are returned as copies."""
    return any(re.search(r"\[[^\]]*⟦", line.text) for line in program.lines)


def _memory(got: Effects, wanted: Effects) -> Any:
    """(i, j, whether results of ours share memory, of NumPy's) for each result with each other array."""
    for i in range(len(got.results)):
        for j in range(i + 1, len(got.arrays)):
            pairs = (got.arrays[i], got.arrays[j]), (wanted.arrays[i], wanted.arrays[j])
            if all(isinstance(a, np.ndarray) for pair in pairs for a in pair):
                yield i, j, *(np.shares_memory(a, b) for a, b in pairs)


def _kind(x: Any, y: Any) -> str | None:
    """How type, dtype or shape differ."""
    if type(x) is not type(y):
        return f"is a {type(x).__name__}, NumPy has a {type(y).__name__}: {x!r}, {y!r}"
    if isinstance(y, np.ndarray) and (x.dtype, x.shape) != (y.dtype, y.shape):
        return f"is {x.dtype}{list(x.shape)}, NumPy has {y.dtype}{list(y.shape)}"
    return None


def _equal(x: Any, y: Any) -> bool:
    return bool(np.all((np.asarray(x) == np.asarray(y)) | ((x != x) & (y != y))))


def _within(off: Any, x: Any, y: Any) -> bool:
    """Whether x is as near to y as rounding lets it be."""
    if off is None:
        return True  # rounding even decides about shapes or errors
    a, b = np.asarray(x), np.asarray(y)
    if b.dtype.kind in "biu":
        return bool(np.all((a == b) | (off > 0)))
    eps = np.finfo(b.dtype).eps
    distance = widened(np.zeros(b.shape), a, b)
    with quiet():
        scale = np.where(np.isfinite(b), np.abs(b), 0).astype(float)
        allowed = ALLOWED * np.asarray(off) + 8 * eps * scale + 4 * float(np.finfo(b.dtype).tiny)
        if b.dtype.kind == "c":  # infinities and NaN of complex products follow no standard
            distance = np.where(np.isfinite(a) & np.isfinite(b), distance, 0)
    return bool(np.all(distance <= allowed))


def text_round_trips(program: Program) -> str | None:
    """Printed programs parse to themselves, before and after optimisation; both are well formed."""
    try:
        with quiet():
            fn = pliant.trace(program.function(), *program.inputs())
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"trace raised {type(error).__name__}: {error}"
    try:
        for which, made in (("traced", fn), ("optimised", optimise(fn))):
            verify(made)
            if parse(str(made), ALL) != made:
                return f"parse(print) of the {which} program is another one:\n{made}"
    except Exception as error:
        return f"printing or parsing raised {type(error).__name__}: {error}\n{fn}"
    return None


# --- derivatives


def _parts(program: Program) -> tuple[Any, list[Any], list[int]]:
    """The function, its inputs, and which of them are floats."""
    inputs = program.inputs()
    active = [i for i, x in enumerate(inputs) if np.asarray(x).dtype.kind in "fc"]
    return program.function(), inputs, active


def _direction(x: Any, rng: np.random.Generator) -> Any:
    d = rng.uniform(-1, 1, np.shape(x))
    return d + 1j * rng.uniform(-1, 1, np.shape(x)) if np.asarray(x).dtype.kind == "c" else d


def _copy(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _restricted(f: Any, inputs: list[Any], active: list[int]) -> Any:
    """f as a function of its float arguments that returns its float results."""

    rest = [None if i in active else x for i, x in enumerate(inputs)]  # else each would be captured and given

    def g(*xs: Any) -> Any:
        full = [_copy(x) for x in rest]
        for i, x in zip(active, xs, strict=True):
            full[i] = x
        made = [y if hasattr(y, "dtype") else np.asarray(y) for y in f(*full)]
        return tuple(y for y in made if y.dtype.kind in "fc")

    return g


def _floats(results: Any) -> list[Any]:
    return [np.asarray(y) for y in results if np.asarray(y).dtype.kind in "fc"]


def differences(f: Any, xs: list[Any], dxs: list[Any], step: float) -> tuple[list[Any], list[Any]]:
    """Derivatives of the float results of f along dxs, by five points; and how far the two sides' slopes are apart."""

    def at(t: float) -> list[Any]:
        with quiet():
            return _floats(f(*[_moved(x, t * d) for x, d in zip(xs, dxs, strict=True)]))

    points = [*zip(*(at(t * step) for t in (-2, -1, 0, 1, 2)), strict=True)]
    slopes = [(a - 8 * b + 8 * c - d) / (12 * step) for a, b, _, c, d in points]
    return slopes, [np.abs(b - 2 * m + c) / step for _, b, m, c, _ in points]


def is_smooth(coarse: Any, fine: Any, rtol: float, atol: float) -> bool:
    """Whether differences tell the derivative: nearer points say the same, and both sides' slopes meet."""
    (a, kink), (b, smaller) = coarse, fine
    if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return False
    return near(a, b, rtol, atol) and bool(np.all(smaller <= 0.7 * kink + 1e-7 * (1 + np.abs(b))))


def _moved(x: Any, d: Any) -> Any:
    """x + d as what x is: an array of its layout, a NumPy scalar, a Python number."""
    if isinstance(x, np.ndarray):
        if not x.flags.writeable or not x.size:
            return (x + d).astype(x.dtype)
        low, high = np.lib.array_utils.byte_bounds(x)
        made = np.ndarray(x.shape, x.dtype, bytearray(high - low), x.ctypes.data - low, x.strides)
        made[...] = x + d
        return made
    return type(x)(x + d)


def near(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-6) -> bool:
    scale = 1 + (np.max(np.abs(b)) if np.size(b) else 0)
    return bool(np.all(np.abs(a - b) <= rtol * np.abs(b) + atol * scale))


def derivatives_agree(program: Program, backend: str) -> str | None:
    """jvp against differences, vjp against jvp, hvp against differences of the gradient."""
    f, inputs, active = _parts(program)
    if not active:
        return None
    rng = np.random.default_rng(program.seed)
    xs = [inputs[i] for i in active]
    dxs = [_direction(x, rng) for x in xs]

    def oracle(*ys: Any) -> Any:
        full = [_copy(x) for x in inputs]
        for i, y in zip(active, ys, strict=True):
            full[i] = y
        return f(*full)

    try:
        coarse, fine = differences(oracle, xs, dxs, 1e-3), differences(oracle, xs, dxs, 5e-4)
    except Exception:
        return None  # outside the domain a step away
    g = _restricted(f, inputs, active)
    try:
        with quiet():
            ys, dys = pliant.jvp(g, tuple(xs), tuple(dxs))
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"jvp raised {type(error).__name__}: {error}"
    for n, (dy, *a, b, kink) in enumerate(zip(dys, *coarse, *fine, strict=True)):
        if is_smooth(a, (b, kink), 1e-6, 1e-7) and np.all(np.isfinite(dy)) and not near(dy, b):
            return f"jvp of float result {n} along {dxs}: got {dy!r}, differences {b!r}"
    is_spectral = any(t in program.source() for t in ("eigvalsh", "svd", "pinv", "det("))  # may be degenerate
    is_narrow = any(t in program.source() for t in ("float16", "float32", "complex64"))  # on the way
    return _reverse(g, xs, dxs, ys, dys, rng, is_narrow) or _second(g, xs, dxs, ys, rng, is_spectral)


def _inner(a: Any, b: Any) -> float:
    return float(sum(np.vdot(x, y).real for x, y in zip(a, b, strict=True)))


def _reverse(g: Any, xs: Any, dxs: Any, ys: Any, dys: Any, rng: Any, is_narrow: bool) -> str | None:
    """⟨ct, J dx⟩ = ⟨Jᵀ ct, dx⟩."""
    cts = tuple(np.asarray(_direction(y, rng), np.asarray(y).dtype) for y in ys)
    try:
        with quiet():
            _, pullback = pliant.vjp(g, *xs)
            back = pullback(cts)
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"vjp raised {type(error).__name__}: {error}"
    for x, b in zip(xs, back, strict=True):
        if np.shape(x) != np.shape(b) or np.asarray(x).dtype != np.asarray(b).dtype:
            return f"cotangent {b!r} for {x!r}"
    finite = all(np.all(np.isfinite(y)) for y in (*dys, *back))
    forward, reverse = _inner(cts, dys), _inner(back, dxs)
    scale = 1 + sum(float(np.sum(np.abs(np.asarray(c) * np.asarray(d)))) for c, d in zip(cts, dys, strict=True))
    is_narrow |= any(np.asarray(y).dtype.itemsize < (16 if np.asarray(y).dtype.kind == "c" else 8) for y in ys)
    if finite and not is_narrow and abs(forward - reverse) > 1e-8 * scale:
        return f"<ct, J dx> = {forward}, <Jt ct, dx> = {reverse}"
    return None


def _second(g: Any, xs: Any, dxs: Any, ys: Any, rng: Any, is_spectral: bool) -> str | None:
    """Derivatives of the gradient of a loss along dxs, against differences."""
    if any(np.asarray(y).dtype not in (np.float64, np.complex128) for y in ys) or not ys or is_spectral:
        return None
    weights = [rng.uniform(-1, 1, np.shape(y)) for y in ys]

    def loss(*xs: Any) -> Any:
        return sum(np.sum(w * np.real(y) + 0.5 * np.imag(y)) for w, y in zip(weights, g(*xs), strict=True))

    gradient = pliant.grad(loss, tuple(range(len(xs))))
    try:
        with quiet():
            _, got = pliant.jvp(gradient, tuple(xs), tuple(dxs))
            coarse, fine = (differences(gradient, xs, dxs, h) for h in (1e-3, 5e-4))
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"second derivatives raised {type(error).__name__}: {error}"
    for n, (dy, *a, b, kink) in enumerate(zip(got, *coarse, *fine, strict=True)):
        if is_smooth(a, (b, kink), 1e-5, 1e-6) and np.all(np.isfinite(dy)) and not near(dy, b, 1e-4, 1e-5):
            return f"second derivative in argument {n}: got {dy!r}, differences {b!r}"
    return None


def transformations_nest(program: Program, backend: str) -> str | None:
    """Gradients inside compiled functions and batches are those outside; jacobians agree in both modes."""
    f, inputs, active = _parts(program)
    if not active or any(isinstance(x, np.ndarray) and x.ndim == 0 for x in inputs):
        return None
    xs = [np.array(inputs[i], np.asarray(inputs[i]).dtype)[()] for i in active]  # rows of a batch are no arrays either
    g = _restricted(f, inputs, active)
    rng = np.random.default_rng(program.seed)

    def loss(*ys: Any) -> Any:
        return sum(np.sum(np.real(y) * 0.5 + np.imag(y) ** 2) for y in g(*ys)) + 0.0 * np.real(ys[0]).sum()

    every = tuple(range(len(xs)))
    others = [x + 0.1 * _direction(x, rng) for x in xs]
    try:
        with quiet():
            plain = pliant.grad(loss, every)(*xs)
            inside = pliant.jit(lambda *ys: pliant.grad(loss, every)(*ys))(*xs)
            rows = pliant.vmap(pliant.grad(loss, every))(*(np.stack([x, y]) for x, y in zip(xs, others, strict=True)))
            again = pliant.grad(loss, every)(*others)
            is_small = all(x.size <= 20 and x.dtype == np.float64 for x in xs)
            modes = [
                pliant.jacobian(lambda x: loss(x, *xs[1:]), mode=m)(xs[0]) for m in ("forward", "reverse") if is_small
            ]
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        return f"nested transformations raised {type(error).__name__}: {error}"
    laws = [("jit of grad", a, b) for a, b in zip(inside, plain, strict=True)]
    laws += [("vmap of grad", r, np.stack([a, b])) for r, a, b in zip(rows, plain, again, strict=True)]
    laws += [("jacobian by mode", m, plain[0]) for m in modes]
    for law, a, b in laws:
        if np.shape(a) != np.shape(b):
            return f"{law}: shape {np.shape(a)}, wanted {np.shape(b)}"
        if np.all(np.isfinite(b)) and not near(a, b, 1e-8, 1e-10):
            return f"{law}: got {a!r}, wanted {b!r}"
    return None


# --- batches


def batch_is_a_loop(program: Program, backend: str) -> str | None:
    """vmap over stacked arguments gives what a loop over the compiled function gives."""
    f, inputs, _ = _parts(program)
    rng = np.random.default_rng(program.seed)
    if any(isinstance(x, np.ndarray) and x.ndim == 0 for x in inputs):
        return None  # a row of a vector is a scalar, no 0-d array
    mapped = [bool(rng.random() < 0.75) for _ in inputs]
    if not any(mapped):
        mapped[0] = True
    rows = [[_varied(x, n) if m else x for x, m in zip(inputs, mapped, strict=True)] for n in range(3)]
    stacked = [
        np.stack([r[i] for r in rows]) if m else _contiguous(x)
        for i, (x, m) in enumerate(zip(inputs, mapped, strict=True))
    ]
    axes = tuple(0 if m else None for m in mapped)
    try:
        rows = [[s[n] if m else _copy(s) for s, m in zip(stacked, mapped, strict=True)] for n in range(3)]
        loop = [call(f, [_copy(x) for x in row]).results for row in rows]
        wanted = [np.stack([made[i] for made in loop]) for i in range(len(loop[0]))]
    except Exception:
        return None  # this program does not run on every row
    try:
        with quiet():
            got = pliant.vmap(f, axes)(*stacked)
    except UnsupportedError as error:
        raise Unsupported(str(error)) from error
    except Exception as error:
        if isinstance(error, IndexRangeError | ShapeError) and any([np.size(x) == 0 for x in inputs]):
            return None  # where nothing is read or written, NumPy often does not look
        return f"vmap over {axes} raised {type(error).__name__}: {error}"
    for name, x, y in zip(program.results, got, wanted, strict=True):
        if np.shape(x) != y.shape or (np.asarray(x).dtype != y.dtype and not _is_weak(program)):
            return f"vmap over {axes}: {name} is {np.asarray(x).dtype}{np.shape(x)}, a loop has {y.dtype}{y.shape}"
        if _equal(x, y):
            continue
        off = [spread(_at(program, row)) for row in rows]
        index = program.results.index(name)
        if not all(_within(o[index], x[n], y[n]) for n, o in enumerate(off)):
            return f"vmap over {axes}: {name} is {x!r}, a loop has {y!r}"
    return None


def _is_weak(program: Program) -> bool:
    """Whether an argument is a Python number, whose dtype is decided by what it meets."""
    return any(type(x) in (int, float, complex, bool) for x in program.inputs())


def _contiguous(x: Any) -> Any:
    """Arrays in row-major order: a batch does not know the strides of its rows."""
    return x.copy() if isinstance(x, np.ndarray) else x


def _varied(x: Any, n: int) -> Any:
    """Other numbers for the n-th row."""
    a = np.asarray(x)
    if a.dtype.kind == "b" or n == 0:
        return np.logical_xor(a, n % 2) if a.dtype.kind == "b" else a
    if a.dtype.kind in "iu":
        return np.roll(a, n)
    return (np.roll(a, n) * a.dtype.type(1 + n / 8)).astype(a.dtype)


class _Given(Program):
    """A program with its arguments given as values."""


def _at(program: Program, row: list[Any]) -> Program:
    made = _Given(program.arguments, program.lines, program.results, program.seed)
    object.__setattr__(made, "inputs", lambda: [_copy(x) for x in row])
    return made
