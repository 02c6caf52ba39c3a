"""Lists that nothing but a name refers to: it is bound to new ones only, and none of them is passed on.

held = []                   every binding makes a list
for v in xs:
    held.append(v)          every use is a call of a method, an element, or what `len` and its like make of it:
    total += max(held)      where a step binds `held` anew, nobody sees what becomes of the list before
    held = []
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

_METHODS: Final = frozenset("append extend insert pop remove clear sort reverse index count copy".split())
_FUNCTIONS: Final = frozenset("len sum min max sorted any all".split())


def lone(body: Sequence[ast.AST]) -> set[str]:
    """The names of such lists in a function's body, which are no parameters."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    harmless = {id(name) for node in nodes for name in _harmless(node)}
    found = [node for node in nodes if isinstance(node, ast.Name)]
    other = {name for node in nodes for key in ("name", "asname", "rest") if (name := getattr(node, key, None))}
    return {node.id for node in found} - {node.id for node in found if id(node) not in harmless} - other


def _harmless(node: ast.AST) -> Iterator[ast.Name]:
    """The names that a node binds to a new list, or uses without passing on what they are bound to."""
    match node:
        case ast.Assign([ast.Name() as name], ast.List() | ast.ListComp()):
            yield name
        case ast.Call(ast.Attribute(ast.Name() as name, method)) if method in _METHODS:
            yield name
        case ast.Subscript(ast.Name() as name):
            yield name
        case ast.Call(ast.Name(function), [ast.Name() as name]) if function in _FUNCTIONS:
            yield name
        case _:
            pass
