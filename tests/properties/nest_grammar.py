"""Random programs of nested loops over parts of arrays, as numerical kernels are: rows, columns, triangles, stencils, tables."""

from __future__ import annotations

from random import Random
from typing import final

from tests.properties.flows import Flow, Statement

DTYPES = ("float64", "float64", "float64", "float32", "int64")
SIZES = (5, 8, 11, 17)
HEAD = (
    "A, B, s, t = x{copied}, y.copy(), a, 0.25",
    "Z, w, C = np.zeros_like(x), np.ones_like(y[0]), np.stack([x, y * 0.5, x[::-1]])",
    "u, v = x[0] * 0.5, y[:, 1].copy()",
    "p, q = (np.arange(N) * 3 + 1) % N, np.array([0, 2, 2, 1])",
)
RESULTS = ("s", "t", "u", "v", "w", "A", "B", "Z", "A.sum()", "Z.sum(0)", "B[1:].sum(1)", "Z[::2].max(0)", "(A * Z).sum(0)", "np.cumsum(Z, 0)[-1]", "Z.mean(1)",
           "Z[-1]", "A[0]", "Z[:, 1]", "np.abs(Z).min(1)", "Z.argmax(0)", "(Z @ u)", "(v @ B)", "np.prod(1 + 0.1 * Z, 0)", "np.tanh(Z[1:-1]).sum()", "(u * w).sum()",
           "Z[q]", "u[q]", "Z[2]", "(Z[1:] - Z[:-1]).sum(0)", "np.logaddexp.reduce(w)", "w[1:].min()", "(Z * Z).sum()", "Z.T @ w")  # fmt: skip
OUTER = ("range(N)", "range(1, N)", "range(N - 1)", "range(1, N - 1)", "range(N - 1, -1, -1)", "range(N - 2, -1, -1)", "range(0, N, 2)",
         "range(n)", "range(3)", "range(2, N)", "range(N - 1, 0, -1)")  # fmt: skip
INNER = (*OUTER[:5], "range({i})", "range({i} + 1)", "range({i} + 1, N)", "range({i}, N)", "range({i} - 1, -1, -1)",
         "range(max(0, {i} - 2), min(N, {i} + 3))", "range(N - {i})", "range(1, {i})")  # fmt: skip
WHOLE = (":", ":", "::-1")
SAME_LENGTH = (
    (":", "::-1"), ("1:", ":-1"), ("2:", ":-2", "1:-1"), ("::2",), ("1::2", ":-1:2"), (":3", "-3:", "1:4"),
    ("{i}:", ":N - {i}"), (":{i}", "N - {i}:"), ("{i} + 1:", ":N - 1 - {i}"), (":{i} + 1", "N - 1 - {i}:"), ("{i}:{i} + 2", ":2"), ("{i} - 1:{i} + 1", ":2"),
    ("p",), ("q",), (":0",),
)  # fmt: skip
SETS = ("=", "=", "+=", "+=", "-=", "*=")
FACTORS = ("0.5", "0.25", "-0.5", "0.125")


