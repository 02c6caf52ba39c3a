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
import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, final

from pliant.frontend.control import names
from pliant.frontend.control.calls import keys
from pliant.frontend.control.expressions import ITEM, Expressions
from pliant.frontend.control.live import Live, lets_exceptions_pass
from pliant.frontend.control.lone import lone
from pliant.frontend.control.names import Function, Loop
from pliant.frontend.control.signals import LEFT
from pliant.frontend.control.simpler import simplify
from pliant.frontend.control.syntax import (
    asking,
    calling,
    definition,
    made_local,
    may_wait,
    placed,
    raising,
    runtime,
    strings,
    telling,
    thunk,
    without_numbers,
)  # fmt: skip
from pliant.frontend.control.tries import ERROR, as_try, caught_by, decided, handling, is_attempt, is_undecided
from pliant.frontend.control.unsure import ask, unset, unsure

RUNTIME: Final = (
    "branch", "loop", "repeat", "after", "result", "settled", "returned", "broken", "continued",
    "both", "either", "negated", "choose", "compare", "items", "attempted", "may_fail", "attempt", "store", "assign",
    "born", "augmented", "unary", "asked", "listed", "reduced", "searched", "fits", "has_keys", "others_of", "is_of",
    "part", "rebinds", "owns",
    "raised", "handled", "caught", "unfinished", "deleted", "undone", "unpacked", "unset", "bound", "pushed", "emitted",
    "first_of", "text", "managed",
)  # fmt: skip
"""What the rewritten statements call."""

BLOCK: Final = "__pliant_block_"  # how the name of every block begins
SIGNAL: Final = "__pliant_signal__"
_BLIND: Final = frozenset(("locals", "eval", "exec", "vars", "dir"))
_OF_OBJECTS: Final = ("vars", "dir")  # which look at the names of a function only if nothing is given to them


def controlled(node: Function) -> Function:
    """A function's definition with its loops and branches, and those of the functions inside, as calls."""
    simplify(node)
    names.mark_comprehensions(node)
    return _Statements(node, None).function()


