"""Loops and branches of a user's function as calls, whose blocks are functions that share its names.

    for i in items: x = f(x, i)        def block(item):
                                           nonlocal i, x
                                           i = item; x = f(x, i)
                                       loop(items, block, …)

A block returns None where it runs to its end, else a signal: `break`, `continue`, `return value`. What
follows a statement that may be left that way becomes a block too. Line numbers and columns stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast, final

from pliant.frontend.control import names
from pliant.frontend.control.names import Function, Loop

RUNTIME: Final = (
    "branch", "loop", "repeat", "after", "result", "settled", "returned", "broken", "continued",
    "both", "either", "negated", "choose", "compare", "items", "attempted", "store", "assign",
)  # fmt: skip
"""What the rewritten statements call."""

BLOCK: Final = "__pliant_block_"  # how the name of every block begins
THUNK: Final = "__pliant_thunk__"  # a default argument that marks the lambdas made here
SIGNAL: Final = "__pliant_signal__"
ITEM: Final = "__pliant_element__"
_ITERATORS: Final = frozenset(("range", "enumerate", "zip", "reversed"))
_BLIND: Final = frozenset(("locals", "eval", "exec", "vars", "dir"))


def runtime(name: str) -> str:
    """The name of a free variable of rewritten code."""
    return f"__pliant_{name}__"


def controlled(node: Function) -> Function:
    """A function's definition with its loops and branches, and those of the functions inside, as calls."""
    names.mark_comprehensions(node)
    return _Statements(node, None).function()


