"""Choices between floats by conditions that lie in memory are made without branches.

x86 before AVX-512 has no conditional move of floats: LLVM makes a branch of `select`, unless a comparison of floats
that nothing else reads decides. The way back of `max` and of short branches chooses which operand has the cotangent by
what a tape says, or what a comparison of what is held still, which no processor can predict; and the way forward
compares both to choose and to keep. Vectors choose by masks. Where nothing is kept, LLVM's choice stays: a branch that
is predicted makes nothing wait.

It is done on the text of LLVM's result. Masks made before LLVM's passes would keep its vectoriser from loops that are
better written in vectors as a whole, and the passes turn a choice of whole numbers, see `_Lines.choose`, back into one
of floats. llvmlite prints modules and parses them, but cannot change one. A line is rewritten only if it is in one of a
few forms as a whole, and so is what makes its condition; any other line stays as LLVM has it, which is slower at worst.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from typing import Final, TypeAlias, final

NAME: Final = r"%[\w.$-]+"
CHOICE: Final = re.compile(
    rf"^  ({NAME}) = select i1 ({NAME}), (double|float) ([^,\n]+), (?:double|float) ([^,\n]+)$", re.MULTILINE
)
MADE: Final = re.compile(rf"^  ({NAME}) = ((?:fcmp|icmp|and i1|or i1|xor i1|load i8,|zext i1) .*)$", re.MULTILINE)
COMPARED: Final = re.compile(r"fcmp (\w+) (double|float) ([^,]+), ([^,]+)$")
HELD: Final = re.compile(rf"icmp (eq|ne) i8 ({NAME}), 0$")
STORED: Final = re.compile(rf"zext i1 ({NAME}) to i8$")
VECTORS: Final = {"double": ("<2 x double>", "i64", "<2 x i64>"), "float": ("<4 x float>", "i32", "<4 x i32>")}
MASKS: Final = {"double": "<2 x i1>", "float": "<4 x i1>"}
ZERO: Final = "0.000000e+00"
DEEPEST: Final = 8  # conditions made of conditions
_ZERO_CHOSEN: Final = re.compile(
    r"select i1 [^,]+, (?:double|float) (?:0x0{16},|[^,]+, (?:double|float) 0x0{16}$)", re.MULTILINE
)

Made: TypeAlias = Mapping[str, str]


def are_branches(features: set[str]) -> bool:
    """Whether a processor with these features chooses between floats by branches."""
    return platform.machine() in ("x86_64", "AMD64") and "avx512f" not in features


def may_have_branches(text: str) -> bool:
    """Whether LLVM IR, before LLVM's passes, reads what a tape says, or parts a cotangent by a comparison."""
    return "load i8, ptr" in text or _ZERO_CHOSEN.search(text) is not None


def without_branches(text: str) -> str:
    """LLVM IR after LLVM's passes with such choices by masks; the text itself if it has none."""
    if not CHOICE.search(text):
        return text
    return "".join([_in_function(part) for part in re.split(r"^(?=define )", text, flags=re.MULTILINE)])


def _in_function(text: str) -> str:
    made = dict(MADE.findall(text))
    decisive = {match[1] for how in made.values() if (match := STORED.match(how))} | _parting(text)

    def choice(match: re.Match[str]) -> str:
        name, condition, type, *operands = match.groups()
        compared = COMPARED.match(made.get(condition, ""))
        lines = _Lines(name, type)
        if compared and condition in decisive and compared[2] == type and not _is_extremum(compared, operands):
            lines.choose(lines.compared(compared[1], compared[3], compared[4]), operands)
        elif _is_kept(condition, made):
            lines.choose(lines.held(condition, made), operands)
        return "\n".join(lines.lines) or match[0]

    return CHOICE.sub(choice, text)


def _parting(text: str) -> set[str]:
    """The conditions that decide for several floats which are zero: parts of one cotangent."""
    found: dict[str, list[bool]] = {}
    for _, condition, _, *operands in CHOICE.findall(text):
        found.setdefault(condition, []).append(ZERO in operands)
    return {condition for condition, are_zeros in found.items() if len(are_zeros) > 1 and any(are_zeros)}


def _is_extremum(compared: re.Match[str], operands: list[str]) -> bool:
    """Whether a comparison chooses the greater or the smaller of what it compares: that is one instruction."""
    predicate, _, *both = compared.groups()
    return predicate in ("ogt", "olt") and both == operands


def _is_kept(condition: str, made: Made, depth: int = DEEPEST) -> bool:
    """Whether a condition is made of what was read from memory."""
    how = made.get(condition, "")
    held = HELD.match(how)
    if held:
        return held[2] in made
    parts = re.findall(NAME, how) if how.startswith(("and", "or", "xor")) and depth else []
    return any([_is_kept(part, made, depth - 1) for part in parts])


@final
class _Lines:
    """What takes the place of one choice. name: of its value; type: of that."""

    def __init__(self, name: str, type: str) -> None:
        self.name, self.type = name, type
        self.vector, self.whole, self.wholes = VECTORS[type]
        self.lines = list[str]()

    def op(self, text: str) -> str:
        """Append an instruction; the name of its value."""
        name = f"%choice.{self.name[1:]}.{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def first(self, x: str) -> str:
        """A vector that begins with a float."""
        return self.op(f"insertelement {self.vector} poison, {self.type} {x}, i64 0")

    def compared(self, predicate: str, x: str, y: str) -> str:
        """The mask of a comparison of floats."""
        return self.op(f"fcmp {predicate} {self.vector} {self.first(x)}, {self.first(y)}")

    def held(self, condition: str, made: Made) -> str:
        """The mask of a condition that lies in memory, or is made of such."""
        held = HELD.match(made[condition])
        predicate, source = (held[1], f"i8 {held[2]}") if held else ("ne", f"i1 {condition}")
        wide = self.op(f"zext {source} to {self.whole}")
        vector = self.op(f"insertelement {self.wholes} zeroinitializer, {self.whole} {wide}, i64 0")
        return self.op(f"icmp {predicate} {self.wholes} {vector}, zeroinitializer")

    def choose(self, mask: str, operands: list[str]) -> None:
        """Append the choice; of whole numbers: LLVM would make a branch of one of floats that a comparison makes."""
        x, y = (self.bits(operand) for operand in operands)
        chosen = self.op(f"select {MASKS[self.type]} {mask}, {self.wholes} {x}, {self.wholes} {y}")
        floats = self.op(f"bitcast {self.wholes} {chosen} to {self.vector}")
        self.lines.append(f"  {self.name} = extractelement {self.vector} {floats}, i64 0")

    def bits(self, x: str) -> str:
        """The bits of a float, in a vector that begins with them."""
        if x == ZERO:
            return "zeroinitializer"
        return self.op(f"bitcast {self.vector} {self.first(x)} to {self.wholes}")
