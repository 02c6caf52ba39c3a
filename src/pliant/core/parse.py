"""Parse IR text back into a function, with errors that point at line and column."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, final

from pliant.core.ir import Function, Number, Op, Value, const, param
from pliant.core.origin import TextOrigin, at
from pliant.core.print import HasSyntax
from pliant.core.scope import scope
from pliant.core.types import DTYPES, Type
from pliant.errors import ParseError, PliantError

_TOKEN = re.compile(
    r"(?P<value>%[\w.]+)|(?P<global>@[\w.]+)"
    r"|(?P<number>[-+]?(?:(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?:[+-](?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan))?j?)(?![\w.]))"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<string>'[^']*'|\"[^\"]*\")|(?P<arrow>->)|(?P<mark>[(){}\[\],:=])"
    r"|(?P<comment>#.*)|(?P<space>\s+)"
)


def parse(text: str, ops: Mapping[str, type[Op]]) -> Function:
    """The function `text` describes. `ops` maps names to primitives."""
    with scope():
        parser = Parser(text, ops)
        fn = parser.function()
        parser.take(kind="end")
        return fn


@final
class Parser:
    """Recursive descent over IR text."""

    def __init__(self, text: str, ops: Mapping[str, type[Op]]) -> None:
        self.text, self.ops = text, ops
        self.scope: dict[str, Value] = {}
        self.starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.tokens: list[tuple[str, str, int]] = []
        self.next = where = 0
        while where < len(text):
            match = _TOKEN.match(text, where)
            if not match:
                raise self.error("unexpected character", where)
            kind = match.lastgroup or ""
            if kind not in ("space", "comment"):
                self.tokens.append((kind, match[0], where))
            where = match.end()
        self.tokens.append(("end", "", where))

    def line_at(self, where: int) -> int:
        """The line number of a character, from 0."""
        return bisect_right(self.starts, where) - 1

    def error(self, message: str, where: int | None = None) -> ParseError:
        """`message`, the line it is about, and a caret."""
        where = self.tokens[self.next][2] if where is None else where
        line = self.line_at(where)
        start = self.starts[line]
        label = f"  line {line + 1}: "
        source = self.source(line)
        return ParseError(f"{message}\n{label}{source}\n{' ' * (len(label) + where - start)}^")

    def origin(self, where: int, labels: Sequence[str]) -> TextOrigin:
        """Where a statement is; its names unless the printer made them up."""
        line = self.line_at(where)
        names = tuple("" if n[1:].partition(".")[0].isdigit() else n[1:].partition(".")[0] for n in labels)
        return TextOrigin(names, line + 1, self.source(line).strip())

    def source(self, line: int) -> str:
        """The text of a line, by its number from 0."""
        end = self.text.find("\n", self.starts[line])
        return self.text[self.starts[line] : None if end < 0 else end]

    @property
    def ahead(self) -> str:
        """The next token's text."""
        return self.tokens[self.next][1]

    def take(self, *, kind: str = "", text: str = "") -> str:
        """Consume one token, checking its kind or text."""
        got_kind, got, _ = self.tokens[self.next]
        if (kind and got_kind != kind) or (text and got != text):
            raise self.error(f"expected {text or kind}, found {got or 'the end'}")
        self.next += 1
        return got

    def accept(self, text: str) -> bool:
        """Consume `text` if it is next."""
        found = self.ahead == text
        self.next += found
        return found

    def type(self) -> Type:
        """`f64[3, 4]`."""
        dtype = self.take(kind="word")
        if dtype not in DTYPES:
            raise self.error(f"unknown dtype {dtype!r}", self.tokens[self.next - 1][2])
        self.take(text="[")
        shape: list[int] = []
        while not self.accept("]"):
            shape.append(int(self.take(kind="number")))
            self.accept(",")
        return Type(dtype, tuple(shape))

    def label(self) -> str:
        """A `%name` that is not in scope."""
        if self.ahead in self.scope:
            raise self.error(f"{self.ahead} is defined twice")
        return self.take(kind="value")

    def binder(self) -> Value:
        """`%name: type` as a new parameter in scope."""
        label = self.label()
        self.take(text=":")
        hint = label[1:].partition(".")[0]
        self.scope[label] = param(self.type(), "" if hint.isdigit() else hint)
        return self.scope[label]

    def operand(self) -> Value:
        """A `%name` in scope or a literal."""
        kind, text, _ = self.tokens[self.next]
        if kind == "value":
            if text not in self.scope:
                raise self.error(f"{text} is not defined")
            self.next += 1
            return self.scope[text]
        literal = self.number(self.take())
        names = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}
        dtype = self.take(kind="word") if self.accept(":") else names[type(literal).__name__]
        return const(literal, dtype)

    def number(self, text: str) -> Number:
        """The Python number a literal stands for."""
        if text in ("True", "False"):
            return text == "True"
        for kind in (int, float, complex):
            try:
                return kind(text)
            except ValueError:
                continue
        raise self.error(f"expected a value or a literal, found {text!r}", self.tokens[self.next - 1][2])

    def keyword(self) -> tuple[str, Any]:
        """`name=literal`, where the literal is any Python literal."""
        name = self.take(kind="word")
        start, depth = self.tokens[self.next][2] + 1, 0
        self.take(text="=")
        while depth or self.ahead not in (",", ")"):
            if self.tokens[self.next][0] == "end":
                raise self.error(f"expected the value of {name}")
            depth += (self.ahead in ("(", "[")) - (self.ahead in (")", "]"))
            self.next += 1
        text = self.text[start : self.tokens[self.next][2]].strip()
        try:
            return name, float(text) if text in ("inf", "-inf", "nan") else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise self.error(f"the value of {name} is no literal: {text}", start) from None

    def call(self) -> tuple[list[Value], dict[str, Any]]:
        """`(operands, name=literal, …)`."""
        args: list[Value] = []
        keywords: dict[str, Any] = {}
        self.take(text="(")
        while not self.accept(")"):
            if self.tokens[self.next][0] == "word" and self.tokens[self.next + 1][1] == "=":
                keywords.update([self.keyword()])
            else:
                args.append(self.operand())
            self.accept(",")
        return args, keywords

    def statement(self) -> None:
        """`%a: type, … = op(…)`; checks that the op infers those types."""
        start = self.tokens[self.next][2]
        labels: list[str] = []
        types: list[Type] = []
        while not self.accept("="):
            labels.append(self.label())
            self.take(text=":")
            types.append(self.type())
            self.accept(",")
        word = self.take(kind="word")
        cls = self.ops.get(word)
        if cls is None:
            raise self.error(f"unknown primitive {word!r}", self.tokens[self.next - 1][2])
        with at(self.origin(start, labels)):
            try:
                if issubclass(cls, HasSyntax):
                    values = cls.read(self)
                else:
                    args, keywords = self.call()
                    values = cls(**keywords).apply(*args)
            except ParseError:
                raise
            except (PliantError, TypeError, ValueError) as error:
                message = error.message if isinstance(error, PliantError) else str(error).replace("__init__()", word)
                raise self.error(message, start) from error
        if types != [v.type for v in values]:
            raise self.error(f"{word} makes {', '.join(str(v.type) for v in values)}", start)
        self.scope.update(zip(labels, values, strict=True))

    def function(self) -> Function:
        """A whole function."""
        self.take(text="func")
        name = self.take(kind="global")[1:]
        self.take(text="(")
        params: list[Value] = []
        while not self.accept(")"):
            params.append(self.binder())
            self.accept(",")
        self.take(text="->")
        declared, types = self.tokens[self.next][2], list[Type]()
        self.take(text="(")
        while not self.accept(")"):
            types.append(self.type())
            self.accept(",")
        self.take(text="{")
        while not self.accept("return"):
            self.statement()
        results: list[Value] = []
        while self.ahead != "}":
            results.append(self.operand())
            self.accept(",")
        self.take(text="}")
        if types != [r.type for r in results]:
            raise self.error(f"@{name} returns ({', '.join(str(r.type) for r in results)})", declared)
        return Function(name, tuple(params), tuple(results))