@final
class _Statements:
    """The statements of one function, rewritten; `scope` is that of the function around it."""

    def __init__(self, node: Function, outer: _Statements | None) -> None:
        self.node = node
        body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
        self.globals = names.declared(body, ast.Global)
        self.nonlocals = names.declared(body, ast.Nonlocal)
        self.locals = (names.parameters(node) | names.bound(body)) - self.globals - self.nonlocals
        self.loads = names.loads(body)
        self.is_plain = names.is_generator(node) or bool(_BLIND & self.loads.keys())
        self.first = node.args.args[0].arg if node.args.args else outer.first if outer else ""
        self.declared: set[str] = set()  # names that blocks bind
        self.definitions: list[ast.stmt] = []  # of the blocks of the statement at hand
        self.count = 0

    def function(self) -> Function:
        """The definition with its body rewritten."""
        node = self.node
        expressions = _Expressions(self)
        if isinstance(node, ast.Lambda):
            node.body = expressions.visit(node.body)
            return node
        if self.is_plain:
            node.body = [_Inner(self).visit(statement) for statement in node.body]
            return node
        body = self.block(node.body, in_block=False, loop=None)
        missing = sorted((self.declared & self.locals) - names.parameters(node))
        node.body = [*_unbound(missing, node), *body] if missing else body
        return node

    # --- blocks

    def block(
        self, body: Sequence[ast.stmt], *, in_block: bool, loop: str | None, may_end: bool = True
    ) -> list[ast.stmt]:
        """Statements rewritten. `in_block` is whether they are in a block already; `loop` says what the loop
        around them became: "block", "plain", or None if there is none. Where not `may_end`, what follows
        the last of them is elsewhere: in a `try` or `with`."""
        made: list[ast.stmt] = []
        for n, statement in enumerate(body):
            if not isinstance(statement, ast.If | ast.For | ast.While) or not self.is_taken(statement, loop):
                made += self.statement(statement, in_block, loop)
                continue
            jumps = names.has_jump([statement])
            before, self.definitions = self.definitions, list[ast.stmt]()
            call = self.taken(statement, body[n + 1 :] if jumps and may_end else (), loop)
            made += self.definitions
            self.definitions = before
            if not jumps:
                made.append(_at(ast.Expr(call), statement))
            elif may_end:
                return [*made, _at(ast.Return(self.outcome(call, in_block)), statement)]
            else:
                made += self.checked(call, in_block, statement)
        return made

    def is_taken(self, node: ast.stmt, loop: str | None) -> bool:
        """Whether a statement becomes a call: not if it binds global names, or leaves a loop that is none."""
        if names.bound([node]) & self.globals:
            return False
        return loop != "plain" or not names.has_jump([node]) or isinstance(node, ast.For | ast.While)

    def taken(self, node: Any, rest: Sequence[ast.stmt], loop: str | None) -> ast.expr:
        """The call that an `if` or a loop becomes; `rest` follows it, and is part of it."""
        bound = _strings(names.bound(rest), node)
        if isinstance(node, ast.If):
            bound = _strings(names.bound([*node.body, *node.orelse, *rest]), node)
            jumps = names.has_jump(node.body) + 2 * names.has_jump(node.orelse)
            test = self.expression(node.test)
            blocks = [self.made(part, node, loop) for part in (node.body, node.orelse, rest)]
            return _call("branch", node, test, *blocks, bound, ast.Constant(jumps))
        is_left = names.has_jump([node])
        call = self.looped(node, loop)
        return _call("after", node, call, self.made(rest, node, loop), bound) if is_left else call

    def looped(self, node: Loop, loop: str | None) -> ast.expr:
        """The call that a loop becomes, whose result is a signal."""
        head: list[ast.stmt] = []
        whole: list[ast.AST] = []
        if isinstance(node, ast.For):
            item = _at(ast.Name(ITEM, ast.Load()), node.target)
            head = [_at(ast.Assign([node.target], item), node.target)]
        whole += [*head, *node.body] if isinstance(node, ast.For) else [node.test, *node.body]
        bound = names.bound(whole)
        inside = names.loads(whole)
        outside = {name for name in bound if self.loads.get(name, 0) > inside.get(name, 0)}
        kept = outside | bound & (self.nonlocals | names.captured(whole))
        live = (bound & names.read_first(whole)) | kept - names.surely_bound(whole)
        ends = ast.Constant(names.leaves_loop(node.body))
        facts = [
            *(_strings(part, node) for part in (bound, live, kept)),
            ends,
            _strings(names.bound(node.orelse), node),
        ]
        orelse = self.made(node.orelse, node, loop)
        if isinstance(node, ast.For):
            items = self.iterated(node.iter)
            return _call(
                "loop", node, items, self.made([*head, *node.body], node, "block", argument=ITEM), orelse, *facts
            )
        test = self.made([_at(ast.Return(node.test), node.test)], node.test, None, is_test=True)
        return _call("repeat", node, test, self.made(node.body, node, "block"), orelse, *facts)

    def iterated(self, node: ast.expr) -> ast.expr:
        """What a loop iterates over, with ranges and the like kept as such."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ITERATORS:
            is_plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
            if is_plain and node.func.id not in self.locals:
                return _call("items", node, node.func, *(self.iterated(a) for a in node.args))
        return self.expression(node)

    def outcome(self, call: ast.expr, in_block: bool) -> ast.expr:
        """What a signal becomes at the end of statements: itself in a block, else the function's result."""
        return call if in_block else _call("result", call, call)

    def checked(self, call: ast.expr, in_block: bool, at: ast.stmt) -> list[ast.stmt]:
        """A call whose signal must be known at once, as its statement is in a `try` or `with`."""
        signal = _at(ast.Name(SIGNAL, ast.Load()), at)
        store = _at(ast.Assign([_at(ast.Name(SIGNAL, ast.Store()), at)], _call("settled", at, call)), at)
        leave = _at(ast.Return(self.outcome(signal, in_block)), at)
        test = _at(ast.Compare(signal, [ast.IsNot()], [_at(ast.Constant(None), at)]), at)
        return [store, _at(ast.If(test, [leave], []), at)]

    def made(
        self,
        body: Sequence[ast.stmt],
        at: ast.AST,
        loop: str | None,
        *,
        argument: str | None = None,
        is_test: bool = False,
    ) -> ast.expr:
        """The name of a block's function, which is defined before the statement; None if it is empty."""
        if not body:
            return _at(ast.Constant(None), at)
        bound = names.bound(body) - {SIGNAL}
        self.declared |= bound
        inner = self.test_block(body) if is_test else self.block(body, in_block=True, loop=loop)
        shared = sorted(bound & (self.locals | self.nonlocals))
        head: list[ast.stmt] = [_at(ast.Nonlocal(shared), body[0])] if shared else []
        self.count += 1
        name = f"{BLOCK}{self.count}__"
        self.definitions.append(_definition(name, [*head, *inner], at, argument))
        return _at(ast.Name(name, ast.Load()), at)

    def test_block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The block of a `while`'s condition, which returns it."""
        (statement,) = body
        assert isinstance(statement, ast.Return)
        assert statement.value is not None
        statement.value = self.expression(statement.value)
        return [statement]

    # --- other statements

    def statement(self, node: ast.stmt, in_block: bool, loop: str | None) -> list[ast.stmt]:
        """A statement that stays one."""
        if isinstance(node, ast.Return):
            value = self.expression(node.value) if node.value else _at(ast.Constant(None), node)
            return [_at(ast.Return(_call("returned", node, value) if in_block else value), node)]
        if isinstance(node, ast.Break | ast.Continue) and loop == "block":
            name = "broken" if isinstance(node, ast.Break) else "continued"
            return [_at(ast.Return(_at(ast.Name(runtime(name), ast.Load()), node)), node)]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return [_Inner(self).visit(node)]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            plain = ast.Assign([node.target], node.value) if node.value else ast.Pass()  # a block's name has no type
            return self.statement(_at(plain, node), in_block, loop)
        guard: list[ast.stmt] = []
        if isinstance(node, ast.Try):
            guard = [_at(ast.Expr(_call("attempted", node)), node)]
        if isinstance(node, ast.For | ast.While):
            loop = "plain"
        for field, value in ast.iter_fields(node):
            setattr(node, field, self.part(value, in_block, loop))
        return [*guard, node]

    def part(self, value: Any, in_block: bool, loop: str | None) -> Any:
        """A field of a statement that stays one."""
        if isinstance(value, ast.expr):
            return self.expression(value)
        if not isinstance(value, list):
            return value
        parts: list[Any] = cast("list[Any]", value)
        if parts and isinstance(parts[0], ast.stmt):
            return self.block(parts, in_block=in_block, loop=loop, may_end=False)
        for part in parts:
            if isinstance(part, ast.ExceptHandler | ast.match_case):
                part.body = self.block(part.body, in_block=in_block, loop=loop, may_end=False)
        return [self.expression(part) if isinstance(part, ast.expr) else part for part in parts]

    def expression(self, node: ast.expr) -> Any:
        """An expression with its conditions as calls."""
        return _Expressions(self).visit(node)


