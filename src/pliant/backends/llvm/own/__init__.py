"""Mathematical functions of our own, as formulas that LLVM inlines and makes vectors of."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from typing import Final

from pliant.backends.llvm.own import circular, exponentials, gammas, logarithms, planar, powers, remainders
from pliant.backends.llvm.own.formula import F32, F64, Body, Num

FORMULAS: Final[dict[str, Callable[..., Num]]] = {
    "exp": exponentials.exp, "exp2": exponentials.exp2, "expm1": exponentials.expm1, "sinh": exponentials.sinh,
    "cosh": exponentials.cosh, "tanh": exponentials.tanh,
    "log": logarithms.log, "log2": logarithms.log2, "log10": logarithms.log10, "log1p": logarithms.log1p,
    "asinh": logarithms.asinh, "acosh": logarithms.acosh, "atanh": logarithms.atanh,
    "sin": circular.sin, "cos": circular.cos, "tan": circular.tan, "asin": circular.asin, "acos": circular.acos,
    "atan": circular.atan, "atan2": circular.atan2,
    "cbrt": powers.cbrt, "hypot": powers.hypot, "pow": powers.pow, "fmod": remainders.fmod,
    "lgamma": gammas.log_gamma, "digamma": gammas.digamma,
}  # fmt: skip
"""Name of a function of libm → its formula."""

COMPLEX: Final[dict[str, Callable[..., tuple[Num, Num]]]] = {
    "cexp": planar.exp, "clog": planar.log, "csqrt": planar.sqrt, "csin": planar.sin, "ccos": planar.cos,
    "ctan": planar.tan, "csinh": planar.sinh, "ccosh": planar.cosh, "ctanh": planar.tanh,
}  # fmt: skip
"""The same of complex numbers, of which the platform has no vectors."""

ALWAYS: Final = frozenset([(name, type) for name in ("lgamma", "digamma") for type in ("double", "float")])
"""(function, LLVM type) of formulas of what no platform has vectors of, or what it has not at all."""

FASTER: Final = frozenset(
    [
        ("exp", "double"),
        ("exp", "float"),
        ("tanh", "double"),
        ("tanh", "float"),
        ("atanh", "double"),
        ("atanh", "float"),
        *[(name, type) for name in ("exp2", "expm1", "cosh", "log1p") for type in ("double", "float")],
        ("fmod", "double"),
        ("fmod", "float"),
        ("asinh", "double"),
        ("acosh", "double"),
        ("sin", "double"),
        ("sin", "float"),
        ("cos", "double"),
        ("cos", "float"),
    ]
)
"""(function, LLVM type) of formulas that are faster than glibc's vector functions, and as exact."""

FASTER_IF_WIDE: Final = frozenset(
    [
        ("atan", "double"),
        ("atan", "float"),
        ("log", "double"),
        ("sinh", "double"),
        ("asin", "float"),
    ]
)
"""The same besides where vectors have 64 bytes: as fast by themselves, they leave registers to what is around them."""


def served(features: set[str], *, vectors: bool) -> frozenset[tuple[str, str]]:
    """(function, LLVM type) of all formulas that are used on a machine with these features.

    vectors: whether the platform has vector functions. PLIANT_MATH=own uses all formulas, PLIANT_MATH=system none.
    """
    wanted = os.environ.get("PLIANT_MATH", "")
    has_fused = "fma" in features or platform.machine().lower() in ("arm64", "aarch64")
    if wanted == "system" or not has_fused:  # without fused products formulas are neither fast nor exact
        return ALWAYS
    planar = frozenset([(name, type) for name in COMPLEX for type in ("double", "float")])
    if vectors and wanted != "own":
        return planar | ALWAYS | (FASTER | FASTER_IF_WIDE if "avx512f" in features else FASTER)
    return planar | frozenset([(name, type) for name in FORMULAS for type in ("double", "float")])


def is_inlined(name: str) -> bool:
    """Whether a formula has no branch: LLVM inlines it, and makes vectors of the loop around it."""
    return name not in ("sin", "cos", "tan", "fmod", "lgamma", "digamma", *COMPLEX)


def is_two(name: str) -> bool:
    """Whether a function takes two numbers."""
    return name in ("atan2", "fmod", "hypot", "pow", *COMPLEX)


def definition(
    symbol: str,
    name: str,
    type: str,
    function: Callable[..., str],
    lanes: int = 1,
    *,
    has_scale: bool = False,
    more: str = "",
) -> str:
    """The LLVM function of a formula. function: declares one of a library, and names it. more: attributes."""
    body = Body(F64 if type == "double" else F32, function, lanes, has_scale=has_scale)
    parameters = ["%x", "%y"][: 1 + is_two(name)]
    made, result = result_of(body, name, [Num(body, p) for p in parameters])
    listed = ", ".join([f"{body.type} {p}" for p in parameters])
    inlined = "alwaysinline" if is_inlined(name) else "noinline"
    head = f"define internal {made} @{symbol}({listed}) {inlined} nounwind willreturn memory(none){more} {{"
    return "\n".join([head, "entry:", *body.lines, f"  ret {made} {result}", "}", ""])


def result_of(body: Body, name: str, args: Sequence[Num]) -> tuple[str, str]:
    """The LLVM type of what a formula makes, and its text."""
    if name in FORMULAS:
        return body.type, FORMULAS[name](body, *args).text
    real, imag = COMPLEX[name](body, *args)
    pair = f"{{ {body.type}, {body.type} }}"
    first = body.op(f"insertvalue {pair} poison, {body.type} {real.text}, 0")
    return pair, body.op(f"insertvalue {pair} {first}, {body.type} {imag.text}, 1")
