"""LLVM code of elementwise primitives that takes more than a word to say.

Each rule is called with the writer, the dtype of the last operand and the operands.
"""

from __future__ import annotations

import math
from typing import Final

from pliant.backends.llvm.conversion import convert
from pliant.backends.llvm.values import Rule, Val, Writer, float_text, literal, llvm_type
from pliant.core.types import REAL_OF

EITHER: Final = "nsz"
"""Of two zeros either is the larger, as for NumPy, which takes the last one: to find that -0.0 is the smaller takes x86
five instructions instead of three, and for single numbers two branches."""


def plain(name: str) -> Rule:
    """One instruction on two operands."""

    def rule(w: Writer, d: str, x: str, y: str) -> str:
        return w.op(f"{name} {llvm_type(d)} {x}, {y}")

    return rule


def libm(name: str) -> Rule:
    """A function of libm."""

    def rule(w: Writer, d: str, *xs: str) -> str:
        return w.call(name, d, *xs)

    return rule


def complex_libm(name: str) -> Rule:
    """A function of libm on complex numbers."""

    def rule(w: Writer, d: str, x: tuple[str, str]) -> Val:
        return w.call_complex(name, d, x)

    return rule


def intrinsic(name: str, flags: str = "") -> Rule:
    """An intrinsic on floats; half floats are widened before. flags: what LLVM may assume."""

    def rule(w: Writer, d: str, *xs: str) -> str:
        assert d in ("f32", "f64"), f"llvm.{name} of {d}"
        return w.call(f"llvm.{name}.{d}", d, *xs, flags=flags)

    return rule


def extremum(name: str) -> Rule:
    """The larger or smaller of two floats, NaN if one is; of two zeros that are computed, either."""

    def rule(w: Writer, d: str, x: str, y: str) -> str:
        return intrinsic(name, EITHER if x[0] == y[0] == "%" else "")(w, d, x, y)

    return rule


def whole(name: str) -> Rule:
    """A two-operand intrinsic on whole numbers, signed or not: `max` is smax or umax."""

    def rule(w: Writer, d: str, x: str, y: str) -> str:
        t = llvm_type(d)
        return w.op(f"call {t} @llvm.{'s' if d[0] == 'i' else 'u'}{name}.{t}({t} {x}, {t} {y})")

    return rule


def compare(floats: str, ints: str) -> dict[str, Rule]:
    """A comparison: the float predicate, and the whole-number one without its sign."""

    def of_floats(w: Writer, d: str, x: str, y: str) -> str:
        return w.op(f"fcmp {floats} {llvm_type(d)} {x}, {y}")

    def of_ints(w: Writer, d: str, x: str, y: str) -> str:
        sign = "" if ints in ("eq", "ne") else "s" if d[0] == "i" else "u"
        return w.op(f"icmp {sign}{ints} {llvm_type(d)} {x}, {y}")

    def of_parts(w: Writer, d: str, x: tuple[str, str], y: tuple[str, str]) -> str:
        parts = [of_floats(w, d, a, b) for a, b in zip(x, y, strict=True)]
        return w.op(f"{'and' if ints == 'eq' else 'or'} i1 {parts[0]}, {parts[1]}")

    table: dict[str, Rule] = {"f": of_floats, "i": of_ints, "u": of_ints, "b": of_ints}
    return {**table, "c": of_parts} if ints in ("eq", "ne") else table


def by_parts(rule: Rule) -> Rule:
    """A real rule on each part of complex operands."""

    def both(w: Writer, d: str, *xs: tuple[str, str]) -> tuple[str, str]:
        return rule(w, d, *[x[0] for x in xs]), rule(w, d, *[x[1] for x in xs])

    return both


def any_part(rule: Rule, how: str) -> Rule:
    """A real test on both parts, joined by `and` or `or`."""

    def test(w: Writer, d: str, x: tuple[str, str]) -> str:
        return w.op(f"{how} i1 {rule(w, d, x[0])}, {rule(w, d, x[1])}")

    return test


