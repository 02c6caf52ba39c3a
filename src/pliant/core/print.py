"""Print the IR: one statement per line, the user's names, types on the left.

`parse(format_function(f)) == f`, always.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Protocol, cast, final, runtime_checkable

from pliant.core.build import hint_of
from pliant.core.ir import Const, Function, Node, Op, Param, Value, Values, nodes
from pliant.core.protocols import implements

_PLAIN = {"f64": float, "i64": int, "bool": bool, "c128": complex}


@runtime_checkable
class HasSyntax(Protocol):
    """A primitive with its own text form: one that holds functions."""

    def write(self, node: Node, names: Sequence[str], to: Printer) -> None:
        """Write the statement."""
        ...

    @classmethod
    def read(cls, text: Any) -> Values:
        """Parse what `write` wrote, from after the primitive's name."""
        ...


@final
class Printer:
    """Writes statements, naming values after the user's variables."""

    def __init__(self, *, canonical: bool = False, origins: bool = False) -> None:
        self.origins = origins
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.taken: dict[str, int] = {}
        self.depth = self.bound = 0
        self.canonical = canonical

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append("  " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """`head {`, indented lines, `}`."""
        self.line(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def bind(self, value: Value, hint: str = "") -> str:
        """Name a value; its binder text is `%name: type`."""
        stem = "" if self.canonical else hint
        name = stem or str(self.bound)
        self.bound += 1  # not the number of names: a function held twice is printed twice
        n = self.taken.get(name, 0)
        tried = f"{name}.{n}" if n else name
        while tried in self.taken:
            n += 1
            tried = f"{name}.{n}"
        self.taken[name] = n + 1
        self.taken.setdefault(tried, 1)
        self.names[value] = tried
        return f"%{tried}: {value.type}"

    def use(self, value: Value) -> str:
        """Operand text: a literal or a `%name`."""
        op = value.op
        if isinstance(op, Const):
            text = repr(op.value).strip("()")
            return text if op.dtype in _PLAIN else f"{text}:{op.dtype}"
        return f"%{self.names[value]}"

    def uses(self, values: Iterable[Value]) -> str:
        """Comma-separated operands."""
        return ", ".join(map(self.use, values))

    def body(self, results: Values) -> None:
        """The statements that compute `results`."""
        for node in nodes(results):
            if not isinstance(node.op, Param | Const):
                self.statement(node)

    def statement(self, node: Node) -> None:
        """`%a: type, … = op(operands, parameters)`."""
        names: Sequence[str] = () if self.canonical else node.origin.names
        names = names if len(names) == len(node.values) else ("",) * len(node.values)
        if implements(node.op, HasSyntax):
            node.op.write(node, names, self)
            return
        args = [self.use(a) for a in node.args]
        args += [f"{k}={v!r}" for k, v in parameters(node.op).items()]
        left = ", ".join(map(self.bind, node.values, names))
        where = f"  # {node.origin.short}" if self.origins else ""
        self.line(f"{left} = {node.op.name}({', '.join(args)}){where}")

    def function(self, fn: Function) -> None:
        """A whole function."""
        binders = ", ".join(self.bind(p, hint_of(p)) for p in fn.params)
        types = ", ".join(str(r.type) for r in fn.results)
        name = "_" if self.canonical else "".join(c if c.isalnum() or c in "_." else "_" for c in fn.name.strip("<>"))
        with self.block(f"func @{name}({binders}) -> ({types})"):
            self.body(fn.results)
            self.line(f"return {self.uses(fn.results)}".rstrip())


def parameters(op: Op) -> Mapping[str, Any]:
    """Static parameters by name."""
    return {f.name: getattr(op, f.name) for f in fields(cast("Any", op))}


def format_function(fn: Function, *, canonical: bool = False, origins: bool = False) -> str:
    """Text of a function. `canonical` drops names, for comparison; `origins` adds the user's
    line as a comment."""
    printer = Printer(canonical=canonical, origins=origins)
    printer.function(fn)
    return "\n".join(printer.lines) + "\n"
