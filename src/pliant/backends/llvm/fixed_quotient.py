"""Division of int64 by a number that is the same for all steps of a loop, as a multiplication.

    ⌊a/b⌋ = ⌊a·m / 2⁶³⁺ˡ⌋,  m = ⌊2⁶³⁺ˡ/b⌋ + 1,  l the bits of b - 1,  for 0 ≤ a < 2⁶³ and 0 < b ≤ 2⁶³

(T. Granlund and P. Montgomery, "Division by invariant integers using multiplication", 1994.) m is found bit by bit,
which takes as long as thirty divisions, before the loop: LLVM sees that it is the same for all steps. A product of 64
bits is put together from four of 32, of which there are vectors.
"""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.values import Writer
from pliant.backends.llvm.whole_quotient import DIVIDING, floor_divide_int

FEWEST: Final = 1024
"""Steps of a loop that pay for what is found before it, and for LLVM's time for it."""
LOW: Final = 2**32 - 1
LEAST: Final = -(2**63)


def is_fixed(name: str, dtype: str, y: str, steps: int) -> bool:
    """Whether a primitive divides so, by what is the same for all steps of a loop."""
    return name in DIVIDING and dtype == "i64" and y[0] == "%" and steps >= FEWEST


def by_fixed(w: Writer, name: str, x: str, y: str) -> str:
    """⌊x / y⌋, or what is left of x; 0 for y = 0."""
    none, is_down = w.op(f"icmp eq i64 {y}, 0"), w.op(f"icmp slt i64 {y}, 0")
    size = w.op(f"select i1 {is_down}, i64 {w.op(f'sub i64 0, {y}')}, i64 {y}")
    size = w.op(f"select i1 {none}, i64 1, i64 {size}")
    factor = w.op(f"call i64 {w.helper('factor', TEXT.format)}(i64 {size})")
    zeros = w.op(f"call i64 @llvm.ctlz.i64(i64 {w.op(f'sub i64 {size}, 1')}, i1 false)")
    shift = w.op(f"sub i64 64, {zeros}")
    turned = w.op(f"select i1 {is_down}, i64 {w.op(f'sub i64 0, {x}')}, i64 {x}")
    flip = w.op(f"ashr i64 {turned}, 63")  # ⌊-a/b⌋ = ~⌊(a - 1)/b⌋
    twice = w.op(f"shl i64 {w.op(f'xor i64 {turned}, {flip}')}, 1")
    q = w.op(f"xor i64 {w.op(f'lshr i64 {high(w, twice, factor)}, {shift}')}, {flip}")
    of_least = floor_divide_int(w, "i64", str(LEAST), y)  # whose size has a bit more
    q = w.op(f"select i1 {w.op(f'icmp eq i64 {x}, {LEAST}')}, i64 {of_least}, i64 {q}")
    q = w.op(f"select i1 {none}, i64 0, i64 {q}")
    if name == "floor_divide":
        return q
    left = w.op(f"sub i64 {x}, {w.op(f'mul i64 {q}, {y}')}")
    return w.op(f"select i1 {none}, i64 0, i64 {left}")


def high(w: Writer, x: str, y: str) -> str:
    """The upper half of a product of two numbers without sign."""
    (x_low, x_high), (y_low, y_high) = [(w.op(f"and i64 {v}, {LOW}"), w.op(f"lshr i64 {v}, 32")) for v in (x, y)]
    low = w.op(f"lshr i64 {w.op(f'mul i64 {x_low}, {y_low}')}, 32")
    first = w.op(f"add i64 {w.op(f'mul i64 {x_high}, {y_low}')}, {low}")
    second = w.op(f"add i64 {w.op(f'mul i64 {x_low}, {y_high}')}, {w.op(f'and i64 {first}, {LOW}')}")
    both = w.op(f"add i64 {w.op(f'lshr i64 {first}, 32')}, {w.op(f'lshr i64 {second}, 32')}")
    return w.op(f"add i64 {w.op(f'mul i64 {x_high}, {y_high}')}, {both}")


TEXT: Final = """define internal i64 @{0}(i64 %b) memory(none) willreturn #0 {{
start:
  %less = sub i64 %b, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %bits = sub i64 64, %zeros
  %power = shl i64 1, %bits
  %first = sub i64 %power, %b
  br label %bit

bit:
  %n = phi i64 [ 0, %start ], [ %n.next, %bit ]
  %q = phi i64 [ 1, %start ], [ %q.next, %bit ]
  %r = phi i64 [ %first, %start ], [ %r.next, %bit ]
  %r.twice = shl i64 %r, 1
  %fits = icmp uge i64 %r.twice, %b
  %r.less = sub i64 %r.twice, %b
  %r.next = select i1 %fits, i64 %r.less, i64 %r.twice
  %q.twice = shl i64 %q, 1
  %one = zext i1 %fits to i64
  %q.next = or i64 %q.twice, %one
  %n.next = add i64 %n, 1
  %more = icmp ult i64 %n.next, 63
  br i1 %more, label %bit, label %end

end:
  %factor = add i64 %q.next, 1
  ret i64 %factor
}}
"""
