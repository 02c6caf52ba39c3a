"""Random programs of nested loops over parts of arrays, as numerical kernels are: rows, columns, triangles, stencils, tables."""

from __future__ import annotations

import re
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
           "Z[-1]", "A[0]", "Z[:, 1]", "np.abs(Z).min(1)", "np.round(Z, 2).argmax(0)", "(Z @ u)", "(v @ B)", "np.prod(1 + 0.1 * Z, 0)", "np.tanh(Z[1:-1]).sum()", "(u * w).sum()",
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


IDIOMS = (
    "for {i} in range(N):\n    {W}[{i~}] = {e} + {f} * ({W}[:{i~}] @ {M}[:{i~}, {i~}])",
    "for {i} in range(N):\n    {W}[{i~}] -= {f} * ({W}[:{i~}] @ C[{c}, :{i~}, {i~}])",
    "for {i} in range(N):\n    {M}[{k}, {i~}] = {e} + {f} * ({M}[{k}, :{i~}] @ {M}[:{i~}, {i~}])",
    "for {i} in range(N):\n    {W}[{i~}] -= {f} * ({M}[{i~}, :{i~}] @ {W}[:{i~}])",
    "for {j} in range(N):\n    for {i} in range({j}):\n        {M}[{j}, {i}] = ({M}[{j~}, {i}] - {f} * ({M}[{j~}, :{i~}] @ {M}[:{i~}, {i~}])) * 0.5\n    {M}[{j}, {j}:] *= {f}",
    "for {i} in range(1, N):\n    {M}[:, {i~}] = {f} * {M}[:, {i} - 1] + {L}[:, {i~}]",
    "for {i} in range(N - 2, -1, -1):\n    {M}[:, {i}] += {f} * {M}[:, {i} + 1] * {L}[:, {i~}]",
    "for {i} in range(2, N):\n    {M}[:, {i~}] = {f} * ({M}[:, {i} - 1] - {M}[:, {i} - 2]) + {V}",
    "for {i} in range(N):\n    {W} = np.tanh({W} * {f} + {V})\n    Z[{i~}] = {W}",
    "for {i} in range(N):\n    {W} = {f} * {W} + {M}[{i~}]\n    Z[{i}] = {W} * {V}",
    "for {i} in range(1, N):\n    {M}[{i~}] = np.tanh({M}[{i} - 1]) * {f} + {L}[{i~}]",
    "for {i} in range(1, N):\n    s = {f} * ({W}[:{i~}] @ {U}[:{i~}][::-1])\n    {W}[:{i}] = {W}[:{i}] + s * {W}[:{i~}][::-1]\n    {W}[{i}] = s",
    "w[:4] = ({M} @ {L} * 0.125 + {V})[q, {k}]", "w[:4] += {M}.sum(1)[q]", "w[1:4] = np.tanh({M} @ u * 0.125)[q[1:]]", "v[q] += ({M} * {V}).max(1)[q]",
    "for {j} in range({k}, N):\n    {M}[{k}, {j}] = {W} @ {L}[:, {j~}] * 0.125\n    {L}[:, {j~}] -= {f} * {W} * {M}[{k}, {j}]",
    "for {i} in range(5):\n    {M}[1:-1, 1:-1] = 0.2 * ({L}[1:-1, 1:-1] + {L}[:-2, 1:-1] + {L}[2:, 1:-1] + {L}[1:-1, :-2] + {L}[1:-1, 2:])\n    {L}[1:-1, 1:-1] = {M}[1:-1, 1:-1]",
    "for {i} in range(1, N - 1):\n    for {j} in range(1, N - 1):\n        {M}[{i~}, {j~}] = 0.2 * ({M}[{i} - 1, {j}] + {M}[{i}, {j} - 1] + {M}[{i}, {j}] + {L}[{i}, {j} + 1])",
    "for {i} in range(N):\n    for {j} in range(N):\n        t = 0.0\n        for {h} in range(N):\n            t += {M}[{i}, {h}] * {L}[{h}, {j~}]\n        Z[{i~}, {j}] = t * 0.1",
    "for {i} in range(N):\n    for {j} in range({i} + 1):\n        {W}[{i~}] += {M}[{i~}, {j~}] * {U}[{j~}] * {f}",
    "{i} = 0\nwhile {i} < N and abs(s) < 5:\n    s = s * 1.1 + {W}[{i}]\n    {M}[{i}] *= s\n    {i} += 1",
    "for {i} in range(N):\n    {W}[{i~}] = np.sum({M}[{i~}] * {V}) * {f}\n    if {e} > 0.3:\n        {W}[{i}] = {e}",
    "for {i} in range(N):\n    t = max(t, {W}[{i}])\n    s += t * {f}\n    {W}[{i~}] = t",
    "for {i} in range(N - 1):\n    {h} = {i} + 1 + int(np.argmax(np.abs({M}[{i} + 1:, {i~}])))\n    {M}[{i}], {M}[{h}] = {M}[{h}].copy(), {M}[{i}].copy()\n    {M}[{i} + 1:] -= {f} * np.outer({M}[{i} + 1:, {i~}], {M}[{i}])",
    "for {i} in range(N):\n    {M}[p[{i~}], {i~}] += {e}\n    {W}[p[{i}]] = {W}[{i~}] * {f} + {e}",
    "R = np.zeros((N, N))\nfor {i} in range(N):\n    {W} = np.tanh({W} * {f} + {V})\n    R[{i}] = {W}\n{r}\n{r}",
    "R = np.zeros((N, N))\nfor {i} in range(N - 1, -1, -1):\n    {W} = {W} * {f} + {M}[{i~}]\n    R[{i}] = {W} * {V}\n{r}\n{r}",
    "R = []\nfor {i} in range(N):\n    {W} = {W} * {f} + {M}[{i~}]\n    R.append({W} + {V})\nR = np.array(R)\n{r}\n{r}\n{r}",
    "for {i}, {h} in enumerate({M}):\n    {h} *= {f}\n    {W}[{i~}] += {h}.sum()",
    "for {i} in range(N):\n    {W}[{i}:] += {f} * {M}[{i~}, {i}:]\n    {U}[:{i}] -= {f} * {W}[:{i~}]",
)  # fmt: skip
REDUCED = (
    "s += (R * R).sum() * 0.1", "u = R[1:].max(0)", "v = R.sum(0) * 0.1", "t = R[-1].sum()", "w = R[::2].mean(0)", "u = np.argmax(R, 0) * 1.0", "v = w @ R * 0.1", "t = R.min()",
    "w = R.T @ u * 0.1", "u = R.sum(1)", "v = np.prod(1 + 0.1 * R[:-1], 0)", "w = R[2] * 1", "u = (R - w).sum(0) * 0.1", "v = (R * B)[1:-1].sum(0)", "s = R.mean()", "t = np.any(R > 0.3) * 1.0",
    "u = R[3:1:-1].sum(0)", "v = (R[1:] * B[:-1]).sum(0)", "w = (R[1:] - R[:-1]).sum(0)", "t = np.sqrt((R * R).sum() + 1)", "s = R.std()", "u = np.logaddexp.reduce(R, 0) * 0.1", "v = R[::-1].max(0)",
    "A = R * 0.5", "t = R[0, 0] + R[N - 1, 1]", "u = np.tanh(R[1:-1, ::-1]).sum(0)", "s += (R @ u).sum() * 0.1", "w = np.minimum(R, 0.5)[::2].sum(0)", "v = R[q].sum(0)",
)  # fmt: skip


