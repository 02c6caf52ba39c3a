"""LLVM code for elementwise primitives: a table from the primitive's name, per kind of dtype.

A scalar is the text of an LLVM value; a complex one is a pair. f16 is computed in f32 and rounded
after each primitive, as NumPy does.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from pliant.core.ir import Number, Op
from pliant.core.types import REAL_OF, Type

Val: TypeAlias = "str | tuple[str, str]"

LLVM = {"bool": "i1", "f16": "half", "f32": "float", "f64": "double", "c64": "float", "c128": "double"}
VECTOR_MATH = frozenset(
    "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 sin sinh tan tanh "
    "atan2 hypot pow".split()
)


class Writer(Protocol):
    """What the table needs of an emitter."""

    def op(self, text: str) -> str:
        """Append an instruction; the name of its value."""
        ...

    def call(self, name: str, dtype: str, *args: str) -> str:
        """Call a function of libm, or an intrinsic, on floats of one dtype."""
        ...


def llvm_type(dtype: str) -> str:
    """The LLVM type of a scalar; of one part for a complex dtype."""
    return LLVM.get(dtype) or f"i{dtype[1:]}"


def literal(value: Number, dtype: str) -> Val:
    """The text of a constant."""
    if dtype[0] == "c":
        z, part = complex(value), REAL_OF[dtype]
        return _float(z.real, part), _float(z.imag, part)
    if dtype[0] == "f":
        return _float(float(value.real), dtype)
    if dtype == "bool":
        return "true" if value else "false"
    bits = int(dtype[1:])
    whole = int(value.real) & ((1 << bits) - 1)
    return str(whole - (1 << bits) if whole >> (bits - 1) else whole)


def _float(x: float, dtype: str) -> str:
    if dtype == "f16":
        try:
            return "0xH" + struct.pack(">e", x).hex().upper()
        except OverflowError:
            return "0xH" + struct.pack(">e", math.copysign(math.inf, x)).hex().upper()
    if dtype == "f32":
        try:
            (x,) = struct.unpack("f", struct.pack("f", x))
        except OverflowError:
            x = math.copysign(math.inf, x)
    return "0x" + struct.pack(">d", x).hex().upper()


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether the table has code for a primitive on operands of these types."""
    dtypes = tuple([t.dtype for t in types])
    if op.name == "convert":
        made = op.infer(types[0])
        # Rounding f64 to f16 takes a library call that is not there; by way of f32 it rounds twice.
        return isinstance(made, Type) and not (made.dtype == "f16" and dtypes[0] in ("f64", "c128"))
    return _rule(op.name, dtypes) is not None


def apply(w: Writer, op: Op, made: str, dtypes: tuple[str, ...], args: tuple[Val, ...]) -> Val:
    """Emit a primitive on scalars."""
    if op.name == "convert":
        return convert(w, dtypes[0], made, args[0])
    rule = _rule(op.name, dtypes)
    assert rule, f"no code for {op.name} on {dtypes}"
    if "f16" in dtypes and op.name != "select":
        wide = [convert(w, d, "f32", a) if d == "f16" else a for d, a in zip(dtypes, args, strict=True)]
        out = rule(w, "f32", *wide)
        return (
            convert(w, "f32", made, out) if made == "f16" else convert(w, "f32", "c64", out) if made == "c64" else out
        )
    return rule(w, dtypes[-1], *args)


def _rule(name: str, dtypes: tuple[str, ...]) -> Callable[..., Val] | None:
    kind = dtypes[-1][0]
    if name == "nextafter" and "f16" in dtypes:
        return None  # the next f32 is not the next f16
    return TABLE.get(name, {}).get(kind)


# Conversion


