"""Functions of whole numbers whose steps are as many as the numbers say: divisors, multiples, powers."""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.formulas import abs_int
from pliant.backends.llvm.values import Writer, llvm_type

NARROW: Final = 32
"""Bits of numbers of whose exponents all digits are gone through."""

_PURE = "nounwind willreturn memory(none)"


def gcd(w: Writer, d: str, x: str, y: str) -> str:
    """The greatest common divisor of |x| and |y|; of two zeros 0."""
    t = llvm_type(d)
    sizes = [abs_int(w, d, v) for v in (x, y)] if d[0] == "i" else [x, y]
    return w.op(f"call {t} {w.helper(f'gcd_{t}', lambda name: _gcd_text(name, t))}({t} {sizes[0]}, {t} {sizes[1]})")


def lcm(w: Writer, d: str, x: str, y: str) -> str:
    """The least common multiple of |x| and |y|, which may overflow; 0 beside 0."""
    t = llvm_type(d)
    divisor = gcd(w, d, x, y)
    a, b = [abs_int(w, d, v) for v in (x, y)] if d[0] == "i" else [x, y]
    is_none = w.op(f"icmp eq {t} {divisor}, 0")
    part = w.op(f"udiv {t} {a}, {w.op(f'select i1 {is_none}, {t} 1, {t} {divisor}')}")
    return w.op(f"mul {t} {part}, {b}")


def power(w: Writer, d: str, x: str, n: str) -> str:
    """xⁿ for n ≥ 0, as it overflows. Of a narrow dtype all digits of n are gone through, without a branch: in vectors
    that is many times as quick."""
    if int(d[1:]) <= NARROW:
        return _power_by_digits(w, d, x, n)
    t, is_more = llvm_type(d), "sgt" if d[0] == "i" else "ne"
    function = w.helper(f"power_{d}", lambda name: _power_text(name, t, is_more))
    return w.op(f"call {t} {function}({t} {x}, {t} {n})")


def _power_by_digits(w: Writer, d: str, x: str, n: str) -> str:
    t, made = llvm_type(d), "1"
    n = w.op(f"call {t} @llvm.smax.{t}({t} {n}, {t} 0)") if d[0] == "i" else n
    digits = int(d[1:]) - (d[0] == "i")
    for digit in range(digits):
        is_wanted = w.op(f"icmp ne {t} {w.op(f'and {t} {n}, {1 << digit}')}, 0")
        made = w.op(f"mul {t} {made}, {w.op(f'select i1 {is_wanted}, {t} {x}, {t} 1')}")
        x = w.op(f"mul {t} {x}, {x}") if digit + 1 < digits else x
    return made


def _gcd_text(name: str, t: str) -> str:
    return f"""define internal {t} @{name}({t} %x, {t} %y) {_PURE} {{
start:
  br label %test
test:
  %a = phi {t} [ %x, %start ], [ %rest, %next ]
  %b = phi {t} [ %y, %start ], [ %a, %next ]
  %done = icmp eq {t} %a, 0
  br i1 %done, label %end, label %next
next:
  %rest = urem {t} %b, %a
  br label %test
end:
  ret {t} %b
}}
"""


def _power_text(name: str, t: str, is_more: str) -> str:
    return f"""define internal {t} @{name}({t} %x, {t} %n) {_PURE} {{
start:
  br label %test
test:
  %made = phi {t} [ 1, %start ], [ %longer, %next ]
  %base = phi {t} [ %x, %start ], [ %square, %next ]
  %left = phi {t} [ %n, %start ], [ %half, %next ]
  %more = icmp {is_more} {t} %left, 0
  br i1 %more, label %next, label %end
next:
  %last = and {t} %left, 1
  %odd = icmp ne {t} %last, 0
  %product = mul {t} %made, %base
  %longer = select i1 %odd, {t} %product, {t} %made
  %square = mul {t} %base, %base
  %half = lshr {t} %left, 1
  br label %test
end:
  ret {t} %made
}}
"""
