"""A user's function, rewritten from its source so that a trace sees what it reads from objects.

`self.w`, `params["w"]`, `for w in weights` and the function of every call go through a reader:

    y = self.w[0] * f(x)        y = item(attribute(self, "w"), 0) * callee(f)(x)
    self.w += y                 self.w = inplace("iadd", self.w, y)

Line numbers and columns stay those of the source. A function whose source is not to be found, or
does not compile to the code that runs, is left as it is.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
import types
from typing import Any, Final, cast, final

from pliant.frontend.control.names import as_nonlocal, bound, own, rebound_globals
from pliant.frontend.control.rewrite import BLOCK, RUNTIME, controlled
from pliant.frontend.control.syntax import COMPARISONS, THUNK, calling, is_pure, placed, runtime, thunk
from pliant.frontend.definitions import codes_in, definition_of, kept_by_code

READERS: Final = ("attribute", "item", "each", "callee", "inplace", "binary", "slice", "evaluated", *RUNTIME)
"""What the rewritten code calls; the caller of `rewritten` provides them."""

_NAME: Final = "__pliant_function__"
_OUTER: Final = "outer."  # how the qualified names of what is in such a function begin
_INSIDE: Final = re.compile(rf"^outer\.(?:.*\.)?{_NAME}\.(?:<locals>\.{BLOCK}\w*\.|<locals>\.<lambda>\.)*")
_OVER_ELEMENTS: Final = {
    "sum",
    "list",
    "dict",
    "set",
    "frozenset",
    "tuple",
    "sorted",
    "any",
    "all",
    "reversed",
    "zip",
    "map",
    "enumerate",
    "filter",
    "iter",
}
_WHOLE: Final = frozenset(("sum", "list", "tuple", "set", "frozenset", "sorted"))  # which take all before they return
_MAKERS: Final = frozenset(("list", "dict", "set", "sorted", "bytearray"))
_TRACED: Final = frozenset((
    "min max any all len sum float int bool complex round abs next list tuple sorted isinstance type "
    "hasattr getattr setattr delattr print pow open input"
).split())  # fmt: skip
_BUILTINS: Final = frozenset(dir(builtins)) - _TRACED  # of the others nothing is asked that a traced number has not
_INPLACE: Final[dict[type[ast.operator], str]] = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.FloorDiv: "ifloordiv", ast.Mod: "imod",
    ast.Pow: "ipow", ast.MatMult: "imatmul", ast.BitAnd: "iand", ast.BitOr: "ior", ast.BitXor: "ixor",
    ast.LShift: "ilshift", ast.RShift: "irshift",
}  # fmt: skip
_UNARY: Final[dict[type[ast.unaryop], str]] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}


@kept_by_code
def rewritten(code: types.CodeType, name: str) -> types.CodeType | None:
    """The code of a function (called `name` in its module) with its reads going through readers,
    which are free variables of it, as the global names are that it binds; None if its source cannot be trusted."""
    node = definition_of(code)
    if node is None:
        return None
    owner = name.split(".")[-2] if "." in name and "<" not in name.split(".")[-2] else ""
    node = copy.deepcopy(node)
    around = rebound_globals(node, owner) - {*code.co_freevars}
    as_nonlocal(node, around)
    free = [*code.co_freevars, *sorted(around), *map(runtime, READERS)]
    return _compiled(_Rewriter(owner).start(cast("Any", controlled(node))), code, owner, free)


def _compiled(
    node: ast.FunctionDef | ast.Lambda, like: types.CodeType, owner: str, free: list[str]
) -> types.CodeType | None:
    """The code of a function definition, in a scope that has its free variables."""
    bare = _bare(node)
    inner: ast.stmt = bare if isinstance(bare, ast.FunctionDef) else ast.copy_location(ast.Expr(bare), node)
    if owner and any(isinstance(n, ast.Attribute) and n.attr.startswith("__") for n in ast.walk(node)):
        inner = ast.copy_location(ast.ClassDef(owner, [], [], [inner], []), inner)  # private names are mangled by it
        inner.type_params = []  # type: ignore[attr-defined]
        above: list[ast.stmt] = [] if owner in free else [ast.Global([owner])]
    else:
        above = []
    outer = ast.parse(f"def outer({', '.join(free)}): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [*above, inner]
    try:
        whole = compile(ast.fix_missing_locations(ast.Module([outer], [])), like.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError):
        return None
    made = next((c for c in codes_in(whole) if c.co_name in (_NAME, "<lambda>")), None)
    return made and _named(made, like.co_name, like.co_qualname, like.co_qualname)


def _named(code: types.CodeType, name: str, qualname: str, outer: str) -> types.CodeType:
    """A code under a name, and what is in it as of the function `outer`: the blocks in it under its name, functions and
    classes under their own."""

    def inside(qualname: str) -> str:
        return _INSIDE.sub(f"{outer}.", qualname) if qualname.startswith(_OUTER) else qualname

    def named(part: Any) -> Any:
        if not isinstance(part, types.CodeType):
            return inside(part) if isinstance(part, str) else part
        is_block = part.co_name.startswith(BLOCK) or THUNK in part.co_varnames
        return _named(part, *((name, qualname) if is_block else (part.co_name, inside(part.co_qualname))), outer)

    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(map(named, code.co_consts)))


def _bare(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    """A definition without decorators, annotations and the expressions of its defaults."""
    a = node.args
    none = ast.copy_location(ast.Constant(None), node)

    def named(x: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(x.arg), x)

    args = ast.arguments(
        [named(x) for x in a.posonlyargs], [named(x) for x in a.args], a.vararg and named(a.vararg),
        [named(x) for x in a.kwonlyargs], [d and none for d in a.kw_defaults], a.kwarg and named(a.kwarg),
        [none for _ in a.defaults],
    )  # fmt: skip
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(args, node.body), node)
    made = ast.copy_location(ast.FunctionDef(_NAME, args, node.body, []), node)  # its own name may be global
    made.type_params = []  # type: ignore[attr-defined]
    return made


@final
class _Rewriter(ast.NodeTransformer):
    """Puts readers around what reads; `owner` is the class whose private names are mangled."""

    def __init__(self, owner: str) -> None:
        self.owner = owner.lstrip("_")

    def start(self, node: ast.FunctionDef | ast.Lambda) -> Any:
        """The definition with its body rewritten; defaults and decorators stay."""
        body = node.body
        if isinstance(body, list):
            statements = [self.visit(s) for s in body]
            flat: list[ast.stmt] = []
            for made_of in statements:
                flat += cast("list[ast.stmt]", made_of if isinstance(made_of, list) else [made_of])
            received = _received(cast("ast.FunctionDef", node))
            made: Any = ast.FunctionDef(node.name, node.args, received + flat, [])  # type: ignore[union-attr]
        else:
            made = ast.Lambda(node.args, self.visit(body))
        return ast.copy_location(made, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.generic_visit(node)
        node.returns = None
        node.body[:0] = _received(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """A class: its body does not ask `TracedGlobals` for names as a function in it does."""
        made = bound(node.body)
        names = [part for part in own(node.body) if isinstance(part, ast.Name) and not hasattr(part, "is_inner")]
        for part in names:
            if part.id not in made and not part.id.startswith("__"):
                part.is_of_class = True  # type: ignore[attr-defined]
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not hasattr(node, "is_of_class"):
            return node
        return placed(ast.Call(thunk(ast.copy_location(ast.Name(node.id, node.ctx), node)), [], []), node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """A field of a class: its annotation may not be there in the scope that the class is in here."""
        node.annotation = ast.copy_location(ast.Constant(ast.unparse(node.annotation)), node.annotation)
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return calling("attribute", node, node.value, ast.Constant(self.mangled(node.attr)))

    def mangled(self, name: str) -> str:
        """An attribute's name as the class has it."""
        is_private = self.owner and name.startswith("__") and not name.endswith("__")
        return f"_{self.owner}{name}" if is_private else name

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return calling("item", node, node.value, _index(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_copy = isinstance(node.func, ast.Attribute) and node.func.attr == "copy"
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name.startswith("__pliant_"):
            return node
        if name in ("eval", "exec"):
            around = [
                placed(ast.Call(placed(ast.Name(n, ast.Load()), node), [], []), node) for n in ("globals", "locals")
            ]
            made = calling("evaluated", node, node.func, *around, *node.args)
            made.keywords = node.keywords
            return made
        one = name in ("max", "min") and len(node.args) == 1
        if name in _OVER_ELEMENTS or one:
            whole = [placed(ast.Constant(True), node)] * 2 if one or name in _WHOLE else []
            node.args = [a if isinstance(a, ast.Starred) else calling("each", a, a, *whole) for a in node.args]
        if name not in _BUILTINS or (name == "vars" and node.args):
            node.func = calling("callee", node.func, node.func)
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = calling("each", keyword.value, keyword.value)
        return calling("born", node, node) if name in _MAKERS or is_copy else node

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        return calling("born", node, node) if isinstance(node.ctx, ast.Load) else node

    def made(self, node: ast.expr) -> ast.expr:
        """What makes a new container."""
        self.generic_visit(node)
        return calling("born", node, node)

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        made = self.made(node)
        for n, key in enumerate(node.keys):
            if key is None:
                node.values[n] = calling("each", node.values[n], node.values[n])
        return made

    visit_Set = visit_ListComp = visit_DictComp = visit_SetComp = made

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return calling("binary", node, ast.Constant(_INPLACE[type(node.op)].removeprefix("i")), node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = COMPARISONS.get(type(node.ops[0]).__name__) if len(node.ops) == 1 else None
        return node if name is None else calling("binary", node, ast.Constant(name), node.left, node.comparators[0])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        name = _UNARY.get(type(node.op)) if not isinstance(node.operand, ast.Constant) else None
        return node if name is None else calling("unary", node, ast.Constant(name), node.operand)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        return calling("text", node, node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self.visit(node.value)
        for part in node.format_spec.values if isinstance(node.format_spec, ast.JoinedStr) else ():
            self.visit(part)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = calling("each", node.value, node.value)
        return node

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = calling("each", node.iter, node.iter, ast.Constant(True))
        return node

    visit_comprehension = visit_For

    def visit_withitem(self, node: ast.withitem) -> ast.withitem:
        self.generic_visit(node)
        node.context_expr = calling("managed", node.context_expr, node.context_expr)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        tuples = [t for t in node.targets if isinstance(t, ast.Tuple | ast.List)]
        if tuples and not isinstance(node.value, ast.Tuple):
            value = calling("each", node.value, node.value)
            node.value = (
                calling("unpacked", node.value, value, *_counts(tuples[0])) if len(node.targets) == 1 else value
            )
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript | ast.Attribute):
            return ast.copy_location(ast.Expr(self.stored(node.value, node.targets[0])), node)
        after: list[ast.stmt] = []
        node.targets = [self.named(t, after) for t in node.targets]
        return [node, *after]

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.generic_visit(node)
        return [ast.copy_location(self.gone(target), node) for target in node.targets]

    def gone(self, target: ast.expr) -> ast.stmt:
        """What deletes something."""
        match target:
            case ast.Subscript(holder, key):
                return ast.Expr(calling("deleted", target, holder, _index(key)))
            case ast.Attribute(holder, name):
                return ast.Expr(calling("undone", target, holder, ast.Constant(self.mangled(name))))
            case _:
                return ast.Delete([target])

    def named(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        """A target with names in place of items, attributes and what follows them; statements that store these."""
        if isinstance(target, ast.Tuple | ast.List):
            target.elts = [self.named(t, after) for t in target.elts]
        elif isinstance(target, ast.Starred):
            target.value = self.named(target.value, after)
            if isinstance(target.value, ast.Name):  # a new list
                made = calling("born", target, _name(target.value.id, target))
                after.append(ast.copy_location(ast.Expr(made), target))
        elif after or isinstance(target, ast.Subscript | ast.Attribute):  # in their order: x[i], i = y, j
            name = runtime(f"stored_{len(after)}")
            value = ast.copy_location(ast.Name(name, ast.Load()), target)
            is_part = isinstance(target, ast.Subscript | ast.Attribute)
            stored = ast.Expr(self.stored(value, target)) if is_part else ast.Assign([target], value)
            after.append(ast.copy_location(stored, target))
            return ast.copy_location(ast.Name(name, ast.Store()), target)
        return target

    def stored(self, value: ast.expr, target: ast.Subscript | ast.Attribute) -> ast.expr:
        """The call that stores a value."""
        if isinstance(target, ast.Subscript):
            return calling("store", target, value, target.value, _index(target.slice))
        return calling("assign", target, value, target.value, ast.Constant(self.mangled(target.attr)))

    def augmented(self, node: ast.AugAssign) -> ast.stmt:
        """`name += y` and its like."""
        self.generic_visit(node)
        target = cast("ast.Name", node.target)
        before = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        made = calling("augmented", node, ast.Constant(_INPLACE[type(node.op)]), before, node.value)
        return ast.copy_location(ast.Assign([target], made), node)

    def updated(self, node: ast.AugAssign, target: ast.Subscript | ast.Attribute) -> list[ast.stmt]:
        """`f(x)[y.z] += y`, where what is called or read to find the place is called or read once."""
        self.generic_visit(node)
        holder, key = runtime("holder"), runtime("key")
        read: ast.expr
        if isinstance(target, ast.Subscript):
            again = ast.Subscript(_name(holder, target), _name(key, target), ast.Store())
            read = calling("item", target, _held(holder, target.value), _held(key, _index(target.slice)))
        else:
            again = ast.Attribute(_name(holder, target), target.attr, ast.Store())
            name = ast.Constant(self.mangled(target.attr))
            read = calling("attribute", target, _held(holder, target.value), name)
        made = calling("inplace", node, ast.Constant(_INPLACE[type(node.op)]), read, node.value)
        stored = ast.copy_location(ast.Expr(self.stored(made, ast.copy_location(again, target))), node)
        return [stored, ast.copy_location(ast.Assign([ast.Name(holder, ast.Store())], ast.Constant(None)), node)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if isinstance(node.target, ast.Name):
            return self.augmented(node)
        parts = [node.target.value, *([node.target.slice] if isinstance(node.target, ast.Subscript) else [])]
        if not all(map(is_pure, parts)):
            return self.updated(node, node.target)
        before: Any = ast.parse(ast.unparse(node.target), mode="eval").body  # a copy, to be loaded
        for part in ast.walk(before):
            ast.copy_location(part, node.target)
        self.generic_visit(node)
        made = calling("inplace", node, ast.Constant(_INPLACE[type(node.op)]), self.visit(before), node.value)
        return ast.copy_location(ast.Expr(self.stored(made, node.target)), node)


def _counts(target: ast.Tuple | ast.List) -> list[ast.expr]:
    """How many names there are before the one that takes the rest, and after it; and whether there is such a one."""
    stars = [n for n, x in enumerate(target.elts) if isinstance(x, ast.Starred)]
    before = stars[0] if stars else len(target.elts)
    return [ast.Constant(n) for n in (before, len(target.elts) - before - len(stars), bool(stars))]


def _received(node: ast.FunctionDef) -> list[ast.stmt]:
    """That `**options` of a function is a new dict."""
    names = [a for a in (node.args.kwarg,) if a is not None]
    return [ast.copy_location(ast.Expr(calling("born", a, _name(a.arg, a))), a) for a in names]


def _name(name: str, at: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _held(name: str, value: ast.expr) -> ast.expr:
    """An expression whose value a name keeps."""
    target = ast.copy_location(ast.Name(name, ast.Store()), value)
    return ast.copy_location(ast.NamedExpr(target, value), value)


def _index(node: ast.expr) -> ast.expr:
    """A subscript's key as an ordinary expression: slices become calls of `slice`."""
    if isinstance(node, ast.Slice):
        parts = [p or ast.copy_location(ast.Constant(None), node) for p in (node.lower, node.upper, node.step)]
        return calling("slice", node, *parts)
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([_index(e) for e in node.elts], ast.Load()), node)
    return node