def always(answer: str) -> Rule:
    """A test of which the answer is known."""

    def rule(w: Writer, d: str, x: str) -> str:
        return answer

    return rule


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
    zero, one = float_text(0.0, part), float_text(1.0, part)
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


def sign_complex(w: Writer, d: str, z: tuple[str, str]) -> Val:
    """z / |z|; 0 for 0, and as NumPy where |z| is infinite: the direction of the one part that is, NaN if both are."""
    t, part = llvm_type(d), REAL_OF[d]
    zero, one, minus, infinite, nan = (float_text(n, part) for n in (0.0, 1.0, -1.0, math.inf, math.nan))

    def where(condition: str, x: str, y: str) -> str:
        return w.op(f"select i1 {condition}, {t} {x}, {t} {y}")

    def is_(x: str, y: str, how: str = "oeq") -> str:
        return w.op(f"fcmp {how} {t} {x}, {y}")

    size = abs_complex(w, d, z)
    is_far, is_none = is_(size, infinite), is_(size, zero)
    wide, tall = (is_(intrinsic("fabs")(w, part, x), infinite) for x in z)
    ends = [where(is_(x, zero, "ogt"), one, minus) for x in z]
    far = (where(wide, where(tall, nan, ends[0]), zero), where(wide, where(tall, nan, zero), ends[1]))
    near = [where(is_none, zero, w.op(f"fdiv {t} {x}, {size}")) for x in z]
    return where(is_far, far[0], near[0]), where(is_far, far[1], near[1])


def abs_int(w: Writer, d: str, x: str) -> str:
    """|x|; the least number stays."""
    t = llvm_type(d)
    return w.op(f"call {t} @llvm.abs.{t}({t} {x}, i1 false)")


def _signs_differ(w: Writer, t: str, zero: str, x: str, y: str) -> str:
    return w.op(f"xor i1 {w.op(f'fcmp olt {t} {x}, {zero}')}, {w.op(f'fcmp olt {t} {y}, {zero}')}")


def remainder_float(w: Writer, d: str, x: str, y: str) -> str:
    """The remainder with the sign of y, as NumPy: fmod, then one step."""
    t, zero = llvm_type(d), float_text(0.0, d)
    r = w.call("fmod", d, x, y)
    some = w.op(f"fcmp une {t} {r}, {zero}")
    step = w.op(f"and i1 {some}, {_signs_differ(w, t, zero, y, r)}")
    moved = w.op(f"select i1 {step}, {t} {w.op(f'fadd {t} {r}, {y}')}, {t} {r}")
    return w.op(f"select i1 {some}, {t} {moved}, {t} {intrinsic('copysign')(w, d, zero, y)}")


def floor_divide_float(w: Writer, d: str, x: str, y: str) -> str:
    """⌊x / y⌋ as NumPy: exact where x / y rounds up to a whole number."""
    t, zero, one = llvm_type(d), float_text(0.0, d), float_text(1.0, d)
    r = w.call("fmod", d, x, y)
    some = w.op(f"fcmp une {t} {r}, {zero}")
    step = w.op(f"and i1 {some}, {_signs_differ(w, t, zero, y, r)}")
    q = w.op(f"fdiv {t} {w.op(f'fsub {t} {x}, {r}')}, {y}")
    q = w.op(f"select i1 {step}, {t} {w.op(f'fsub {t} {q}, {one}')}, {t} {q}")
    low = intrinsic("floor")(w, d, q)
    up = w.op(f"fcmp ogt {t} {w.op(f'fsub {t} {q}, {low}')}, {float_text(0.5, d)}")
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


def high_product(w: Writer, d: str, x: str, y: str) -> str:
    """The upper half of x·y."""
    t, bits = llvm_type(d), int(d[1:])
    wide = f"i{2 * bits}"
    product = w.op(f"mul nuw {wide} {w.op(f'zext {t} {x} to {wide}')}, {w.op(f'zext {t} {y} to {wide}')}")
    return w.op(f"trunc {wide} {w.op(f'lshr {wide} {product}, {bits}')} to {t}")


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
    return w.op(f"fcmp oeq {llvm_type(d)} {intrinsic('fabs')(w, part, x)}, {float_text(math.inf, part)}")