def convert(w: Writer, a: str, b: str, x: Val) -> Val:
    """A number in another dtype, as C converts on x86."""
    if a == b:
        return x
    if a[0] == "c":
        assert isinstance(x, tuple)
        part = REAL_OF[a]
        if b[0] == "c":
            return convert_real(w, part, REAL_OF[b], x[0]), convert_real(w, part, REAL_OF[b], x[1])
        if b == "bool":
            return w.op(f"or i1 {nonzero(w, part, x[0])}, {nonzero(w, part, x[1])}")
        return convert_real(w, part, b, x[0])
    assert isinstance(x, str)
    if b[0] == "c":
        return convert_real(w, a, REAL_OF[b], x), _float(0.0, REAL_OF[b])
    return convert_real(w, a, b, x)


def convert_real(w: Writer, a: str, b: str, x: str) -> str:
    """A real number in another real dtype."""
    if a == b:
        return x
    if b == "bool":
        return nonzero(w, a, x)
    ta, tb = llvm_type(a), llvm_type(b)
    if a[0] == "f" and b[0] == "f":
        return w.op(f"{'fpext' if int(a[1:]) < int(b[1:]) else 'fptrunc'} {ta} {x} to {tb}")
    if a[0] == "f":
        return _float_to_int(w, a, b, x)
    if b == "f16":
        return convert_real(w, "f32", "f16", convert_real(w, a, "f32", x))
    if b[0] == "f":
        return w.op(f"{'sitofp' if a[0] == 'i' else 'uitofp'} {ta} {x} to {tb}")
    if a != "bool" and int(a[1:]) >= int(b[1:]):
        return x if a[1:] == b[1:] else w.op(f"trunc {ta} {x} to {tb}")
    return w.op(f"{'sext' if a[0] == 'i' else 'zext'} {ta} {x} to {tb}")


