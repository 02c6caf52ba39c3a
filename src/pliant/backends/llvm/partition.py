"""The functions of a program in several modules, which LLVM compiles at the same time.

A function that is not inlined is in one module, where all that it inlines is too, and the formulas that it calls; in
others it is declared. The parts depend on the program alone, so that its code is the same however many cores there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

from pliant.core.data import frozen

MOST: Final = 4
"""Modules of one program at most: each has to be read and set up."""
FEWEST: Final = 150
"""Lines of a module at least: LLVM takes a tenth of a millisecond for one."""
_BEGINS: Final = re.compile(r"^(?=define )", re.MULTILINE)
_NAME: Final = re.compile(r"@([\w.]+)\(")
_MENTIONED: Final = re.compile(r"[@(]([A-Za-z_][\w.]*)")
_ALONE: Final = re.compile(r"\) #[01] \{$")  # functions that are called: those with the attributes of a segment's


@final
@frozen
class Part:
    """Some functions for one module, and declarations of those that it calls and does not have."""

    functions: tuple[str, ...]
    declared: tuple[str, ...]


def partition(texts: Iterable[str]) -> list[Part]:
    """Functions, of which each text may hold several, in the parts of a program."""
    parts = [text for given in texts for text in _BEGINS.split(given) if text.startswith("define")]
    functions = {name_of(text): text for text in outermost_first(parts)}
    uses = {name: [n for n in _MENTIONED.findall(text) if n in functions] for name, text in functions.items()}
    called = [name for name, text in functions.items() if _ALONE.search(head_of(text))]
    with_copies = {name: _closure(name, uses, {*called}) for name in called}
    groups = _groups({name: sum([functions[n].count("\n") for n in of]) for name, of in with_copies.items()})
    if len(groups) < 2:
        return [Part(tuple(functions.values()), ())]
    return [_part(group, functions, uses, with_copies) for group in groups]


def outermost_first(texts: Sequence[str]) -> list[str]:
    """Functions, of which each comes after those that it calls, the other way round. LLVM inlines one after the other:
    what is inside of others it then copies once, to where it stays, and not at each of the levels around it."""
    return [*reversed(texts)]


def name_of(text: str) -> str:
    """The name of the first function of a text."""
    found = _NAME.search(text)
    assert found, text[:80]
    return found[1]


def head_of(text: str) -> str:
    """The line that a function begins with."""
    return text.split("\n", 1)[0]


def _closure(name: str, uses: Mapping[str, Sequence[str]], called: set[str]) -> set[str]:
    """A function, and those of which it needs a copy."""
    found, todo = {name}, [*uses[name]]
    while todo:
        other = todo.pop()
        if other not in found and other not in called:
            found.add(other)
            todo += uses[other]
    return found


def _groups(sizes: Mapping[str, int]) -> list[list[str]]:
    """Names in groups, none of which is longer than the longest function if that can be."""
    longest = max(sizes.values(), default=0)
    others = sum(sizes.values()) - longest
    count = 1 + -(-others // longest) if others >= FEWEST else 1
    groups: list[list[str]] = [[] for _ in range(min(MOST, count))]
    filled = [0] * len(groups)
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        least = filled.index(min(filled))
        groups[least].append(name)
        filled[least] += sizes[name]
    return groups


def _part(
    group: Sequence[str],
    functions: Mapping[str, str],
    uses: Mapping[str, Sequence[str]],
    with_copies: Mapping[str, set[str]],
) -> Part:
    inside = set[str]().union(*[with_copies[name] for name in group])
    needed = {n for name in inside for n in uses[name]} - inside
    made = [
        text.replace("define internal", "define hidden", 1) if name in with_copies else text
        for name, text in functions.items()
        if name in inside
    ]
    return Part(tuple(made), tuple([declaration(functions[name]) for name in functions if name in needed]))


def declaration(text: str) -> str:
    """The declaration of a function that another module has."""
    return re.sub(r"^define (internal )?", "declare ", head_of(text)).rstrip(" {")