def is_finite(w: Writer, d: str, x: str) -> str:
    """Whether x is neither infinite nor NaN."""
    part = REAL_OF.get(d, d)
    return w.op(f"fcmp one {llvm_type(d)} {intrinsic('fabs')(w, part, x)}, {float_text(math.inf, part)}")


def signbit(w: Writer, d: str, x: str) -> str:
    """Whether the sign bit is set."""
    bits = "i32" if d == "f32" else "i64"
    return w.op(f"icmp slt {bits} {w.op(f'bitcast {llvm_type(d)} {x} to {bits}')}, 0")


def heaviside(w: Writer, d: str, x: str, y: str) -> str:
    """0, y or 1; NaN stays."""
    t, zero = llvm_type(d), float_text(0.0, d)
    at = w.op(f"select i1 {w.op(f'fcmp oeq {t} {x}, {zero}')}, {t} {y}, {t} {x}")
    low = w.op(f"select i1 {w.op(f'fcmp olt {t} {x}, {zero}')}, {t} {zero}, {t} {at}")
    return w.op(f"select i1 {w.op(f'fcmp ogt {t} {x}, {zero}')}, {t} {float_text(1.0, d)}, {t} {low}")


def log_add(exp: str, log1p: tuple[str, float]) -> Rule:
    """log(baseˣ + baseʸ): the larger plus a small correction."""

    def rule(w: Writer, d: str, x: str, y: str) -> str:
        t = llvm_type(d)
        name, factor = log1p
        away = intrinsic("fabs")(w, d, w.op(f"fsub {t} {x}, {y}"))
        more = w.call(name, d, w.call(exp, d, w.op(f"fneg {t} {away}")))
        more = w.op(f"fmul {t} {more}, {float_text(factor, d)}") if factor != 1 else more
        out = w.op(f"fadd {t} {intrinsic('maximum')(w, d, x, y)}, {more}")
        twice = w.op(f"fadd {t} {x}, {float_text(math.log(2) * factor, d)}")
        return w.op(f"select i1 {w.op(f'fcmp oeq {t} {x}, {y}')}, {t} {twice}, {t} {out}")

    return rule


def select(w: Writer, d: str, c: str, x: Val, y: Val) -> Val:
    """x where c, else y; no branch, which would be mispredicted half the time, where a search chooses an index."""
    t = llvm_type(d)
    if isinstance(x, tuple):
        return w.op(f"select i1 {c}, {t} {x[0]}, {t} {y[0]}"), w.op(f"select i1 {c}, {t} {x[1]}, {t} {y[1]}")
    return w.op(f"select i1 {c}, {t} {x}, {t} {y}{', !unpredictable !0' if d == 'i64' else ''}")


def abs_complex(w: Writer, d: str, x: tuple[str, str]) -> str:
    """|z| without overflow."""
    return w.call("hypot", REAL_OF[d], *x)


def rint_complex(w: Writer, d: str, x: tuple[str, str]) -> Val:
    """The nearest whole number, of each part."""
    part = intrinsic("rint")
    return part(w, REAL_OF[d], x[0]), part(w, REAL_OF[d], x[1])


def same(w: Writer, d: str, x: Val) -> Val:
    """x."""
    return x


def invert(w: Writer, d: str, x: str) -> str:
    """All bits flipped."""
    return w.op(f"xor {llvm_type(d)} {x}, {'true' if d == 'bool' else -1}")


def conj(w: Writer, d: str, x: tuple[str, str]) -> Val:
    """The complex conjugate."""
    return x[0], neg(w, d, x[1])


def real_part(w: Writer, d: str, x: tuple[str, str]) -> str:
    """The real part."""
    return x[0]


def imag_part(w: Writer, d: str, x: tuple[str, str]) -> str:
    """The imaginary part."""
    return x[1]


def pair(w: Writer, d: str, x: str, y: str) -> Val:
    """x + iy."""
    return x, y
