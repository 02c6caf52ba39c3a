"""What statements do to local names: which they bind, read before they bind, and how they are left."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Loop: TypeAlias = ast.For | ast.While

FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES: Final = (*FUNCTIONS, ast.ClassDef)
BINDER: Final = "__pliant_bind_"  # how the name of a function begins that binds the name which follows; see `walrus`
BINDING: Final = (
    ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
    ast.MatchMapping, ast.Import, ast.ImportFrom,
)  # fmt: skip
READING: Final = (*FUNCTIONS, ast.Name, ast.AugAssign, ast.Nonlocal)
LEAVES: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All parts of some statements that run in their own scope: not what inner functions do."""
    return _parts(nodes, children)


def _parts(nodes: Iterable[ast.AST], inside: Callable[[ast.AST], list[ast.AST]]) -> Iterator[ast.AST]:
    """Some nodes and what is inside them, each before its parts; of definitions what is evaluated where they stand."""
    queue = [*nodes][::-1]
    while queue:
        node = queue.pop()
        yield node
        queue += (_outside(node) if isinstance(node, SCOPES) else inside(node))[::-1]


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes that a node is made of, without those that say how a name is used."""
    found: list[ast.AST] = []
    for name in node._fields:
        value: Any = getattr(node, name, None)
        if type(value) is list:
            found += [part for part in cast("list[Any]", value) if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            found.append(value)
    return found


def _outside(node: Any) -> list[ast.AST]:
    """The parts of a definition that are evaluated where it stands."""
    args: list[ast.AST] = []
    if not isinstance(node, ast.ClassDef):
        args = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
    else:
        args = [*node.bases, *(k.value for k in node.keywords)]
    return [*getattr(node, "decorator_list", ()), *args]


def always(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Those of the parts that `own` gives which no operator skips."""
    return _parts(nodes, _never_skipped)


def _never_skipped(node: ast.AST) -> list[ast.AST]:
    """The nodes that a node is made of which are evaluated whenever it is."""
    skipped = _may_be_skipped(node)
    return [part for part in children(node) if part not in skipped] if skipped else children(node)


def _may_be_skipped(node: ast.AST) -> Sequence[ast.AST]:
    """The parts of an expression that may not be evaluated."""
    if isinstance(node, ast.BoolOp):
        return node.values[1:]
    if isinstance(node, ast.Compare):
        return node.comparators[1:]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.DictComp):
        return [node.key, node.value, *node.generators]
    return [node.elt, *node.generators] if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) else []


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind or delete in their own scope."""
    return bound_by(own(nodes))


def bound_by(parts: Iterable[ast.AST]) -> set[str]:
    """The names that parts of statements bind or delete, each by itself."""
    made: set[str] = set()
    for node in parts:
        if not isinstance(node, BINDING):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and not hasattr(node, "is_inner"):
            made.add(node.id)
        elif isinstance(node, ast.Name) and node.id.startswith(BINDER):
            made.add(node.id.removeprefix(BINDER)[:-2])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            made.update([node.name] if node.name else [])
        elif isinstance(node, ast.MatchMapping) and node.rest:
            made.add(node.rest)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            made.update((a.asname or a.name).partition(".")[0] for a in node.names)
    return made


def deleted(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements delete in their own scope."""
    return {node.id for node in own(nodes) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}


