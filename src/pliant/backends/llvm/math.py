"""LLVM code for elementwise primitives: a table from the primitive's name, per kind of dtype.

f16 is computed in f32 and rounded after each primitive, as NumPy does.
"""

from __future__ import annotations

import math
import sys
from typing import Final

from pliant.backends.llvm import complex_power, euclid, exponents
from pliant.backends.llvm.conversion import bitcast, convert
from pliant.backends.llvm.formulas import (
    EITHER,
    abs_complex,
    abs_int,
    always,
    any_part,
    bit_count,
    by_parts,
    compare,
    complex_libm,
    conj,
    div_complex,
    extremum,
    floor_divide_float,
    heaviside,
    high_product,
    imag_part,
    intrinsic,
    invert,
    is_finite,
    is_inf,
    is_nan,
    libm,
    log_add,
    mul_complex,
    neg,
    pair,
    plain,
    real_part,
    remainder_float,
    rint_complex,
    same,
    select,
    shift_left,
    shift_right,
    sign,
    sign_complex,
    signbit,
    whole,
)  # fmt: skip
from pliant.backends.llvm.values import Rule, Val, Writer, llvm_type
from pliant.backends.llvm.whole_quotient import floor_divide_int, fmod_int, remainder_int
from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.ops.special import Polygamma

VECTOR_MATH: Final = frozenset(
    "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 log log10 log1p log2 sin sinh tan tanh "
    "atan2 hypot pow".split()
)
"""Functions of libm that glibc's libmvec has for vectors."""


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether the table has code for a primitive on operands of these types."""
    dtypes = tuple([t.dtype for t in types])
    if op.name == "convert":
        made = op.infer(types[0])
        # Rounding f64 to f16 takes a library call that is not there; by way of f32 it rounds twice.
        return isinstance(made, Type) and not (made.dtype == "f16" and dtypes[0] in ("f64", "c128"))
    return op.name in ("bitcast", "ldexp") or _rule(name_of(op), dtypes) is not None


def name_of(op: Op) -> str:
    """A primitive's name in the table."""
    return "digamma" if isinstance(op, Polygamma) and op.order == 0 else op.name


def apply(w: Writer, op: Op, made: str, dtypes: tuple[str, ...], args: tuple[Val, ...]) -> Val:
    """Emit a primitive on scalars."""
    if op.name == "convert":
        return convert(w, dtypes[0], made, args[0])
    if op.name == "bitcast":
        return bitcast(w, dtypes[0], made, args[0])
    if op.name == "ldexp":
        return _scaled(w, made, dtypes, args)
    rule = _rule(name_of(op), dtypes)
    assert rule, f"no code for {op.name} on {dtypes}"
    if "f16" in dtypes and op.name != "select":
        wide = [convert(w, d, "f32", a) if d == "f16" else a for d, a in zip(dtypes, args, strict=True)]
        out = rule(w, "f32", *wide)
        return (
            convert(w, "f32", made, out) if made == "f16" else convert(w, "f32", "c64", out) if made == "c64" else out
        )
    return rule(w, dtypes[-1], *args)


def _scaled(w: Writer, made: str, dtypes: tuple[str, ...], args: tuple[Val, ...]) -> Val:
    """`ldexp`, of whose operands one is a whole number."""
    wide = "f32" if made == "f16" else made
    x = str(convert(w, made, wide, args[0]))
    return convert(w, wide, made, exponents.scaled(w, wide, x, str(args[1]), dtypes[1]))


def _rule(name: str, dtypes: tuple[str, ...]) -> Rule | None:
    kind = dtypes[-1][0]
    if name in ("nextafter", "spacing") and "f16" in dtypes:
        return None  # the next f32 is not the next f16
    return TABLE.get(name, {}).get(kind)


def kinds(kinds: str, rule: Rule) -> dict[str, Rule]:
    """One rule for several kinds of dtype."""
    return dict.fromkeys(kinds, rule)


LIBM: Final = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
    "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "cbrt": "cbrt", "hypot": "hypot", "pow": "pow", "erf": "erf",
    "erfc": "erfc", "nextafter": "nextafter", "log_gamma": "lgamma", "digamma": "digamma", "fmod": "fmod",
}  # fmt: skip
"""Name of a primitive → the function of libm."""

# How complex numbers are passed differs on Windows: there NumPy computes them.
_COMPLEX: Final = () if sys.platform == "win32" else (
    "exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
)  # fmt: skip


def function_of(op: Op, dtype: str) -> str:
    """The function of libm that computes a primitive on numbers of a dtype; empty if none does."""
    if dtype[0] == "c":
        return "c" + LIBM.get(op.name, op.name) if op.name in (*_COMPLEX, "sqrt") else ""
    return LIBM.get(name_of(op), "")


