"""What all functions of one LLVM module share: declarations, metadata, constants."""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Callable, Sequence
from typing import Final, final

from pliant.backends.llvm.jit import NEXT, SECOND
from pliant.backends.llvm.math import VECTOR_MATH
from pliant.backends.llvm.own import COMPLEX, definition, is_inlined, is_two
from pliant.backends.llvm.partition import outermost_first, partition
from pliant.backends.llvm.width import Times, is_narrow
from pliant.kernel.ir import Buffer, Step

WIDE: Final = "#0"
"""Attributes of functions whose loops are long: their vectors are as wide as the processor has them."""
AT_ONCE: Final = 128
"""Bytes that a formula with a branch computes at a time: several vectors, none of which waits for another."""
LEAST: Final = 32
"""Bytes of the narrowest vectors that one is written for, if the processor has them: each takes LLVM time."""
BY_VECTORS: Final = platform.machine().lower() in ("x86_64", "amd64")
"""Whether C passes a complex float as a vector of two."""
PARTS: Final = ("%x", "%y", "%u", "%v")
"""The parts of the complex numbers, one or two, that a function is given."""
NARROW: Final = "#1"
"""Attributes of functions whose loops are short: their vectors are no wider than 32 bytes."""


@final
class Module:
    """The text around the functions. `vectors` are the vector variants of libm at hand."""

    def __init__(
        self,
        vectors: tuple[tuple[str, int], ...],
        own: frozenset[tuple[str, str]],
        widths: tuple[int, ...],
        past_caches: frozenset[Buffer] = frozenset(),
    ) -> None:
        self.vectors = vectors  # (libmvec's letter of the instruction set, bytes per vector)
        self.own = own  # (function, LLVM type) that formulas of our own compute
        self.widths = widths  # bytes of the processor's vectors
        self.times: Times = {}
        self.past_caches = past_caches  # what is written past the caches: see `streams`
        self.declared: dict[str, str] = {}
        self.kept: list[str] = []
        self.attributes: list[str] = []
        self.metadata: list[str] = ["!0 = !{}"]
        self.tuples: dict[tuple[str, ...], str] = {}
        self.constants: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.written: dict[str, tuple[str, str]] = {}  # functions of the second module: declaration and text
        self.domain = ""
        self.around = 0  # while loops around what is written: see `written_out` of the emitter
        self.alternating = False  # whether what is written is in a loop after whose steps memory changes roles
        self.unrolled_lines = 0  # that loops became so far by being unrolled, in all functions
        self.calls_that_fail: set[str] = set()  # functions after a call of which their caller may return
        self.repeated = 0  # lines that will be there more than once, as loops are unrolled

    def is_narrow(self, steps: Sequence[Step]) -> bool:
        """Whether some steps take less time with vectors of half the width."""
        return is_narrow(steps, self.widths, self.times)

    def function(self, name: str, type: str, count: int) -> str:
        """The name of a function of floats, declared, with its vector variants, or defined."""
        if (name, type) not in self.own:
            return self.library(name, count, type, name in VECTOR_MATH)
        symbol = f"pliant_{name}_{type}"
        if symbol in self.helpers:
            return "@" + symbol
        more = "" if is_inlined(name) else f' "vector-function-abi-variant"="{self.own_variants(symbol, name, type)}"'
        return self.helper(symbol, lambda _: self.definition(symbol, name, type, more=more))

    def own_variants(self, symbol: str, name: str, type: str) -> str:
        """Vector variants of a formula with a branch, defined and kept."""
        # LLVM drops what nobody reads of a function all of whose calls it sees: these would be variants of another one.
        self.kept.append(f"ptr @{symbol}")
        found = list[str]()
        for width in sorted({*[w for w in self.widths if w >= min(LEAST, max(self.widths))], AT_ONCE}):
            lanes = width // struct.calcsize("f" if type == "float" else "d")
            variant = f"{symbol}_{lanes}"
            self.helpers[variant] = self.definition(variant, name, type, lanes)
            self.kept.append(f"ptr @{variant}")
            found.append(f"_ZGV_LLVM_N{lanes}{'v' * (1 + is_two(name))}_{symbol}({variant})")
        return ",".join(found)

    def definition(self, symbol: str, name: str, type: str, lanes: int = 1, more: str = "") -> str:
        """The function of a formula."""
        return definition(symbol, name, type, self.library, lanes, has_scale=64 in self.widths, more=more)

    def library(self, name: str, count: int, type: str, has_vectors: bool = False, more: str = "") -> str:
        """The name of a function of a library, or of an intrinsic, declared. more: the type of one more operand."""
        if name in COMPLEX:
            return self.complex_library(name, type)
        full = name + "f" if type == "float" and not name.startswith("llvm.") else name
        if full not in self.declared:
            base = "memory(none) nounwind willreturn"
            if not name.startswith("llvm."):
                base += " nocallback nofree nosync speculatable"
            number = len(self.attributes) + 2
            variants = self.variants(full, type, count) if has_vectors else []
            extra = f' "vector-function-abi-variant"="{",".join(variants)}"' if variants else ""
            self.attributes.append(f"attributes #{number} = {{ {base}{extra} }}")
            args = ", ".join([type] * count + [more] * bool(more))
            self.declared[full] = f"declare {type} @{full}({args}) #{number}"
        return "@" + full

    def complex_function(self, name: str, type: str) -> str:
        """The name of a function from two parts of a complex number to two, declared or defined."""
        return self.function(name, type, 2) if (name, type) in self.own else self.complex_library(name, type)

    def complex_library(self, name: str, type: str, count: int = 1) -> str:
        """The name of a function of libm on complex doubles, declared; that of floats goes by way of it."""
        pure, given = "memory(none) nounwind willreturn", ", ".join(["double, double"] * count)
        self.declared[name] = f"declare {{ double, double }} @{name}({given}) {pure}"
        if type == "double":
            return "@" + name
        return self.helper(f"{name}_of_floats", lambda new: of_complex_floats(new, count, by_doubles(name, count)))

    def narrow_library(self, name: str, type: str, count: int) -> str:
        """The same, but that of floats is libm's where it is known how to call it: it has NumPy's digits, if fewer."""
        if type == "double" or not BY_VECTORS:
            return self.complex_library(name, type, count)
        given = ", ".join(["<2 x float>"] * count)
        self.declared[name + "f"] = f"declare <2 x float> @{name}f({given}) memory(none) nounwind willreturn"
        return self.helper(f"{name}_of_vectors", lambda new: of_complex_floats(new, count, by_vectors(name, count)))

    def variants(self, full: str, type: str, count: int) -> list[str]:
        """Vector variants of a function of libm, declared and kept."""
        found = list[str]()
        for letter, width in self.vectors:
            lanes = width // struct.calcsize("f" if type == "float" else "d")
            symbol = f"_ZGV{letter}N{lanes}{'v' * count}_{full}"
            vector = f"<{lanes} x {type}>"
            self.declared[symbol] = f"declare {vector} @{symbol}({', '.join([vector] * count)}) nounwind"
            self.kept.append(f"ptr @{symbol}")
            found.append(f"{symbol}({symbol})")
        return found

    def constant(self, text: str) -> str:
        """A constant in memory, as an argument."""
        name = self.constants.get(text)
        if name is None:
            name = self.constants[text] = f"@c{len(self.constants)}"
        return f"ptr {name}"

    def helper(self, name: str, write: Callable[[str], str]) -> str:
        """The name of a function that several steps call, written once."""
        if name not in self.helpers:
            self.helpers[name] = write(name)
        return "@" + name

    def in_vectors(self, name: str, declaration: str, write: Callable[[str], str]) -> str:
        """The name of a function all of whose long loops are written in vectors, written once. declaration: `{0}` in it
        is its name."""
        if name not in self.written:
            text = write(name).replace("define internal", "define hidden", 1)
            self.written[name] = declaration.format("@" + name), text
        return "@" + name

    def scope(self, number: int) -> str:
        """The n-th alias scope of a fresh domain for n = 0, of the latest one otherwise."""
        if number == 0:
            self.domain = self.add("distinct !{{{0}}}")
        return self.add("distinct !{{{0}, " + self.domain + "}}")

    def unrolled(self) -> str:
        """Metadata of a loop that is to be unrolled."""
        return self.loop(['!"llvm.loop.unroll.full"'])

    def not_unrolled(self) -> str:
        """Metadata of a loop that stays one. Without, LLVM gives it that of an unrolled loop at its end, and warns."""
        return self.loop(['!"llvm.loop.unroll.disable"'])

    def several(self, steps: int) -> str:
        """Metadata of a loop of which so many steps are to be one."""
        return self.loop(['!"llvm.loop.unroll.count"', f"i32 {steps}"])

    def at_once(self, vectors: int) -> str:
        """Metadata of a loop of which so many vectors are to be computed at a time."""
        return self.loop(['!"llvm.loop.interleave.count"', f"i32 {vectors}"])

    def in_lanes(self, lanes: int) -> str:
        """Metadata of a loop that is to compute so many steps as one vector, wider than the processor's."""
        return self.loop(['!"llvm.loop.vectorize.width"', f"i32 {lanes}"], ['!"llvm.loop.interleave.count"', "i32 1"])

    def one_by_one(self) -> str:
        """Metadata of a loop that is to have no vectors."""
        return self.loop(['!"llvm.loop.vectorize.enable"', "i1 false"])

    def masked(self) -> str:
        """Metadata of a loop that is to have no rest: its last vector is computed under a mask."""
        return self.loop(['!"llvm.loop.vectorize.predicate.enable"', "i1 true"])

    def loop(self, *wishes: list[str]) -> str:
        """Metadata of a loop."""
        return self.add("distinct !{{{0}, " + ", ".join([self.tuple_of(wish) for wish in wishes]) + "}}")

    def add(self, text: str) -> str:
        """New metadata; `{0}` in it is its own name."""
        name = f"!{len(self.metadata)}"
        self.metadata.append(f"{name} = {text.format(name)}")
        return name

    def tuple_of(self, parts: list[str]) -> str:
        """A metadata list."""
        key = tuple(parts)
        if key not in self.tuples:
            self.tuples[key] = self.add("!{{" + ", ".join(parts) + "}}")
        return self.tuples[key]

    def text(self, functions: list[str], triple: str, features: tuple[str, str]) -> str:
        """The whole module."""
        cpu, feature = features
        machine = f'"target-cpu"="{cpu}" "target-features"="{feature}" "prefer-vector-width"'
        own = [
            f'attributes {n} = {{ nounwind noinline {machine}="{bits}" }}' for n, bits in ((WIDE, 512), (NARROW, 256))
        ]
        head, foot = [f'target triple = "{triple}"'], [*own, *self.attributes, *self.metadata]
        declared = [*self.declared.values(), *[declaration for declaration, _ in self.written.values()]]
        modules = list[str]()
        for part in partition([*self.helpers.values(), *functions]):
            code = "\n".join(part.functions)
            before = [*head, self.used_by(code), *self.globals_of(code), *declared, *part.declared, ""]
            modules.append("\n".join([*before, code, *foot, ""]))
        return NEXT.join(modules) + (SECOND + "\n".join([*head, *self.second(), *foot, ""]) if self.written else "")

    def used_by(self, code: str) -> str:
        """What keeps LLVM from dropping functions that are only named: variants of others in vectors."""
        there = [name for name in self.kept if name[5:] not in self.helpers or f"{name[4:]}(" in code]
        if not there:
            return ""
        listed = ", ".join(there)
        return f'@llvm.compiler.used = appending global [{len(there)} x ptr] [{listed}], section "llvm.metadata"\n'

    def globals_of(self, code: str) -> list[str]:
        """The constants that functions name."""
        named = {*re.findall(r"@c\d+\b", code)}
        return [f"{name} = private unnamed_addr constant {x}" for x, name in self.constants.items() if name in named]

    def second(self) -> list[str]:
        """Functions written in vectors, and what they call."""
        texts = [text for _, text in self.written.values()]
        called = [text for name, text in self.helpers.items() if any([f"@{name}(" in written for written in texts])]
        return [*self.declared.values(), *outermost_first([*called, *texts])]


