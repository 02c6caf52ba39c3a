"""Division of whole numbers, of which processors have no vectors.

By a known positive number: of |x| as of a number without a sign, which is a multiplication; ⌊x/c⌋ = ~⌊~x/c⌋ for x < 0.
Numbers of 32 bits and fewer: in floats of twice as many digits, ⌊(x ± ½)·(1/y)⌋. What is rounded down lies at least
1/2y from whole numbers, and is off by less; the reciprocal is made once if y is the same for all. This is for loops
whose steps do not wait for each other: one such quotient takes longer than a division.
"""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.values import Writer, float_text, literal, llvm_type

DIVIDING: Final = ("floor_divide", "remainder")


def is_by_floats(name: str, dtype: str, y: str) -> bool:
    """Whether a primitive on whole numbers is quicker by floats in a loop; division by a known number is not."""
    return name in DIVIDING and dtype[0] in "iu" and int(dtype[1:]) <= 32 and y[0] == "%"


def by_floats(w: Writer, name: str, d: str, x: str, y: str) -> str:
    """⌊x / y⌋, or what is left of x; 0 for y = 0."""
    t, wide, sign = llvm_type(d), "f64" if d[1:] == "32" else "f32", "s" if d[0] == "i" else "u"
    f, one, half = llvm_type(wide), float_text(1.0, wide), float_text(0.5, wide)
    none = w.op(f"icmp eq {t} {y}, 0")
    u, v = (w.op(f"{sign}itofp {t} {part} to {f}") for part in (x, w.op(f"select i1 {none}, {t} 1, {t} {y}")))
    half = w.call(f"llvm.copysign.{wide}", wide, half, v) if sign == "s" else half
    more = w.op(f"fadd {f} {u}, {half}")
    ratio = w.call(f"llvm.floor.{wide}", wide, w.op(f"fmul {f} {more}, {w.op(f'fdiv {f} {one}, {v}')}"))
    q = w.op(f"fpto{'u' if d == 'u32' else 's'}i {f} {ratio} to i32")
    if d == "i32":  # of the least number by -1 there is no quotient: it stays
        at_end = w.op(f"icmp eq {t} {x}, {-(2**31)}")
        at_end = w.op(f"and i1 {at_end}, {w.op(f'icmp eq {t} {y}, -1')}")
        q = w.op(f"select i1 {at_end}, {t} {x}, {t} {q}")
    q = q if t == "i32" else w.op(f"trunc i32 {q} to {t}")
    q = w.op(f"select i1 {none}, {t} 0, {t} {q}")
    if name == "floor_divide":
        return q
    left = w.op(f"sub {t} {x}, {w.op(f'mul {t} {q}, {y}')}")
    return w.op(f"select i1 {none}, {t} 0, {t} {left}")


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
    t = llvm_type(d)
    if is_positive(d, y):
        return by_known(w, d, x, int(y))
    safe = safe_divisor(w, d, x, y)
    q = w.op(f"{'sdiv' if d[0] == 'i' else 'udiv'} {t} {x}, {safe}")
    if d[0] == "i":
        r = w.op(f"srem {t} {x}, {safe}")
        away = w.op(f"icmp slt {t} {w.op(f'xor {t} {r}, {safe}')}, 0")
        less = w.op(f"and i1 {away}, {w.op(f'icmp ne {t} {r}, 0')}")
        q = w.op(f"add {t} {q}, {w.op(f'sext i1 {less} to {t}')}")
    return _zero_by_zero(w, t, y, q)


def remainder_int(w: Writer, d: str, x: str, y: str) -> str:
    """x − y·⌊x / y⌋; 0 for y = 0."""
    t = llvm_type(d)
    if is_positive(d, y):
        if _is_power_of_two(int(y)):
            return w.op(f"and {t} {x}, {int(y) - 1}")
        return w.op(f"sub {t} {x}, {w.op(f'mul {t} {by_known(w, d, x, int(y))}, {y}')}")
    safe = safe_divisor(w, d, x, y)
    r = w.op(f"{'srem' if d[0] == 'i' else 'urem'} {t} {x}, {safe}")
    if d[0] == "u":
        return r
    away = w.op(f"icmp slt {t} {w.op(f'xor {t} {r}, {safe}')}, 0")
    fix = w.op(f"and i1 {away}, {w.op(f'icmp ne {t} {r}, 0')}")
    return w.op(f"add {t} {r}, {w.op(f'select i1 {fix}, {t} {safe}, {t} 0')}")


def fmod_int(w: Writer, d: str, x: str, y: str) -> str:
    """The remainder with the sign of x; 0 for y = 0."""
    return w.op(f"{'srem' if d[0] == 'i' else 'urem'} {llvm_type(d)} {x}, {safe_divisor(w, d, x, y)}")


def is_positive(d: str, y: str) -> bool:
    """Whether a divisor is a known number, above zero, of a dtype with a sign."""
    return d[0] == "i" and y.isdecimal() and int(y) > 0


def by_known(w: Writer, d: str, x: str, c: int) -> str:
    """⌊x / c⌋."""
    t, bits = llvm_type(d), int(d[1:])
    if _is_power_of_two(c):
        return w.op(f"ashr {t} {x}, {c.bit_length() - 1}")
    flip = w.op(f"ashr {t} {x}, {bits - 1}")
    size = w.op(f"and {t} {w.op(f'xor {t} {x}, {flip}')}, {2 ** (bits - 1) - 1}")  # so LLVM knows that it has no sign
    return w.op(f"xor {t} {w.op(f'udiv {t} {size}, {c}')}, {flip}")


def _is_power_of_two(c: int) -> bool:
    return c & (c - 1) == 0


def _zero_by_zero(w: Writer, t: str, y: str, q: str) -> str:
    return w.op(f"select i1 {w.op(f'icmp eq {t} {y}, 0')}, {t} 0, {t} {q}")