def mark_comprehensions(tree: ast.AST) -> None:
    """Mark the variables of comprehensions, which are bound and read in scopes of their own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            own = {part.id for clause in node.generators for part in _names(clause.target)}
            inside: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            inside += [part for clause in node.generators for part in (clause.target, *clause.ifs)]
            inside += [clause.iter for clause in node.generators[1:]]
            for part in inside:
                for name in _names(part):
                    if name.id in own:
                        name.is_inner = True  # type: ignore[attr-defined]


def _names(node: ast.AST) -> list[ast.Name]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Name)]


def declared(nodes: Iterable[ast.AST], kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    """The names declared `global`, or `nonlocal`."""
    return {name for node in own(nodes) if isinstance(node, kind) for name in node.names}


def rebound_globals(node: Function, owner: str) -> set[str]:
    """The global names that a function, or one inside of it, binds, and that are no other names in it. owner: the class
    whose private names are mangled."""
    found, own_names = set[str](), set[str]()
    for part in ast.walk(node):
        if isinstance(part, ast.Global):
            found.update(part.names)
        elif isinstance(part, FUNCTIONS):
            body: list[ast.AST] = list(part.body) if isinstance(part.body, list) else [part.body]
            outer = declared(body, ast.Nonlocal) | declared(body, ast.Global)
            own_names |= (parameters(part) | bound(body)) - outer
    private = {name for name in found if owner and name.startswith("__") and not name.endswith("__")}
    return found - own_names - private


def as_nonlocal(node: Function, made: set[str]) -> None:
    """Have a function take global names as those of a function around it."""
    for part in ast.walk(node):
        lists: list[list[Any]] = [cast("Any", value) for _, value in ast.iter_fields(part) if isinstance(value, list)]
        for statements in lists:
            for each in [x for x in statements if isinstance(x, ast.Global)]:
                inner, each.names = [n for n in each.names if n in made], [n for n in each.names if n not in made]
                n = statements.index(each)
                outer: list[ast.stmt] = [each] if each.names else []
                if inner:
                    outer.append(ast.copy_location(ast.Nonlocal(inner), each))
                    outer[-1].is_global = True  # type: ignore[attr-defined]
                statements[n : n + 1] = outer


def of_module(nodes: Iterable[ast.AST]) -> set[str]:
    """The names declared `global`, those that are taken as names of a function around, too."""
    found = [node for node in own(nodes) if isinstance(node, ast.Global) or hasattr(node, "is_global")]
    return {name for node in found for name in cast("Any", node).names}


def parameters(node: Function) -> set[str]:
    """The names of a function's parameters."""
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x)]
    return {x.arg for x in every}


def loads(nodes: Iterable[ast.AST]) -> dict[str, int]:
    """How often each name is read, in inner scopes too, but for names of their own."""
    count: dict[str, int] = {}
    queue = [*nodes]
    while queue:
        node = queue.pop()
        if not isinstance(node, READING):
            queue += children(node)
            continue
        if isinstance(node, FUNCTIONS):
            for name, times in _loads_inside(node).items():
                count[name] = count.get(name, 0) + times
            queue += _outside(node)
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store) and not hasattr(node, "is_inner"):
            count[node.id] = count.get(node.id, 0) + 1
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            count[node.target.id] = count.get(node.target.id, 0) + 1
        elif isinstance(node, ast.Nonlocal):
            for name in node.names:
                count[name] = count.get(name, 0) + 1
        queue += children(node)
    return count


def _loads_inside(node: Function) -> dict[str, int]:
    """How often a function reads each name of the scopes around it."""
    body: list[ast.AST] = list(node.body) if isinstance(node.body, list) else [node.body]
    outer = declared(body, ast.Nonlocal) | declared(body, ast.Global)
    mine = (parameters(node) | bound(body)) - outer
    return {name: times for name, times in loads(body).items() if name not in mine}


def captured(nodes: Iterable[ast.AST], but: Sequence[ast.AST] = ()) -> set[str]:
    """The names that functions defined in statements read, but for some of these."""
    return {n for node in own(nodes) if isinstance(node, SCOPES) and node not in but for n in loads([node])}


