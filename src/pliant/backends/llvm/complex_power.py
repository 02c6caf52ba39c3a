"""Powers of complex numbers, as NumPy has them: whole ones of fewer than a hundred factors are products, others are
those of libm."""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.values import Writer, float_text, llvm_type
from pliant.core.types import REAL_OF

MOST: Final = 100.0
"""Whole exponents from here on are like others."""

Parts = tuple[str, str]


def power(w: Writer, d: str, x: Parts, y: Parts) -> Parts:
    """xʸ, where 0⁰ is 1, and of 0 any power is 0 or, if the exponent has no positive real part, NaN."""
    t = llvm_type(d)
    library = w.complex_function("cpow", d, 2)
    function = w.helper(f"power_{d}", lambda name: _text(name, t, REAL_OF[d], library))
    made = w.op(f"call {{ {t}, {t} }} {function}({', '.join(f'{t} {part}' for part in (*x, *y))})")
    return w.op(f"extractvalue {{ {t}, {t} }} {made}, 0"), w.op(f"extractvalue {{ {t}, {t} }} {made}, 1")


def _text(name: str, t: str, real: str, library: str) -> str:
    """The function of a + ib and c + id."""
    zero, most, least = (float_text(number, real) for number in (0.0, MOST, -MOST))
    parameters = ", ".join([f"{t} %{part}" for part in "abcd"])
    return f"""define internal {{ {t}, {t} }} @{name}({parameters}) nounwind willreturn memory(none) {{
start:
  %c.none = fcmp oeq {t} %c, {zero}
  %d.none = fcmp oeq {t} %d, {zero}
  %none = and i1 %c.none, %d.none
  br i1 %none, label %one, label %some
one:
{_returned(t, "one", float_text(1.0, real), zero)}
some:
  %a.none = fcmp oeq {t} %a, {zero}
  %b.none = fcmp oeq {t} %b, {zero}
  %nothing = and i1 %a.none, %b.none
  br i1 %nothing, label %of_zero, label %other
of_zero:
  %less = fcmp ogt {t} %c, {zero}
  %left = select i1 %less, {t} {zero}, {t} {float_text(float("nan"), real)}
{_returned(t, "left", "%left", "%left")}
other:
  %above = fcmp ogt {t} %c, {least}
  %below = fcmp olt {t} %c, {most}
  %near = and i1 %above, %below
  %small = and i1 %near, %d.none
  br i1 %small, label %counted, label %library
counted:
  %n = fptosi {t} %c to i64
  %n.back = sitofp i64 %n to {t}
  %whole = fcmp oeq {t} %n.back, %c
  br i1 %whole, label %products, label %library
library:
  %others = call {{ {t}, {t} }} {library}({t} %a, {t} %b, {t} %c, {t} %d)
  ret {{ {t}, {t} }} %others
{_products(t, real)}
}}
"""


def _products(t: str, real: str) -> str:
    """The power of a + ib by n. The least begin without a factor of 1 + 0i, which would make NaN of infinities."""
    zero, one = float_text(0.0, real), float_text(1.0, real)
    return f"""products:
  switch i64 %n, label %by_digits [ i64 1, label %itself i64 2, label %square i64 3, label %cube ]
itself:
{_returned(t, "itself", "%a", "%b")}
square:
{_product(t, "second", ("%a", "%b"), ("%a", "%b"))}
{_returned(t, "square", "%second.re", "%second.im")}
cube:
{_product(t, "two", ("%a", "%b"), ("%a", "%b"))}
{_product(t, "third", ("%a", "%b"), ("%two.re", "%two.im"))}
{_returned(t, "cube", "%third.re", "%third.im")}
by_digits:
  %minus = sub i64 0, %n
  %divides = icmp slt i64 %n, 0
  %size = select i1 %divides, i64 %minus, i64 %n
  br label %digit
digit:
  %re = phi {t} [ {one}, %by_digits ], [ %made.re, %next ]
  %im = phi {t} [ {zero}, %by_digits ], [ %made.im, %next ]
  %x = phi {t} [ %a, %by_digits ], [ %p.re, %next ]
  %y = phi {t} [ %b, %by_digits ], [ %p.im, %next ]
  %digits = phi i64 [ %size, %by_digits ], [ %rest, %next ]
{_product(t, "more", ("%re", "%im"), ("%x", "%y"))}
  %last = trunc i64 %digits to i1
  %made.re = select i1 %last, {t} %more.re, {t} %re
  %made.im = select i1 %last, {t} %more.im, {t} %im
  %rest = lshr i64 %digits, 1
  %done = icmp eq i64 %rest, 0
  br i1 %done, label %made, label %next
next:
{_product(t, "p", ("%x", "%y"), ("%x", "%y"))}
  br label %digit
made:
  br i1 %divides, label %divided, label %product
product:
{_returned(t, "product", "%made.re", "%made.im")}
divided:
{_reciprocal(t, real, ("%made.re", "%made.im"))}
{_returned(t, "divided", "%by.re", "%by.im")}"""


def _product(t: str, name: str, x: Parts, y: Parts) -> str:
    """Lines that make a product, `%name.re` and `%name.im`."""
    (a, b), (c, d) = x, y
    return f"""  %{name}.ac = fmul {t} {a}, {c}
  %{name}.bd = fmul {t} {b}, {d}
  %{name}.ad = fmul {t} {a}, {d}
  %{name}.bc = fmul {t} {b}, {c}
  %{name}.re = fsub {t} %{name}.ac, %{name}.bd
  %{name}.im = fadd {t} %{name}.ad, %{name}.bc"""


def _reciprocal(t: str, real: str, x: Parts) -> str:
    """Lines that make 1/x, `%by.re` and `%by.im`, as quotients are made: see `div_complex`."""
    zero, one, minus = (float_text(number, real) for number in (0.0, 1.0, -1.0))
    sizes = "\n".join([
        f"""  %{n}.minus = fneg {t} {part}
  %{n}.below = fcmp olt {t} {part}, {zero}
  %{n}.size = select i1 %{n}.below, {t} %{n}.minus, {t} {part}"""
        for n, part in zip("cd", x, strict=True)
    ])  # fmt: skip
    return f"""{sizes}
  %first = fcmp oge {t} %c.size, %d.size
  %big = select i1 %first, {t} {x[0]}, {t} {x[1]}
  %little = select i1 %first, {t} {x[1]}, {t} {x[0]}
  %ratio = fdiv {t} %little, %big
  %over = fmul {t} %little, %ratio
  %under = fadd {t} %big, %over
  %scale = fdiv {t} {one}, %under
  %ratio.more = fadd {t} %ratio, {zero}
  %ratio.less = fsub {t} {zero}, %ratio
  %u = select i1 %first, {t} {one}, {t} %ratio.more
  %v = select i1 %first, {t} %ratio.less, {t} {minus}
  %scaled.re = fmul {t} %u, %scale
  %scaled.im = fmul {t} %v, %scale
  %big.none = fcmp oeq {t} %big, {zero}
  %by.re = select i1 %big.none, {t} {float_text(float("inf"), real)}, {t} %scaled.re
  %by.im = select i1 %big.none, {t} {float_text(float("nan"), real)}, {t} %scaled.im"""


def _returned(t: str, name: str, re: str, im: str) -> str:
    """Lines that return a number of two parts."""
    pair = f"{{ {t}, {t} }}"
    return f"""  %{name}.first = insertvalue {pair} poison, {t} {re}, 0
  %{name}.both = insertvalue {pair} %{name}.first, {t} {im}, 1
  ret {pair} %{name}.both"""