@final
class _Inner(ast.NodeTransformer):
    """Rewrites the functions inside a statement, each in its own scope."""

    def __init__(self, outer: _Statements) -> None:
        self.outer = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return _Statements(node, self.outer).function()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return _Statements(node, self.outer).function()


@final
class _Expressions(ast.NodeTransformer):
    """Rewrites conditions inside expressions: their parts are evaluated where Python would."""

    def __init__(self, outer: _Statements) -> None:
        self.outer = outer

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return _Statements(node, self.outer).function()

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        *first, made = node.values
        for value in reversed(first):
            if not _may_wait(made):
                return node
            made = _call("both" if isinstance(node.op, ast.And) else "either", node, value, _thunk(made))
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return _call("negated", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        if not _may_wait(node.body) or not _may_wait(node.orelse):
            return node
        return _call("choose", node, node.test, _thunk(node.body), _thunk(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1 or not all(map(_may_wait, node.comparators)):
            return node
        kinds = _strings([type(op).__name__ for op in node.ops], node)
        return _call("compare", node, kinds, node.left, *map(_thunk, node.comparators))

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args
        if is_super and self.outer.first and "super" not in self.outer.locals:
            node.args = [_at(ast.Name(n, ast.Load()), node) for n in ("__class__", self.outer.first)]
        return node


# --- what is put together


def _definition(name: str, body: list[ast.stmt], at: ast.AST, argument: str | None) -> ast.FunctionDef:
    args = [_at(ast.arg(argument), at)] if argument else []
    made = _at(ast.FunctionDef(name, ast.arguments([], args, None, [], [], None, []), body, []), at)
    made.type_params = []  # type: ignore[attr-defined]
    return made


def _may_wait(node: ast.expr) -> bool:
    """Whether an expression may be evaluated in a function of its own: it binds no name."""
    return not any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for n in ast.walk(node))


def _thunk(node: ast.expr) -> ast.expr:
    """`lambda: node`, marked as one that is not the user's."""
    args = ast.arguments([], [_at(ast.arg(THUNK), node)], None, [], [], None, [_at(ast.Constant(None), node)])
    return _at(ast.Lambda(args, node), node)


def _unbound(missing: Sequence[str], at: Any) -> list[ast.stmt]:
    """A statement that is never run, and makes names local to the function."""
    first = at.body[0]
    targets: list[ast.expr] = [_at(ast.Name(name, ast.Store()), first) for name in missing]
    nothing = _at(ast.Constant(None), first)
    return [_at(ast.If(_at(ast.Constant(False), first), [_at(ast.Assign(targets, nothing), first)], []), first)]


def _strings(parts: Iterable[str], at: ast.AST) -> ast.expr:
    order = sorted(parts) if isinstance(parts, set) else parts
    return _at(ast.Tuple([_at(ast.Constant(p), at) for p in order], ast.Load()), at)


def _call(name: str, at: ast.AST, *args: ast.expr) -> ast.expr:
    given = [a if hasattr(a, "lineno") else _at(a, at) for a in args]
    return _at(ast.Call(_at(ast.Name(runtime(name), ast.Load()), at), given, []), at)


def _at(node: Any, place: Any) -> Any:
    return ast.copy_location(node, place)