def has_jump(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may leave the block that they are in: by return, or a break or continue of
    a loop around them."""
    return any([_jumps(s, in_loop=False) for s in body])


def _jumps(node: ast.AST, *, in_loop: bool) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, (*SCOPES, ast.expr)):
        return False
    if isinstance(node, ast.For | ast.While):
        return any([_jumps(s, in_loop=True) for s in node.body]) or has_jump(node.orelse)
    return any([_jumps(s, in_loop=in_loop) for s in children(node)])


def leaves_loop(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop's body may end the loop: by break or return."""
    return any([_ends(s) for s in body])


def _ends(node: ast.AST) -> bool:
    if isinstance(node, ast.Return | ast.Break):
        return True
    if isinstance(node, (*SCOPES, ast.expr)):
        return False
    if isinstance(node, ast.For | ast.While):
        return _returns(node.body) or any([_ends(s) for s in node.orelse])
    return any([_ends(s) for s in children(node)])


def _returns(nodes: Iterable[ast.AST]) -> bool:
    return any(isinstance(node, ast.Return) for node in own(nodes))


def returns(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may return from the function."""
    return _returns(body)


def is_generator(node: Function) -> bool:
    """Whether a function is a generator or a coroutine."""
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    return has_yield(node.body if isinstance(node.body, list) else [node.body])


def has_yield(nodes: Sequence[ast.AST]) -> bool:
    """Whether statements hand on a value, or wait, before they end."""
    return any(
        isinstance(part, ast.Yield | ast.YieldFrom | ast.Await | ast.AsyncFor | ast.AsyncWith) for part in own(nodes)
    )


# --- names read before they are bound


def read_first(nodes: Sequence[ast.AST], known: Iterable[str] = ()) -> set[str]:
    """Names that statements may read before they bind them, if run from their start."""
    found: set[str] = set()
    _follow(nodes, set(known), found)
    return found


def surely_bound(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that statements bind whatever happens, unless they are left for good."""
    known: set[str] = set()
    for node in nodes:
        if _jumps(node, in_loop=False):
            break
        known = _step(node, known, set()) or known
    return known


def _follow(nodes: Iterable[ast.AST], known: set[str], found: set[str]) -> set[str] | None:
    """The names surely bound after some statements, None if they are always left; adds to `found`."""
    here: set[str] | None = known
    for node in nodes:
        if here is None:
            return None
        here = _step(node, here, found)
    return here


def _step(node: ast.AST, known: set[str], found: set[str]) -> set[str] | None:
    """`_follow` of one statement or expression."""
    if isinstance(node, ast.If):
        _read([node.test], known, found)
        then, known = known | _bound_if(node.test), known | bound_by(always([node.test]))
        return _both(_follow(node.body, then, found), _follow(node.orelse, known, found))
    if isinstance(node, ast.For | ast.While):
        head = node.iter if isinstance(node, ast.For) else node.test
        later = known - deleted(node.body)
        _read([head], known if isinstance(node, ast.For) else later, found)
        known = later
        inside = known | (bound([node.target]) if isinstance(node, ast.For) else _bound_if(head))
        _follow(node.body, inside, found)
        _follow(node.orelse, known, found)
        return known
    if isinstance(node, ast.With):
        for item in node.items:
            _read([item.context_expr], known, found)
            known = known | (bound([item.optional_vars]) if item.optional_vars else set())
        return _follow(node.body, known, found)
    if isinstance(node, ast.Try | ast.Match):
        _read([node], known, found)
        return known - deleted([node])
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        _read([node.value] if node.value else [], known, found)
        _read(targets, known, found)
        return known | bound(targets) | bound_by(always([node.value])) if node.value else known
    if isinstance(node, ast.Delete):
        _read([node], known, found)
        return known - bound([node])
    _read([node], known, found)
    return None if isinstance(node, LEAVES) else known | bound_by(always([node]))


def _bound_if(test: ast.expr) -> set[str]:
    """The names that a condition has bound if it holds."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return set[str]().union(*map(_bound_if, test.values))
    return bound_by(always([test]))


def _both(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    """What is bound after one of two ways."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _read(nodes: Iterable[ast.AST], known: set[str], found: set[str]) -> None:
    found.update(name for name in loads(nodes) if name not in known)