TABLE: dict[str, dict[str, Rule]] = {
    "add": {"f": plain("fadd"), "c": by_parts(plain("fadd")), "b": plain("or"), **kinds("iu", plain("add"))},
    "sub": {"f": plain("fsub"), "c": by_parts(plain("fsub")), **kinds("iu", plain("sub"))},
    "mul": {"f": plain("fmul"), "c": mul_complex, "b": plain("and"), **kinds("iu", plain("mul"))},
    "div": {"f": plain("fdiv"), "c": div_complex},
    "neg": {**kinds("iuf", neg), "c": by_parts(neg)},
    "sign": {**kinds("iuf", sign), "c": sign_complex},
    "abs": {"f": intrinsic("fabs"), "i": abs_int, "u": same, "c": abs_complex},
    "sqrt": {"f": intrinsic("sqrt"), **({"c": complex_libm("csqrt")} if _COMPLEX else {})},
    "floor": {"f": intrinsic("floor")},
    "ceil": {"f": intrinsic("ceil")},
    "trunc": {"f": intrinsic("trunc")},
    "rint": {"f": intrinsic("rint"), "c": rint_complex},
    "copysign": {"f": intrinsic("copysign")},
    "maximum": {"f": extremum("maximum"), "b": plain("or"), **kinds("iu", whole("max"))},
    "minimum": {"f": extremum("minimum"), "b": plain("and"), **kinds("iu", whole("min"))},
    "fmax": {"f": intrinsic("maxnum"), "b": plain("or"), **kinds("iu", whole("max"))},
    "fmin": {"f": intrinsic("minnum"), "b": plain("and"), **kinds("iu", whole("min"))},
    "floor_divide": {"f": floor_divide_float, **kinds("iu", floor_divide_int)},
    "remainder": {"f": remainder_float, **kinds("iu", remainder_int)},
    "heaviside": {"f": heaviside},
    "logaddexp": {"f": log_add("exp", ("log1p", 1.0))},
    "logaddexp2": {"f": log_add("exp2", ("log1p", 1 / math.log(2)))},
    "bitwise_and": kinds("biu", plain("and")),
    "bitwise_or": kinds("biu", plain("or")),
    "bitwise_xor": kinds("biu", plain("xor")),
    "invert": kinds("biu", invert),
    "left_shift": kinds("iu", shift_left),
    "right_shift": kinds("iu", shift_right),
    "bitwise_count": kinds("iu", bit_count),
    "high_product": kinds("u", high_product),
    "equal": compare("oeq", "eq"),
    "not_equal": compare("une", "ne"),
    "less": compare("olt", "lt"),
    "less_equal": compare("ole", "le"),
    "greater": compare("ogt", "gt"),
    "greater_equal": compare("oge", "ge"),
    "gcd": kinds("iu", euclid.gcd),
    "lcm": kinds("iu", euclid.lcm),
    "spacing": {"f": exponents.spacing},
    "mantissa": {"f": exponents.mantissa},
    "exponent": {"f": exponents.exponent},
    "isnan": {"f": is_nan, "c": any_part(is_nan, "or"), **kinds("biu", always("false"))},
    "isinf": {"f": is_inf, "c": any_part(is_inf, "or"), **kinds("biu", always("false"))},
    "isfinite": {"f": is_finite, "c": any_part(is_finite, "and"), **kinds("biu", always("true"))},
    "signbit": {"f": signbit},
    "select": kinds("biufc", select),
    "conj": {"c": conj},
    "real": {"c": real_part},
    "imag": {"c": imag_part},
    "complex": {"f": pair},
    **{name: {"f": libm(function)} for name, function in LIBM.items()},
    "pow": {"f": libm("pow"), **kinds("iu", euclid.power), **({"c": complex_power.power} if _COMPLEX else {})},
    "fmod": {"f": libm("fmod"), **kinds("iu", fmod_int)},
    **{name: {"f": libm(LIBM[name]), "c": complex_libm("c" + LIBM[name])} for name in _COMPLEX},
}
"""Name of a primitive → kind of its last operand → code."""


FOLDS = {
    "add": "biufc", "mul": "biufc", "max": "biuf", "min": "biuf", "and": "b", "or": "b",
    "argmax": "iuf", "argmin": "iuf",
}  # fmt: skip
"""Kind of a fold → kinds of dtype of its elements that it has code for."""


def combine(w: Writer, kind: str, d: str, acc: Val, x: Val, *, is_number: bool = False) -> Val:
    """One step of a fold. Only here may LLVM reorder float sums: see Note [sums] in `accumulator`; and of zeros take
    either, as NumPy does, for the largest or smallest. is_number: nothing that is folded is NaN."""
    if d == "f16":
        wide = [convert(w, d, "f32", value) for value in (acc, x)]
        return convert(w, "f32", d, combine(w, kind, "f32", wide[0], wide[1], is_number=is_number))
    t = llvm_type(d)
    if kind in ("add", "mul") and d[0] in "fc":
        if d[0] == "f":
            return w.op(f"f{kind} reassoc {t} {acc}, {x}")
        assert isinstance(acc, tuple)
        assert isinstance(x, tuple)
        if kind == "add":
            return w.op(f"fadd reassoc {t} {acc[0]}, {x[0]}"), w.op(f"fadd reassoc {t} {acc[1]}, {x[1]}")
    if kind in ("max", "min") and d[0] == "f":
        return w.call(f"llvm.{kind}imum.{d}", d, str(acc), str(x), flags=f"nnan {EITHER}" if is_number else EITHER)
    name = {"max": "maximum", "min": "minimum", "and": "bitwise_and", "or": "bitwise_or"}.get(kind, kind)
    return TABLE[name][d[0]](w, d, acc, x)