def statements(text: str) -> tuple[Statement, ...]:
    """Statements of lines that are indented by fours."""
    lines, found = text.split("\n"), list[Statement]()
    while lines:
        head, body = lines.pop(0), list[str]()
        while lines and lines[0].startswith("    "):
            body.append(lines.pop(0)[4:])
        found.append(Statement(head, statements("\n".join(body)) if body else (), is_step=head.endswith(" += 1")))
    return tuple(found)


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

    def idiom(self) -> tuple[Statement, ...]:
        """A loop as there are many, perhaps with other indices here and there."""
        draw, text, names = self.draw, self.draw.choice(IDIOMS), dict[str, str]()
        for field in ("i", "j", "h"):
            if f"{{{field}}}" in text:
                self.count += 1
                names[field] = f"i{self.count}"
        before, self.loops = self.loops, [*self.loops, *[n for f, n in names.items() if f != "h"]]
        names |= dict(zip("ML", draw.sample("ABZ", 2), strict=True)) | dict(
            zip("WU", draw.sample("uvw", 2), strict=True)
        )
        names["k"] = draw.choice(["0", "2", *before])
        for field, name in names.items():
            text = text.replace(f"{{{field}}}", name)
        makers = {
            "r": lambda: draw.choice(REDUCED),
            "e": lambda: self.number(1),
            "f": self.factor,
            "c": self.table,
            "V": lambda: self.vector(WHOLE, 0),
        }
        for field in ("i", "j"):
            makers[f"{field}~"] = lambda field=field: names[field] if draw.random() < 0.9 else self.place()
        text = re.sub(r"\{(.~?)\}", lambda found: makers[found[1]](), text)
        self.loops = before
        return statements(text)

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
        if kind > 0.8:
            return self.idiom()
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
    text = "\n".join([line for part in body for line in part.lines(0)])
    written = {
        name
        for line in text.split("\n")
        if " for " not in line
        for name in re.findall(r"\b[A-Zs-w]\b", line.split("=")[0])
    }
    candidates = [r for r in RESULTS if written & {*re.findall(r"\b[A-Zs-w]\b", r)}] or RESULTS
    results = tuple(draw.sample(candidates, min(draw.choice([1, 2, 3, 6]), len(candidates))))
    return Flow(draw.choice(DTYPES), (*head, *body), results, seed, (size, size))