def of_complex_floats(name: str, count: int, lines: list[str]) -> str:
    """The LLVM function of so many complex floats, given as `PARTS`, whose lines make the one of %re and %im."""
    pair, given = "{ float, float }", ", ".join([f"float {part}" for part in PARTS[: 2 * count]])
    head = f"define internal {pair} @{name}({given}) nounwind willreturn memory(none) {{"
    made = [f"  %first = insertvalue {pair} poison, float %re, 0", f"  %both = insertvalue {pair} %first, float %im, 1"]
    return "\n".join([head, *lines, *made, f"  ret {pair} %both", "}", ""])


def by_vectors(name: str, count: int) -> list[str]:
    """A call of a function that is given complex floats as vectors."""
    lines, xs = list[str](), PARTS[: 2 * count : 2]
    for x, y in zip(xs, PARTS[1::2], strict=False):
        lines.append(f"  {x}.one = insertelement <2 x float> poison, float {x}, i32 0")
        lines.append(f"  {x}.both = insertelement <2 x float> {x}.one, float {y}, i32 1")
    lines.append(f"  %made = call <2 x float> @{name}f({', '.join([f'<2 x float> {x}.both' for x in xs])})")
    return lines + [f"  {part} = extractelement <2 x float> %made, i32 {n}" for n, part in enumerate(("%re", "%im"))]


def by_doubles(name: str, count: int) -> list[str]:
    """A call of a function of complex doubles."""
    pair, parts = "{ double, double }", PARTS[: 2 * count]
    lines = [f"  {part}.wide = fpext float {part} to double" for part in parts]
    lines.append(f"  %made = call {pair} @{name}({', '.join([f'double {part}.wide' for part in parts])})")
    for n, part in enumerate(("%re", "%im")):
        lines.append(f"  {part}.wide = extractvalue {pair} %made, {n}")
        lines.append(f"  {part} = fptrunc double {part}.wide to float")
    return lines
