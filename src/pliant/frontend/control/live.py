"""Which names are read after a loop before they are bound again: a loop need not leave the others.

for k in range(n):
    x = A[k:, k]            `x` is bound again before anything reads it: the loop leaves no `x`
    …
x = np.zeros(n)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.frontend.control.calls import FOLDS, keys
from pliant.frontend.control.names import BINDER, Loop, always, bound, bound_by, captured, loads, own

Names: TypeAlias = frozenset[str]
_NONE: Names = frozenset()
_PASSING: Final = frozenset(("errstate", "printoptions", "catch_warnings", "nullcontext"))


@final
class Live:
    """The names that are read after each loop of a function's body, by the loop's node."""

    def __init__(self, body: Sequence[ast.AST], local: Set[str]) -> None:
        others = [n for n in body if not (isinstance(n, ast.FunctionDef) and n.name.startswith(BINDER))]  # that read
        self._any_time = _read(_generators(body, local)) | captured(others, keys(others, local))
        self._after: dict[ast.AST, Names] = {}
        _Flow(self._after).before(body, _NONE)

    def after(self, loop: Loop, names: Iterable[str]) -> set[str]:
        """Those of some names that may be read after a loop; all of them for a loop that is not in the body."""
        found = self._after.get(loop)
        return {*names} if found is None else {*names} & (found | self._any_time)


@final
@frozen
class _Flow:
    """What is read from a place in a block on; `found` is filled with what is read after each loop."""

    found: dict[ast.AST, Names]
    at_any_time: Names = _NONE  # as an exception leads there
    at_break: Names = _NONE
    at_continue: Names = _NONE
    at_return: Names = _NONE  # what the loops around need for their next steps, which are not taken

    def before(self, body: Iterable[ast.AST], after: Names) -> Names:
        """The names that some statements, and what follows, read before they bind them; after: what follows does."""
        live = after
        for node in reversed([*body]):
            live = self.step(node, live) | self.at_any_time
        return live

    def step(self, node: ast.AST, after: Names) -> Names:
        """`before` of one statement."""
        match node:
            case ast.If():
                return _through([node.test], self.before(node.body, after) | self.before(node.orelse, after))
            case ast.For() | ast.While():
                return self.loop(node, after)
            case ast.With():
                inside = self if lets_exceptions_pass(node) else replace(self, at_any_time=self.at_any_time | after)
                return _read(node.items) | inside.before(node.body, after)
            case ast.Try() | ast.TryStar() | ast.Match():
                return self.anyhow(node, after)
            case ast.Return() | ast.Raise():
                return _read([node]) | self.at_return
            case ast.Break():
                return self.at_break
            case ast.Continue():
                return self.at_continue
            case ast.Delete():
                return _read([t for t in node.targets if not isinstance(t, ast.Name)]) | after - bound([node])
            case _:
                return _through([node], after)

    def loop(self, node: Loop, after: Names) -> Names:
        """`before` of a loop. What a step reads first is read after every step."""
        ended = self.before(node.orelse, after)
        self.found[node] = ended | after
        head = ended
        for _ in range(2):
            ways = {"at_break": after | head, "at_continue": head, "at_return": self.at_return | head}  # a step that
            inside = replace(self, **ways)  # ends the loop leaves what others read, too: all have one form
            body = inside.before(node.body, head)
            if isinstance(node, ast.For):
                head = ended | _read([node.target]) | body - bound([node.target])
            else:
                head = _through([node.test], ended | body)
        return head | _read([node.iter]) if isinstance(node, ast.For) else head

    def anyhow(self, node: ast.AST, after: Names) -> Names:
        """`before` of a statement whose parts may be left anywhere for any other."""
        names = _read([node]) | after | self.at_any_time
        inside = replace(self, at_any_time=names)
        for block in _blocks(node):
            inside.before(block, names)
        return names


def _through(nodes: Sequence[ast.AST], after: Names) -> Names:
    """What is read from an expression or a simple statement on."""
    return _read(nodes) | after - bound_by(always(nodes))


def _read(nodes: Iterable[ast.AST]) -> Names:
    return frozenset(loads(nodes))


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of statements in a `try` or `match`."""
    if isinstance(node, ast.Match):
        return [case.body for case in node.cases]
    assert isinstance(node, ast.Try | ast.TryStar)
    return [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]


def lets_exceptions_pass(node: ast.With) -> bool:
    """Whether what follows a `with` is run only if its body ends without an exception, as far as names tell."""
    calls = [item.context_expr.func for item in node.items if isinstance(item.context_expr, ast.Call)]
    called = [getattr(function, "attr", getattr(function, "id", "")) for function in calls]
    return len(calls) == len(node.items) and _PASSING.issuperset(called)


def _generators(body: Sequence[ast.AST], local: Set[str]) -> list[ast.AST]:
    """The generators in statements that may be gone over later than where they stand; local: names that the function
    binds."""
    parts = [*own(body)]
    calls = [(part.func, part.args) for part in parts if isinstance(part, ast.Call)]
    folds = [args for called, args in calls if isinstance(called, ast.Name) and called.id in FOLDS - local]
    at_once = [argument for args in folds for argument in args[:1]]
    return [n for n in parts if isinstance(n, ast.GeneratorExp) and n not in at_once]
