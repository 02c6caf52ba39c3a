"""Where a function's code comes from: its definition in its file, if that is what runs."""

from __future__ import annotations

import ast
import dis
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Place: TypeAlias = tuple[int, str]
Stored: TypeAlias = tuple[types.CodeType, str, int]  # code, a name, and the offset of what binds it


def kept_by_code(f: Callable[Concatenate[types.CodeType, P], T]) -> Callable[Concatenate[types.CodeType, P], T]:
    """A function of code that remembers what it returned. Codes of the same text are equal, whichever files they are
    of: what is made of one has its file in it."""

    @lru_cache(maxsize=4096)
    def kept(_: str, code: types.CodeType, *args: P.args, **options: P.kwargs) -> T:
        return f(code, *args, **options)

    @wraps(f)
    def found(code: types.CodeType, *args: P.args, **options: P.kwargs) -> T:
        return kept(code.co_filename, code, *args, **options)

    return found


def definition_of(code: types.CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """The definition of a function, which is not to be changed; None if its source cannot be trusted."""
    lines = tuple(linecache.getlines(code.co_filename))
    definitions, codes = _file(code.co_filename, lines)
    place = (code.co_firstlineno, code.co_name)
    if not any(_same(c, code) for c in codes.get(place, ())):
        asserting = _as_pytest_runs_it(code.co_filename, lines) if _is_pytests(code) else {}
        if not any(_same(c, code) for c in asserting.get(place, ())):
            return None
    around = [n for n in definitions.get(place, ()) if isinstance(n, ast.FunctionDef) or _holds(n.body, code)]
    return max(around, key=lambda n: n.col_offset, default=None)  # the innermost of lambdas in one line


@lru_cache(maxsize=256)
def _file(
    filename: str, lines: tuple[str, ...]
) -> tuple[dict[Place, list[ast.FunctionDef | ast.Lambda]], dict[Place, list[types.CodeType]]]:
    """The functions that a file defines, by their first line and name: definitions, and codes."""
    definitions: dict[Place, list[ast.FunctionDef | ast.Lambda]] = {}
    codes: dict[Place, list[types.CodeType]] = {}
    try:
        tree = ast.parse("".join(lines), filename)
        whole = compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return definitions, codes
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = node.decorator_list[0] if node.decorator_list else node
            definitions.setdefault((first.lineno, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            definitions.setdefault((node.lineno, "<lambda>"), []).append(node)
    return definitions, _placed(whole)


def _placed(whole: types.CodeType) -> dict[Place, list[types.CodeType]]:
    """The codes in that of a file, by their first line and name."""
    codes: dict[Place, list[types.CodeType]] = {}
    for code in codes_in(whole):
        codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
    return codes


def _is_pytests(code: types.CodeType) -> bool:
    """Whether pytest has rewritten the `assert` statements of a code, or of one inside."""
    return any([any([name.startswith("@py") for name in c.co_names]) for c in (code, *codes_in(code))])


@lru_cache(maxsize=256)
def _as_pytest_runs_it(filename: str, lines: tuple[str, ...]) -> dict[Place, list[types.CodeType]]:
    """The codes of a file that can be parsed, once pytest has rewritten its `assert` statements."""
    rewrite: Any = sys.modules.get("_pytest.assertion.rewrite")
    if rewrite is None:
        return {}
    tree = ast.parse("".join(lines), filename)
    rewrite.rewrite_asserts(tree, "".join(lines).encode(), filename)
    return _placed(compile(tree, filename, "exec", dont_inherit=True))


def _holds(body: ast.expr, code: types.CodeType) -> bool:
    """Whether all instructions are of a lambda's body; those whose place has no extent begin or end a function."""
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    for line, end_line, column, end_column in code.co_positions():
        start: Any = line, column
        end: Any = end_line, end_column
        if None not in (*start, *end) and start != end and not first <= start <= end <= last:
            return False
    return True


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """All code objects inside one, outermost first."""
    queue = [code]
    while queue:
        found = [c for c in queue.pop(0).co_consts if isinstance(c, types.CodeType)]
        yield from found
        queue += found


def _same(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two codes do the same, at the same place."""
    if (a.co_code, a.co_names, a.co_varnames, a.co_freevars) != (b.co_code, b.co_names, b.co_varnames, b.co_freevars):
        return False
    if len(a.co_consts) != len(b.co_consts):
        return False
    return all(
        _same(x, y)
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType)
        else (type(x), repr(x)) == (type(y), repr(y))
        for x, y in zip(a.co_consts, b.co_consts, strict=True)
    ) and list(a.co_positions()) == list(b.co_positions())


@kept_by_code
def stored_globals(code: types.CodeType) -> tuple[Stored, ...]:
    """The global names that code, or some inside of it, binds or deletes, and where."""
    found = [(c, i) for c in (code, *codes_in(code)) for i in dis.get_instructions(c)]
    return tuple([(c, i.argval, i.offset) for c, i in found if i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")])
