"""Calls in a user's source that may go over elements: of what makes iterators, and of what is made of generators."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Set
from typing import Final, cast

from pliant.frontend.control.names import SCOPES, own
from pliant.frontend.control.syntax import may_wait

FOLDS: Final = frozenset(("sum", "any", "all", "max", "min", "list", "tuple", "len", "sorted"))
_ORDERS: Final = frozenset(("max", "min", "sorted"))
_GENERATORS: Final = (ast.GeneratorExp, ast.ListComp)
_ITERATORS: Final = frozenset((
    "range", "enumerate", "zip", "reversed", "map", "filter", "product", "combinations", "starmap",
    "pairwise", "islice", "combinations_with_replacement", "chain", "from_iterable", "arange", "ndindex",
    "ndenumerate", "count", "cycle", "repeat", "takewhile", "filterfalse", "compress",
))  # fmt: skip
_UNCHANGING: Final = {"np", "numpy", "math", *dir(builtins)} - {"next", "setattr", "delattr", "map"}
_OF_MODULES: Final = _ITERATORS - {"range", "enumerate", "zip", "reversed", "map", "filter"}


def makes_iterator(node: ast.expr, local: Set[str]) -> bool:
    """Whether an expression is a call of what makes iterators, if its name stands for that of Python, `itertools` or
    NumPy; local: the names that the function binds."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in _ITERATORS - local
    return isinstance(node.func, ast.Attribute) and node.func.attr in _OF_MODULES


def goes_over(node: ast.Call, local: Set[str]) -> bool:
    """Whether a call is one of Python's functions of an iterator that it makes."""
    is_known = isinstance(node.func, ast.Name) and node.func.id in FOLDS - local
    return is_known and len(node.args) == 1 and makes_iterator(node.args[0], local) and may_wait(node)


def keys(nodes: Iterable[ast.AST], local: Set[str]) -> list[ast.AST]:
    """The functions by which Python's own put elements in order, as `lambda k: x[k]` in `max(x, key=lambda k: x[k])`:
    they are called where they stand, and then no more."""
    calls = [n for n in own(nodes) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    ordered = [n for n in calls if cast("ast.Name", n.func).id in _ORDERS - local]
    found = [k.value for n in ordered for k in n.keywords if k.arg == "key" and isinstance(k.value, ast.Lambda)]
    return [key for key in found if not any([isinstance(n, SCOPES) for n in own([key.body])])]


def may_change(node: ast.expr) -> bool:
    """Whether an expression calls a function that may change something."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    names = {n.id for call in calls for n in ast.walk(call.func) if isinstance(n, ast.Name)}
    return any([not name.startswith("__pliant_") and name not in _UNCHANGING for name in names])


def is_fold(node: ast.Call, local: Set[str]) -> bool:
    """Whether a call is one of Python's functions of a generator."""
    if not isinstance(node.func, ast.Name) or node.func.id not in FOLDS - local or not node.args:
        return False
    generator = node.args[0]
    if not isinstance(generator, _GENERATORS) or not may_wait(node):
        return False
    if node.func.id == "len" and not any([c.ifs for c in generator.generators]):
        return False  # the list has as many elements as are gone over
    return all([k.arg is not None for k in node.keywords])