@final
class _Statements:
    """The statements of one function, rewritten. outer: those of the function around it."""

    def __init__(self, node: Function, outer: _Statements | None) -> None:
        self.node = node
        body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
        self.globals = names.of_module(body)
        self.nonlocals = names.declared(body, ast.Nonlocal)
        self.locals = (names.parameters(node) | names.bound(body)) - self.globals - self.nonlocals
        self.loads = names.loads(body)
        self.is_generator = names.is_generator(node)  # of which blocks are taken that neither yield nor leave
        self.lone = (lone(body) & self.locals) - names.parameters(node)
        self.is_plain = isinstance(node, ast.AsyncFunctionDef) or _looks_at_names(body, self.loads)
        self.unsure: set[str] = set()  # names that may be read without a value
        if isinstance(node, ast.FunctionDef) and not self.is_generator and not self.is_plain:
            self.unsure = unsure(node)
            if self.unsure:
                node.body = ask(node.body, self.unsure)
                body = [*node.body]
                self.loads = names.loads(body)
        self.live = Live(body, self.locals)
        self.first = node.args.args[0].arg if node.args.args else outer.first if outer else ""
        self.declared: set[str] = set()  # names that blocks bind
        self.definitions: list[ast.stmt] = []  # of the blocks of the statement at hand
        self.count = 0

    def function(self) -> Function:
        """The definition with its body rewritten."""
        node = self.node
        if isinstance(node, ast.Lambda):
            node.body = self.expression(node.body)
            return node
        if self.is_plain:
            node.body = [*self.rebinding(node), *[_Inner(self).visit(statement) for statement in node.body]]
            return node
        body = [
            *self.rebinding(node),
            *self.lending(node),
            *[unset(name, node.body[0]) for name in sorted(self.unsure - names.parameters(node))],
            *self.block(node.body, in_block=False, loop=None),
        ]
        missing = sorted((self.declared & self.locals) - names.parameters(node))
        node.body = [*made_local(missing, node), *body] if missing else body
        return node

    def inside(self, node: Function) -> Function:
        """The definition of a function inside, rewritten."""
        return _Statements(node, self).function()

    def rebinding(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """Statements that say which names of the function around this one it binds, and where."""
        parts = [*names.own(node.body)]
        places = {n: next((x for x in parts if n in names.bound_by([x])), node.body[0]) for n in sorted(self.nonlocals)}
        return [made for name, place in places.items() for made in telling("rebinds", [name], place)]

    def lending(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """A statement that says which of its names functions inside of it bind."""
        inside = {name for part in ast.walk(node) if isinstance(part, ast.Nonlocal) for name in part.names}
        return telling("owns", sorted(inside & self.locals), node.body[0])

    # --- blocks

    def block(
        self, body: Sequence[ast.stmt], *, in_block: bool, loop: str | None, may_end: bool = True
    ) -> list[ast.stmt]:
        """Statements rewritten. `in_block` is whether they are in a block already; `loop` says what the loop
        around them became: "block", "plain", or None if there is none. Where not `may_end`, what follows
        the last of them is elsewhere: in a `try` or `with`."""
        made: list[ast.stmt] = []
        for n, statement in enumerate(body):
            statement = raising(statement) if isinstance(statement, ast.Assert) else as_try(statement)
            before, self.definitions = self.definitions, list[ast.stmt]()
            if isinstance(statement, ast.Try) and is_undecided(statement) and self.is_taken(statement, loop):
                statement = decided(statement, self.made(copy.deepcopy(statement.body), statement, loop))
            made += self.definitions
            self.definitions = before
            jumps = names.has_jump([statement])
            rest = body[n + 1 :] if jumps and may_end else ()
            is_call = isinstance(statement, ast.If | ast.For | ast.While) or is_attempt(statement)
            is_around = isinstance(statement, ast.With | ast.Try) and not is_call
            if jumps and may_end and is_around and self.is_taken(statement, loop):
                return [*made, *self.around(cast("Any", statement), rest, in_block, loop)]
            if not is_call or not self.is_taken(statement, loop):
                made += self.statement(statement, in_block, loop)
                continue
            before, self.definitions = self.definitions, list[ast.stmt]()
            call = self.taken(statement, rest, loop)
            made += self.definitions
            self.definitions = before
            if not jumps:
                made.append(placed(ast.Expr(call), statement))
            elif may_end:
                return [*made, placed(ast.Return(self.outcome(call, in_block)), statement)]
            else:
                made += self.checked(call, in_block, statement)
        return made

    def around(
        self, node: ast.With | ast.Try, rest: Sequence[ast.stmt], in_block: bool, loop: str | None
    ) -> list[ast.stmt]:
        """A `with` or `try` that is left from inside: how its body is left is looked at after its end."""
        before, self.definitions = self.definitions, list[ast.stmt]()
        bound = strings(names.bound(rest), node)
        follow = calling("after", node, placed(ast.Name(LEFT, ast.Load()), node), self.made(rest, node, loop), bound)
        run = placed(ast.Call(self.made(node.body, node, loop), [], []), node)
        targets = [placed(ast.Name(LEFT, ast.Store()), node)]
        start = placed(ast.Assign(targets, placed(ast.Constant(None), node)), node)  # if a handler runs to its end
        node.body = [placed(ast.Assign(targets, run), node)]
        definitions, self.definitions = self.definitions, before
        kept = self.statement(node, in_block, loop)
        return [*definitions, start, *kept, placed(ast.Return(self.outcome(follow, in_block)), node)]

    def is_taken(self, node: ast.stmt, loop: str | None) -> bool:
        """Whether a statement becomes a call: not if it binds global names, or leaves a loop that is none."""
        if names.bound([node]) & self.globals:
            return False
        if self.is_generator and (names.has_jump([node]) or names.has_yield([node])):
            return False
        return loop != "plain" or not names.has_jump([node]) or isinstance(node, ast.For | ast.While)

    def taken(self, node: Any, rest: Sequence[ast.stmt], loop: str | None) -> ast.expr:
        """The call that an `if` or a loop becomes; `rest` follows it, and is part of it."""
        bound = strings(names.bound(rest), node)
        if isinstance(node, ast.If):
            bound = strings(names.bound([*node.body, *node.orelse, *rest]), node)
            jumps = names.has_jump(node.body) + 2 * names.has_jump(node.orelse)
            test = self.expression(asking(node.test))
            blocks = [self.made(part, node, loop) for part in (node.body, node.orelse, rest)]
            return calling("branch", node, test, *blocks, bound, ast.Constant(jumps))
        is_left = names.has_jump([node])
        call = self.attempt(node, loop) if isinstance(node, ast.Try) else self.looped(node, loop)
        return calling("after", node, call, self.made(rest, node, loop), bound) if is_left else call

    def attempt(self, node: ast.Try, loop: str | None) -> ast.expr:
        """The call that a `try` becomes of which something may fail at run time, whose result is a signal."""
        statements = [self.made([s], s, loop) for s in node.body]
        orelse = self.made(node.orelse, node, loop)
        handlers = [
            placed(ast.Tuple([thunk(caught_by(h)), self.made(handling(h), h, loop, argument=ERROR)], ast.Load()), h)
            for h in node.handlers
        ]
        every = [placed(ast.Tuple([*parts], ast.Load()), node) for parts in (statements, handlers)]
        return calling("attempt", node, every[0], orelse, every[1], strings(names.bound([node]), node))

    def looped(self, node: Loop, loop: str | None) -> ast.expr:
        """The call that a loop becomes, whose result is a signal."""
        head: list[ast.stmt] = []
        whole: list[ast.AST] = []
        if isinstance(node, ast.For):
            item = placed(ast.Name(ITEM, ast.Load()), node.target)
            head = [placed(ast.Assign([node.target], item), node.target)]
        whole += [*head, *node.body] if isinstance(node, ast.For) else [node.test, *node.body]
        bound = names.bound(whole)
        inside = names.loads(whole)
        outside = {name for name in bound if self.loads.get(name, 0) > inside.get(name, 0)}
        captured = names.captured(whole, keys(whole, self.locals))
        kept = self.live.after(node, outside) | bound & (self.nonlocals | captured)
        step = whole if isinstance(node, ast.For) else [*node.body, node.test]  # the test is that of the next step
        live = (bound & names.read_first(step)) | kept - names.surely_bound(step)
        ends = ast.Constant(names.leaves_loop(node.body))
        facts = [
            *(strings(part, node) for part in (bound, live, kept)),
            ends,
            strings(names.bound(node.orelse), node),
            strings(bound & self.lone, node),
        ]
        orelse = self.made(node.orelse, node, loop)
        if isinstance(node, ast.For):
            items = Expressions(self).iterated(node.iter)
            return calling(
                "loop", node, items, self.made([*head, *node.body], node, "block", argument=ITEM), orelse, *facts
            )
        test = self.made([placed(ast.Return(node.test), node.test)], node.test, None, is_test=True)
        asked = strings(names.bound([node.test]), node)
        return calling("repeat", node, test, asked, self.made(node.body, node, "block"), orelse, *facts)

    def outcome(self, call: ast.expr, in_block: bool) -> ast.expr:
        """What a signal becomes at the end of statements: itself in a block, else the function's result."""
        return call if in_block else calling("result", call, call)

    def checked(self, call: ast.expr, in_block: bool, at: ast.stmt) -> list[ast.stmt]:
        """A call whose signal must be known at once, as its statement is in a `try` or `with`."""
        signal = placed(ast.Name(SIGNAL, ast.Load()), at)
        store = placed(ast.Assign([placed(ast.Name(SIGNAL, ast.Store()), at)], calling("settled", at, call)), at)
        leave = placed(ast.Return(self.outcome(signal, in_block)), at)
        test = placed(ast.Compare(signal, [ast.IsNot()], [placed(ast.Constant(None), at)]), at)
        return [store, placed(ast.If(test, [leave], []), at)]

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
            return placed(ast.Constant(None), at)
        bound = names.bound(body) - {SIGNAL, LEFT}
        self.declared |= bound
        inner = self.test_block(body) if is_test else self.block(body, in_block=True, loop=loop)
        shared = sorted(bound & (self.locals | self.nonlocals))
        head: list[ast.stmt] = [placed(ast.Nonlocal(shared), body[0])] if shared else []
        self.count += 1
        name = f"{BLOCK}{self.count}__"
        self.definitions.append(definition(name, [*head, *inner], at, argument))
        return placed(ast.Name(name, ast.Load()), at)

    def test_block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The block of a `while`'s condition, which returns it."""
        (statement,) = body
        assert isinstance(statement, ast.Return)
        assert statement.value is not None
        statement.value = self.expression(asking(statement.value))
        return [statement]

    # --- other statements

    def statement(self, node: ast.stmt, in_block: bool, loop: str | None) -> list[ast.stmt]:
        """A statement that stays one."""
        if isinstance(node, ast.Return):
            value = self.expression(node.value) if node.value else placed(ast.Constant(None), node)
            return [placed(ast.Return(calling("returned", node, value) if in_block else value), node)]
        if isinstance(node, ast.Break | ast.Continue) and loop == "block":
            name = "broken" if isinstance(node, ast.Break) else "continued"
            return [placed(ast.Return(placed(ast.Name(runtime(name), ast.Load()), node)), node)]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return [_Inner(self).visit(node)]
        if isinstance(node, ast.AnnAssign):
            plain = ast.Assign([node.target], node.value) if node.value else ast.Pass()  # a block's name has no type
            return self.statement(placed(plain, node), in_block, loop)
        guard: list[ast.stmt] = []
        if isinstance(node, ast.Try) and node.finalbody:
            node.finalbody.insert(0, placed(ast.Expr(calling("unfinished", node)), node))
        if isinstance(node, ast.With) and not lets_exceptions_pass(node) and not self.is_generator:
            node.body.append(placed(ast.Expr(calling("unfinished", node)), node))
        if isinstance(node, ast.Try) and not self.is_generator and node.handlers:
            caught = [thunk(caught_by(h)) for h in node.handlers]
            guard = [placed(ast.Expr(calling("attempted", node, *caught)), node)]
            node.finalbody.insert(0, placed(ast.Expr(calling("handled", node)), node))
            for handler in node.handlers:
                handler.body.insert(0, placed(ast.Expr(calling("caught", handler)), handler))
        if isinstance(node, ast.Raise) and node.exc is not None and may_wait(node.exc):
            node.exc = calling("raised", node.exc, thunk(node.exc), thunk(without_numbers(node.exc)))
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
        return [self.expression(part) if isinstance(part, ast.expr | ast.withitem) else part for part in parts]

    def expression(self, node: ast.expr | ast.withitem) -> Any:
        """An expression with its conditions as calls."""
        return Expressions(self).visit(node)


@final
class _Inner(ast.NodeTransformer):
    """Rewrites the functions inside a statement, each in its own scope."""

    def __init__(self, outer: _Statements) -> None:
        self.outer = outer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.outer.inside(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self.outer.inside(node)


def _looks_at_names(body: Sequence[ast.AST], loads: Mapping[str, int]) -> bool:
    """Whether a body may look at the names of its function other than by writing them."""
    calls = [n for part in body for n in ast.walk(part) if isinstance(n, ast.Call) and n.args]
    safe = Counter([n.func.id for n in calls if isinstance(n.func, ast.Name) and n.func.id in _OF_OBJECTS])
    return any([loads.get(name, 0) > safe[name] for name in _BLIND])