@final
class _Drawing:
    """One program while it is drawn."""

    def __init__(self, draw: Random) -> None:
        self.draw, self.loops, self.count = draw, list[str](), 0

    def place(self) -> str:
        """An index."""
        if not self.loops or self.draw.random() < 0.1:
            return self.draw.choice(["0", "-1", "2", "N - 2", "n"])
        i = self.draw.choice([*self.loops, self.loops[-1]])
        return self.draw.choice(
            [
                i,
                i,
                i,
                i,
                f"{i} - 1",
                f"{i} + 1",
                f"N - 1 - {i}",
                f"p[{i}]",
                f"{i} // 2",
                f"{i} - {self.draw.choice(self.loops)}",
                f"{i} % 4",
            ]
        )

    def spans(self) -> tuple[str, ...]:
        """Slices of one length."""
        made = self.draw.choice([WHOLE, WHOLE, *SAME_LENGTH])
        if any("{i}" in text for text in made) and not self.loops:
            return WHOLE
        return tuple([text.replace("{i}", self.draw.choice(self.loops)) if "{i}" in text else text for text in made])

    def one(self, spans: tuple[str, ...]) -> str:
        """One of some slices."""
        return self.draw.choice(spans)

    def number(self, depth: int = 2) -> str:
        """A scalar."""
        kind, d = self.draw.randrange(14 if depth else 5), depth - 1
        if kind < 5:
            a, b = self.place(), self.place()
            return self.draw.choice(
                [
                    f"A[{a}, {b}]",
                    f"B[{a}, {b}]",
                    f"Z[{a}, {b}]",
                    f"u[{a}]",
                    f"v[{a}]",
                    f"w[{a}]",
                    f"C[{self.table()}, {a}, {b}]",
                    "s",
                    "t",
                    "0.5",
                ]
            )
        spans = self.spans()
        return (
            lambda: f"({self.number(d)} - {self.number(d)})", lambda: f"{self.factor()} * {self.number(d)}", lambda: f"{self.number(d)} * {self.number(d)}",
            lambda: f"np.tanh({self.number(d)})", lambda: f"max({self.number(d)}, {self.number(d)})", lambda: f"np.minimum({self.number(d)}, {self.number(d)})",
            lambda: f"{self.vector(spans, d)} @ {self.vector(spans, d)} * 0.125", lambda: f"np.sum({self.vector(spans, d)} * {self.vector(spans, d)}) * 0.125",
            lambda: f"{self.vector(WHOLE, d)}.max()",
        )[kind - 5]()  # fmt: skip

    def vector(self, spans: tuple[str, ...], depth: int = 1) -> str:
        """A vector as long as the slices."""
        kind, d = self.draw.randrange(13 if depth > 0 else 6), depth - 1
        if kind < 6:
            at = self.place()
            one, table, matrix = self.one(spans), self.table(), self.draw.choice("ABZ")
            return self.draw.choice([f"{matrix}[{at}, {one}]", f"{matrix}[{at}, {one}]", f"{matrix}[{one}, {at}]", f"{matrix}[{one}, {at}]",
                                     f"u[{one}]", f"v[{one}]", f"w[{one}]", f"C[{table}, {at}, {one}]", f"C[{table}, {one}, {at}]"])  # fmt: skip
        inner = self.spans()
        return (
            lambda: f"({self.vector(spans, d)} + {self.vector(spans, d)})", lambda: f"{self.number(d)} * {self.vector(spans, d)}",
            lambda: f"{self.vector(spans, d)} * {self.factor()}", lambda: f"np.tanh({self.vector(spans, d)})", lambda: f"np.cumsum({self.vector(spans, d)})",
            lambda: f"({self.vector(spans, d)} - {self.number(d)})", lambda: f"{self.matrix(spans, inner)} @ {self.vector(inner, d)} * 0.125",
        )[kind - 6]()  # fmt: skip

    def matrix(self, rows: tuple[str, ...], columns: tuple[str, ...]) -> str:
        """A part of a matrix."""
        a, b = self.one(rows), self.one(columns)
        name = self.draw.choice(["A", "B", "Z", f"C[{self.table()}]"])
        if a in ("p", "q") and b in ("p", "q"):
            return f"{name}[{a}][:, {b}]"
        return self.draw.choice([f"{name}[{a}, {b}]", f"{name}[{b}, {a}].T"])

    def table(self) -> str:
        """An index of three."""
        return self.draw.choice(["0", "-1", *[f"{i} % 3" for i in self.loops]])

    def factor(self) -> str:
        """A small number."""
        return self.draw.choice(FACTORS)

    def plain(self) -> str:
        """An assignment."""
        draw, spans, other = self.draw, self.spans(), self.spans()
        at, there, sets = self.place(), self.place(), draw.choice(SETS)
        kind = draw.randrange(12)
        if kind < 3:
            target = draw.choice(
                [
                    f"A[{at}, {there}]",
                    f"B[{at}, {there}]",
                    f"Z[{at}, {there}]",
                    f"u[{at}]",
                    f"w[{at}]",
                    f"C[{self.table()}, {at}, {there}]",
                ]
            )
            return f"{target} {sets} {self.number()}"
        if kind < 4:
            return f"{draw.choice('st')} {draw.choice(['=', '+=', '-='])} {self.number()}"
        if kind < 8:
            one, matrix = self.one(spans), draw.choice("AABZZ")
            whole = [
                f"{matrix}[{at}, {one}]",
                f"{matrix}[{one}, {at}]",
                f"u[{one}]",
                f"w[{one}]",
                f"C[{self.table()}, {one}, {at}]",
            ]
            target = draw.choice([*whole[:2], *whole])
            return f"{target} {sets} {self.vector(spans)}"
        if kind < 9:
            a, b = self.one(spans), self.one(other)
            target = f"A[{a}, {b}]" if not {a, b} <= {"p", "q"} else "A[:3, :2]"
            pair = (spans, other) if target != "A[:3, :2]" else ((":3", "1:4"), (":2", "-2:"))
            value = draw.choice(
                [
                    f"np.outer({self.vector(pair[0], 0)}, {self.vector(pair[1], 0)})",
                    self.matrix(*pair),
                    f"{self.number(1)} * {self.matrix(*pair)}",
                ]
            )
            return f"{target} {draw.choice(['=', '+=', '-='])} {self.factor()} * {value}"
        return draw.choice([
            f"u = {self.vector(WHOLE)}", f"v = {self.vector(WHOLE)} * 1", f"A[{at}], A[{there}] = A[{there}].copy(), A[{at}].copy()", "u, v = v, u",
            f"A[{at}] = u", f"Z[{at}] = u + w", f"Z[{at}] = {self.vector(WHOLE)}", "B = B.T", "B = B + 0.5 * A", f"np.add.at(u, q, {self.number(1)})", f"u[p] += {self.vector(WHOLE, 0)}", f"np.add.at(v, p, {self.vector(WHOLE, 0)})",
            f"A[p[{at}]] += 0.5 * {self.vector(WHOLE, 0)}", f"v[u > {self.number(0)}] = {self.number(0)}", f"u = np.where(u > {self.number(0)}, {self.vector(WHOLE, 0)}, v)",
            "B = A @ B * 0.125", "u[:] = 0", "A[...] = B", "v = np.zeros_like(u)", "B = np.zeros_like(A)", "np.maximum.at(u, q, s)", "np.multiply.at(u, q, 0.5)",
        ])  # fmt: skip

    def block(self, depth: int) -> tuple[Statement, ...]:
        """A few statements."""
        return tuple([s for _ in range(self.draw.choice([1, 1, 2, 2, 3])) for s in self.statement(depth)])

    def statement(self, depth: int) -> tuple[Statement, ...]:
        """A statement, with those inside it."""
        kind = self.draw.random()
        if kind < 0.55 or not depth:
            return (Statement(self.plain()),)
        if kind < 0.65 and self.loops:
            i = self.draw.choice(self.loops)
            test = self.draw.choice(
                [f"{i} > 1", f"{i} % 2 == 0", f"{self.number(0)} > {self.number(0)}", f"{i} == {self.place()}"]
            )
            return (Statement(f"if {test}:", self.block(depth - 1)),)
        self.count += 1
        name = f"i{self.count}"
        ranges = INNER if self.loops and self.draw.random() < 0.7 else OUTER
        head = f"for {name} in {self.draw.choice(ranges).replace('{i}', self.draw.choice(self.loops) if self.loops else '')}:"
        self.loops.append(name)
        body = self.block(depth - 1)
        self.loops.pop()
        return (Statement(head, body),)


def nest(seed: int) -> Flow:
    """The random program of a seed."""
    draw = Random(f"nest {seed}")
    made, size = _Drawing(draw), draw.choice(SIZES)
    body = list[Statement]()
    while not any([s.body for s in body]):
        body += made.statement(3)
    copied = draw.choice(["", ".copy()"])
    head = tuple([Statement(line.replace("{copied}", copied)) for line in (f"N = {size}", *HEAD)])
    results = tuple(draw.sample(RESULTS, draw.choice([1, 2, 3, 6])))
    return Flow(draw.choice(DTYPES), (*head, *body), results, seed, (size, size))