def _float_to_int(w: Writer, a: str, b: str, x: str) -> str:
    if a == "f16":
        return _float_to_int(w, "f32", b, convert_real(w, "f16", "f32", x))
    # Out of range is poison in LLVM and "the least number" on x86: freeze keeps the latter.
    via = {"i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "u32": "i64"}.get(b, b)
    how = "fptoui" if via == "u64" else "fptosi"
    raw = w.op(f"{how} {llvm_type(a)} {x} to {llvm_type(via)}")
    return convert_real(w, via, b, w.op(f"freeze {llvm_type(via)} {raw}"))


def nonzero(w: Writer, dtype: str, x: str) -> str:
    """Whether a real number differs from 0."""
    if dtype == "bool":
        return x
    if dtype[0] == "f":
        return w.op(f"fcmp une {llvm_type(dtype)} {x}, {_float(0.0, dtype)}")
    return w.op(f"icmp ne {llvm_type(dtype)} {x}, 0")


# Rules: (writer, dtype, operands) -> value


def plain(name: str) -> Callable[..., Val]:
    """One instruction on two operands."""
    return lambda w, d, x, y: w.op(f"{name} {llvm_type(d)} {x}, {y}")


def libm(name: str) -> Callable[..., Val]:
    """A function of libm."""
    return lambda w, d, *xs: w.call(name, d, *xs)


def intrinsic(name: str) -> Callable[..., Val]:
    """An intrinsic on floats."""
    return lambda w, d, *xs: w.call(f"llvm.{name}.{'f32' if d == 'f32' else 'f64'}", d, *xs)


def whole(name: str) -> Callable[..., Val]:
    """A two-operand intrinsic on whole numbers, signed or not: `max` is smax or umax."""

    def rule(w: Writer, d: str, x: str, y: str) -> str:
        t = llvm_type(d)
        return w.op(f"call {t} @llvm.{'s' if d[0] == 'i' else 'u'}{name}.{t}({t} {x}, {t} {y})")

    return rule


def compare(floats: str, ints: str) -> dict[str, Callable[..., Val]]:
    """A comparison: the float predicate, and the whole-number one without its sign."""

    def of_floats(w: Writer, d: str, x: str, y: str) -> str:
        return w.op(f"fcmp {floats} {llvm_type(d)} {x}, {y}")

    def of_ints(w: Writer, d: str, x: str, y: str) -> str:
        sign = "" if ints in ("eq", "ne") else "s" if d[0] == "i" else "u"
        return w.op(f"icmp {sign}{ints} {llvm_type(d)} {x}, {y}")

    def of_parts(w: Writer, d: str, x: tuple[str, str], y: tuple[str, str]) -> str:
        parts = [of_floats(w, d, a, b) for a, b in zip(x, y, strict=True)]
        return w.op(f"{'and' if ints == 'eq' else 'or'} i1 {parts[0]}, {parts[1]}")

    table = {"f": of_floats, "i": of_ints, "u": of_ints, "b": of_ints}
    return {**table, "c": of_parts} if ints in ("eq", "ne") else table


def by_parts(rule: Callable[..., Any]) -> Callable[..., Val]:
    """A real rule on each part of complex operands."""
    return lambda w, d, *xs: (rule(w, d, *[x[0] for x in xs]), rule(w, d, *[x[1] for x in xs]))


def any_part(rule: Callable[..., Any], how: str) -> Callable[..., Val]:
    """A real test on both parts, joined by `and` or `or`."""
    return lambda w, d, x: w.op(f"{how} i1 {rule(w, d, x[0])}, {rule(w, d, x[1])}")


def neg(w: Writer, d: str, x: str) -> str:
    """−x."""
    return w.op(f"fneg {llvm_type(d)} {x}") if d[0] in "fc" else w.op(f"sub {llvm_type(d)} 0, {x}")


def mul_complex(w: Writer, d: str, x: tuple[str, str], y: tuple[str, str]) -> Val:
    """(a + ib)(c + id), as NumPy: four products."""
    t = llvm_type(d)
    ac, bd = w.op(f"fmul {t} {x[0]}, {y[0]}"), w.op(f"fmul {t} {x[1]}, {y[1]}")
    ad, bc = w.op(f"fmul {t} {x[0]}, {y[1]}"), w.op(f"fmul {t} {x[1]}, {y[0]}")
    return w.op(f"fsub {t} {ac}, {bd}"), w.op(f"fadd {t} {ad}, {bc}")


def div_complex(w: Writer, d: str, x: tuple[str, str], y: tuple[str, str]) -> Val:
    """Smith's algorithm, as NumPy: scale by the larger part of the divisor."""
    t, part = llvm_type(d), "f32" if d == "c64" else "f64"
    size = [intrinsic("fabs")(w, part, p) for p in y]
    first = w.op(f"fcmp oge {t} {size[0]}, {size[1]}")
    zero, one = _float(0.0, part), _float(1.0, part)
    big = w.op(f"select i1 {first}, {t} {y[0]}, {t} {y[1]}")
    small = w.op(f"select i1 {first}, {t} {y[1]}, {t} {y[0]}")
    ratio = w.op(f"fdiv {t} {small}, {big}")
    below = w.op(f"fadd {t} {big}, {w.op(f'fmul {t} {small}, {ratio}')}")
    scale = w.op(f"fdiv {t} {one}, {below}")

    a, b = x
    a_ratio, b_ratio = (w.op(f"fmul {t} {p}, {ratio}") for p in x)
    left, right = w.op(f"select i1 {first}, {t} {a}, {t} {a_ratio}"), w.op(f"select i1 {first}, {t} {b_ratio}, {t} {b}")
    re = w.op(f"fmul {t} {w.op(f'fadd {t} {left}, {right}')}, {scale}")
    left, right = w.op(f"select i1 {first}, {t} {b}, {t} {b_ratio}"), w.op(f"select i1 {first}, {t} {a_ratio}, {t} {a}")
    im = w.op(f"fmul {t} {w.op(f'fsub {t} {left}, {right}')}, {scale}")
    both = w.op(f"fadd {t} {size[0]}, {size[1]}")
    none = w.op(f"fcmp oeq {t} {both}, {zero}")
    by_zero = [w.op(f"fdiv {t} {p}, {size[0]}") for p in x]
    return (
        w.op(f"select i1 {none}, {t} {by_zero[0]}, {t} {re}"),
        w.op(f"select i1 {none}, {t} {by_zero[1]}, {t} {im}"),
    )


def sign(w: Writer, d: str, x: str) -> str:
    """−1, 0 or 1; NaN stays."""
    t = llvm_type(d)
    zero, one, minus = (str(literal(n, d)) for n in (0, 1, -1))
    if d[0] == "f":
        up, down = (w.op(f"fcmp {p} {t} {x}, {zero}") for p in ("ogt", "olt"))
        rest = w.op(f"select i1 {w.op(f'fcmp uno {t} {x}, {x}')}, {t} {x}, {t} {zero}")
    elif d[0] == "u":
        return w.op(f"zext i1 {w.op(f'icmp ne {t} {x}, 0')} to {t}")
    else:
        up, down = (w.op(f"icmp {p} {t} {x}, 0") for p in ("sgt", "slt"))
        rest = zero
    low = w.op(f"select i1 {down}, {t} {minus}, {t} {rest}")
    return w.op(f"select i1 {up}, {t} {one}, {t} {low}")


def abs_int(w: Writer, d: str, x: str) -> str:
    """|x|; the least number stays."""
    t = llvm_type(d)
    return w.op(f"call {t} @llvm.abs.{t}({t} {x}, i1 false)")


def safe_divisor(w: Writer, d: str, x: str, y: str) -> str:
    """y, but 1 where dividing by it would trap."""
    t = llvm_type(d)
    bad = w.op(f"icmp eq {t} {y}, 0")
    if d[0] == "i":
        least = w.op(f"icmp eq {t} {x}, {literal(-(2 ** (int(d[1:]) - 1)), d)}")
        minus = w.op(f"icmp eq {t} {y}, -1")
        bad = w.op(f"or i1 {bad}, {w.op(f'and i1 {least}, {minus}')}")
    return w.op(f"select i1 {bad}, {t} 1, {t} {y}")


def floor_divide_int(w: Writer, d: str, x: str, y: str) -> str:
    """⌊x / y⌋; 0 for y = 0."""
    t, safe = llvm_type(d), safe_divisor(w, d, x, y)
    q = w.op(f"{'sdiv' if d[0] == 'i' else 'udiv'} {t} {x}, {safe}")
    if d[0] == "i":
        r = w.op(f"srem {t} {x}, {safe}")
        away = w.op(f"icmp slt {t} {w.op(f'xor {t} {r}, {safe}')}, 0")
        less = w.op(f"and i1 {away}, {w.op(f'icmp ne {t} {r}, 0')}")
        q = w.op(f"add {t} {q}, {w.op(f'sext i1 {less} to {t}')}")
    return w.op(f"select i1 {w.op(f'icmp eq {t} {y}, 0')}, {t} 0, {t} {q}")


def remainder_int(w: Writer, d: str, x: str, y: str) -> str:
    """x − y·⌊x / y⌋; 0 for y = 0."""
    t, safe = llvm_type(d), safe_divisor(w, d, x, y)
    r = w.op(f"{'srem' if d[0] == 'i' else 'urem'} {t} {x}, {safe}")
    if d[0] == "u":
        return r
    away = w.op(f"icmp slt {t} {w.op(f'xor {t} {r}, {safe}')}, 0")
    fix = w.op(f"and i1 {away}, {w.op(f'icmp ne {t} {r}, 0')}")
    return w.op(f"add {t} {r}, {w.op(f'select i1 {fix}, {t} {safe}, {t} 0')}")


def fmod_int(w: Writer, d: str, x: str, y: str) -> str:
    """The remainder with the sign of x; 0 for y = 0."""
    return w.op(f"{'srem' if d[0] == 'i' else 'urem'} {llvm_type(d)} {x}, {safe_divisor(w, d, x, y)}")


def _signs_differ(w: Writer, t: str, zero: str, x: str, y: str) -> str:
    return w.op(f"xor i1 {w.op(f'fcmp olt {t} {x}, {zero}')}, {w.op(f'fcmp olt {t} {y}, {zero}')}")


def remainder_float(w: Writer, d: str, x: str, y: str) -> str:
    """The remainder with the sign of y, as NumPy: fmod, then one step."""
    t, zero = llvm_type(d), _float(0.0, d)
    r = w.op(f"frem {t} {x}, {y}")
    some = w.op(f"fcmp une {t} {r}, {zero}")
    step = w.op(f"and i1 {some}, {_signs_differ(w, t, zero, y, r)}")
    moved = w.op(f"select i1 {step}, {t} {w.op(f'fadd {t} {r}, {y}')}, {t} {r}")
    return w.op(f"select i1 {some}, {t} {moved}, {t} {intrinsic('copysign')(w, d, zero, y)}")


def floor_divide_float(w: Writer, d: str, x: str, y: str) -> str:
    """⌊x / y⌋ as NumPy: exact where x / y rounds up to a whole number."""
    t, zero, one = llvm_type(d), _float(0.0, d), _float(1.0, d)
    r = w.op(f"frem {t} {x}, {y}")
    some = w.op(f"fcmp une {t} {r}, {zero}")
    step = w.op(f"and i1 {some}, {_signs_differ(w, t, zero, y, r)}")
    q = w.op(f"fdiv {t} {w.op(f'fsub {t} {x}, {r}')}, {y}")
    q = w.op(f"select i1 {step}, {t} {w.op(f'fsub {t} {q}, {one}')}, {t} {q}")
    low = intrinsic("floor")(w, d, q)
    up = w.op(f"fcmp ogt {t} {w.op(f'fsub {t} {q}, {low}')}, {_float(0.5, d)}")
    low = w.op(f"select i1 {up}, {t} {w.op(f'fadd {t} {low}, {one}')}, {t} {low}")
    ratio = w.op(f"fdiv {t} {x}, {y}")
    null = w.op(
        f"select i1 {w.op(f'fcmp oeq {t} {q}, {zero}')}, {t} {intrinsic('copysign')(w, d, zero, ratio)}, {t} {low}"
    )
    return w.op(f"select i1 {w.op(f'fcmp oeq {t} {y}, {zero}')}, {t} {ratio}, {t} {null}")


def shift_left(w: Writer, d: str, x: str, y: str) -> str:
    """x·2ʸ; 0 if y is the width or more."""
    t, bits = llvm_type(d), int(d[1:])
    inside = w.op(f"icmp ult {t} {y}, {bits}")
    by = w.op(f"select i1 {inside}, {t} {y}, {t} 0")
    return w.op(f"select i1 {inside}, {t} {w.op(f'shl {t} {x}, {by}')}, {t} 0")


def shift_right(w: Writer, d: str, x: str, y: str) -> str:
    """⌊x / 2ʸ⌋, for any y."""
    t, bits = llvm_type(d), int(d[1:])
    inside = w.op(f"icmp ult {t} {y}, {bits}")
    if d[0] == "i":
        return w.op(f"ashr {t} {x}, {w.op(f'select i1 {inside}, {t} {y}, {t} {bits - 1}')}")
    by = w.op(f"select i1 {inside}, {t} {y}, {t} 0")
    return w.op(f"select i1 {inside}, {t} {w.op(f'lshr {t} {x}, {by}')}, {t} 0")


def bit_count(w: Writer, d: str, x: str) -> Val:
    """How many bits of |x| are set."""
    t = llvm_type(d)
    size = abs_int(w, d, x) if d[0] == "i" else x
    return convert(w, "u" + d[1:], "u8", w.op(f"call {t} @llvm.ctpop.{t}({t} {size})"))


def is_nan(w: Writer, d: str, x: str) -> str:
    """Whether x is NaN."""
    return w.op(f"fcmp uno {llvm_type(d)} {x}, {x}")


def is_inf(w: Writer, d: str, x: str) -> str:
    """Whether x is ±∞."""
    part = REAL_OF.get(d, d)
    return w.op(f"fcmp oeq {llvm_type(d)} {intrinsic('fabs')(w, part, x)}, {_float(math.inf, part)}")


def is_finite(w: Writer, d: str, x: str) -> str:
    """Whether x is neither infinite nor NaN."""
    part = REAL_OF.get(d, d)
    return w.op(f"fcmp one {llvm_type(d)} {intrinsic('fabs')(w, part, x)}, {_float(math.inf, part)}")


def signbit(w: Writer, d: str, x: str) -> str:
    """Whether the sign bit is set."""
    bits = "i32" if d == "f32" else "i64"
    return w.op(f"icmp slt {bits} {w.op(f'bitcast {llvm_type(d)} {x} to {bits}')}, 0")


def heaviside(w: Writer, d: str, x: str, y: str) -> str:
    """0, y or 1; NaN stays."""
    t, zero = llvm_type(d), _float(0.0, d)
    at = w.op(f"select i1 {w.op(f'fcmp oeq {t} {x}, {zero}')}, {t} {y}, {t} {x}")
    low = w.op(f"select i1 {w.op(f'fcmp olt {t} {x}, {zero}')}, {t} {zero}, {t} {at}")
    return w.op(f"select i1 {w.op(f'fcmp ogt {t} {x}, {zero}')}, {t} {_float(1.0, d)}, {t} {low}")


def log_add(exp: str, log1p: tuple[str, float]) -> Callable[..., Val]:
    """log(baseˣ + baseʸ): the larger plus a small correction."""

    def rule(w: Writer, d: str, x: str, y: str) -> str:
        t = llvm_type(d)
        name, factor = log1p
        away = intrinsic("fabs")(w, d, w.op(f"fsub {t} {x}, {y}"))
        more = w.call(name, d, w.call(exp, d, w.op(f"fneg {t} {away}")))
        more = w.op(f"fmul {t} {more}, {_float(factor, d)}") if factor != 1 else more
        out = w.op(f"fadd {t} {intrinsic('maximum')(w, d, x, y)}, {more}")
        twice = w.op(f"fadd {t} {x}, {_float(math.log(2) * factor, d)}")
        return w.op(f"select i1 {w.op(f'fcmp oeq {t} {x}, {y}')}, {t} {twice}, {t} {out}")

    return rule


def select(w: Writer, d: str, c: str, x: Val, y: Val) -> Val:
    """x where c, else y."""
    t = llvm_type(d)
    if isinstance(x, tuple):
        return tuple(w.op(f"select i1 {c}, {t} {a}, {t} {b}") for a, b in zip(x, y, strict=True))  # type: ignore[return-value]
    return w.op(f"select i1 {c}, {t} {x}, {t} {y}")


def _abs_complex(w: Writer, d: str, x: tuple[str, str]) -> Val:
    return w.call("hypot", REAL_OF[d], *x)


def kinds(kinds: str, rule: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """One rule for several kinds of dtype."""
    return dict.fromkeys(kinds, rule)


_LIBM = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "cbrt": "cbrt", "hypot": "hypot", "pow": "pow", "erf": "erf",
    "erfc": "erfc", "nextafter": "nextafter",
}  # fmt: skip

TABLE: dict[str, dict[str, Callable[..., Any]]] = {
    "add": {"f": plain("fadd"), "c": by_parts(plain("fadd")), "b": plain("or"), **kinds("iu", plain("add"))},
    "sub": {"f": plain("fsub"), "c": by_parts(plain("fsub")), **kinds("iu", plain("sub"))},
    "mul": {"f": plain("fmul"), "c": mul_complex, "b": plain("and"), **kinds("iu", plain("mul"))},
    "div": {"f": plain("fdiv"), "c": div_complex},
    "neg": {**kinds("iuf", neg), "c": by_parts(neg)},
    "sign": kinds("iuf", sign),
    "abs": {"f": intrinsic("fabs"), "i": abs_int, "u": lambda w, d, x: x, "c": _abs_complex},
    "sqrt": {"f": intrinsic("sqrt")},
    "floor": {"f": intrinsic("floor")},
    "ceil": {"f": intrinsic("ceil")},
    "trunc": {"f": intrinsic("trunc")},
    "rint": {"f": intrinsic("rint"), "c": lambda w, d, x: tuple(intrinsic("rint")(w, REAL_OF[d], p) for p in x)},
    "copysign": {"f": intrinsic("copysign")},
    "maximum": {"f": intrinsic("maximum"), "b": plain("or"), **kinds("iu", whole("max"))},
    "minimum": {"f": intrinsic("minimum"), "b": plain("and"), **kinds("iu", whole("min"))},
    "fmax": {"f": intrinsic("maxnum"), "b": plain("or"), **kinds("iu", whole("max"))},
    "fmin": {"f": intrinsic("minnum"), "b": plain("and"), **kinds("iu", whole("min"))},
    "floor_divide": {"f": floor_divide_float, **kinds("iu", floor_divide_int)},
    "remainder": {"f": remainder_float, **kinds("iu", remainder_int)},
    "fmod": {"f": plain("frem"), **kinds("iu", fmod_int)},
    "heaviside": {"f": heaviside},
    "logaddexp": {"f": log_add("exp", ("log1p", 1.0))},
    "logaddexp2": {"f": log_add("exp2", ("log1p", 1 / math.log(2)))},
    "bitwise_and": kinds("biu", plain("and")),
    "bitwise_or": kinds("biu", plain("or")),
    "bitwise_xor": kinds("biu", plain("xor")),
    "invert": kinds("biu", lambda w, d, x: w.op(f"xor {llvm_type(d)} {x}, {'true' if d == 'bool' else -1}")),
    "left_shift": kinds("iu", shift_left),
    "right_shift": kinds("iu", shift_right),
    "bitwise_count": kinds("iu", bit_count),
    "equal": compare("oeq", "eq"),
    "not_equal": compare("une", "ne"),
    "less": compare("olt", "lt"),
    "less_equal": compare("ole", "le"),
    "greater": compare("ogt", "gt"),
    "greater_equal": compare("oge", "ge"),
    "isnan": {"f": is_nan, "c": any_part(is_nan, "or")},
    "isinf": {"f": is_inf, "c": any_part(is_inf, "or")},
    "isfinite": {"f": is_finite, "c": any_part(is_finite, "and")},
    "signbit": {"f": signbit},
    "select": kinds("biufc", select),
    "conj": {"c": lambda w, d, x: (x[0], neg(w, d, x[1]))},
    "real": {"c": lambda w, d, x: x[0]},
    "imag": {"c": lambda w, d, x: x[1]},
    "complex": {"f": lambda w, d, x, y: (x, y)},
    **{name: {"f": libm(function)} for name, function in _LIBM.items()},
}
"""Name of a primitive → kind of its last operand → code."""


FOLDS = {"add": "biufc", "mul": "biufc", "max": "biuf", "min": "biuf", "and": "b", "or": "b"}
"""Kind of a fold → kinds of dtype it has code for."""


def combine(w: Writer, kind: str, d: str, acc: Val, x: Val) -> Val:
    """One step of a fold. Only here may LLVM reorder float sums: see Note [sums] in `emit`."""
    t = llvm_type(d)
    if kind in ("add", "mul") and d[0] in "fc":
        if d[0] == "f":
            return w.op(f"f{kind} reassoc {t} {acc}, {x}")
        assert isinstance(acc, tuple)
        assert isinstance(x, tuple)
        if kind == "add":
            return w.op(f"fadd reassoc {t} {acc[0]}, {x[0]}"), w.op(f"fadd reassoc {t} {acc[1]}, {x[1]}")
    name = {"max": "maximum", "min": "minimum", "and": "bitwise_and", "or": "bitwise_or"}.get(kind, kind)
    return TABLE[name][d[0]](w, d, acc, x)
