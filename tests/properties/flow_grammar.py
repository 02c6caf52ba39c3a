"""Random programs of loops and branches: every form of Python's control flow, over numbers, arrays and containers."""

from __future__ import annotations

from random import Random
from typing import final

from tests.properties.flows import Flow, Statement

DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32")
HEAD = (
    "s, t, k, p = 0.5, a, 0, 0.0", "u, v = x.copy(), np.zeros_like(x)", "m = np.outer(x, y)", "h, w = [0.5, 1.5, -1.0], [x * 2, y + 1]",
    'd = {"a": s, "b": u + 1}', "c, (e, g) = (s, x[0]), (1.0, k)", "last, j0 = None, -1", "log = []",
)  # fmt: skip
RESULTS = (
    ("t", "k", "p"), ("u", "v"), ("m",), ("h[0]", "h[-1]", "w[0]", "w[1]"), ('d["a"]', 'd["b"]'), ("c[0]", "c[1]", "e"), ("j0",),
)  # fmt: skip
ARRAYS = ("x", "y", "u", "v", "u", "v", "w[0]", 'd["b"]', "m[{i}]")
NUMBERS = ("s", "t", "p", "a", "e", "h[1]", "c[0]", "c[1]", 'd["a"]', "1.5", "-0.25", "2")
RANGES = (
    "range(7)", "range(2, 9)", "range(6, -1, -1)", "range(3)", "range(0)", "range(1, 12, 2)", "range(len(x))", "range(1)",
    "range(n)", "range(z)", "range(n - 2, n + 3)", "range(n, -1, -2)", "range(z, n)", "range(k % 5)", "range(n + z)",
)  # fmt: skip
INNER = ("range({i})", "range({i}, 7)", "range({i} % 4 + 1)", "range({i} - 1, -1, -1)")
PLAIN = (
    "u, v = v, u", "u = u * 0.5 + v * 0.25", "u = np.zeros_like(x) + s", "v = u.copy()", "v = x", "u *= {q}", "k += 1",
    "v = np.tanh(u)", "s, t = t, s", "p = s * 0.5", "v[1:] = u[:-1]", "x[1:] += {q} * x[:-1]", "y[:] = x", "u[::2] = v[1::2]",
    "k = (k * 3 + 1) % 7", "c = (c[1], s)", "c = (t * 0.5, c[0])", "e, g = e * 0.5 + s, g + 1", 'd["a"] = s', 'd["b"] = u * 0.5',
    'd["b"] += 0.5 * x', "w[0] = w[1]", "w[0], w[1] = w[1], w[0]", "w[1] *= 0.5", "w[k % 2] = u + 1", "h[0] = s", "h[k % 3] = h[0] * 0.5 + s",
    "h[{j} % 3] += {e}", "m[k % 6] = u", "m[:, {j} % 6] += 0.5 * v", "m = m.T", "m[{j} % 6, k % 6] = s", "m[0], m[1] = m[1].copy(), m[0].copy()",
    "q = u[1:]\nq *= 0.5", "q = m[{j} % 6]\nq[1:] = q[:-1]", "q = x[::-1]\nq[0] = s", "u[:{j} % 6] += 0.5 * v[:{j} % 6]", "s += u[{j} % 6:].sum() * 0.1",
    "t = t + m[{j} % 6, :{j} % 6] @ m[:{j} % 6, k % 6] * 0.01", "u[{j} % 5 : {j} % 5 + 2] = s", "np.add.at(u, [k % 6, 0], 0.5)", "u[u > 0.5] = {q}",
    "v = np.where(u > s, u, v)", "u = np.cumsum(u) * 0.25", "v = np.sort(u)", "s = float(s) * 0.5", "t = x.max() - x.min()", "k = int(s * 2) % 5",
    "u = v = u + 1", "log.append(s)", "log.append(u[0])", "j0 = {j}", "last = s", "p += sum(h)", "p = max(s, t)", "p = min(s, u[1], 0.3)", "p = abs(s)",
    "e = sum(q0 * 0.5 for q0 in u)", "u = np.array([q0 * 0.5 + {j} for q0 in v])", "s = [s, t][k % 2]", "del p\np = 0.25", "u.fill(s)", "u = u[::-1]",
    "s += (t := t * 0.5)", "x = x * 0.5", "y = u", "assert True", "pass",
)  # fmt: skip


@final
class _Drawing:
    """One program while it is drawn."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.loops: list[str] = []
        self.count = 0

    def name(self) -> str:
        """A new name for an index."""
        self.count += 1
        return f"i{self.count}"

    def j(self) -> str:
        """An integer: an index of a loop around, or a number that counts."""
        return self.draw.choice([*self.loops, *self.loops[-1:], "k"])

    def filled(self, text: str) -> str:
        """A template with numbers, indices and expressions."""
        for field, made in (("{e}", lambda: self.expression(1)), ("{j}", self.j), ("{q}", self.factor)):
            value = made() if field in text else ""
            text = text.replace(field, value)
        return text

    def factor(self) -> str:
        """A small number."""
        return self.draw.choice(["0.5", "0.5", "2", "-1", "1"])

    def array(self) -> str:
        """An array of six elements."""
        return self.draw.choice(ARRAYS).replace("{i}", f"{self.j()} % 6")

    def index(self) -> str:
        """An index of six elements."""
        j = self.j()
        return self.draw.choice([str(self.draw.randrange(6)), f"{j} % 6", f"({j} + 1) % 6", f"-1 - {j} % 6"])

    def expression(self, depth: int = 2) -> str:
        """A number."""
        more, d = self.expression, depth - 1
        leaves = [self.draw.choice(NUMBERS), self.draw.choice(NUMBERS), f"{self.array()}[{self.index()}]"]
        if not depth:
            return self.draw.choice(leaves)
        kind = self.draw.randrange(10)
        if kind < 4:
            return self.draw.choice(leaves)
        return (
            f"np.tanh({more(d)})", f"({more(d)} - 0.5 * {more(d)})", f"({more(d)} if {self.condition(d)} else {more(d)})",
            f"{self.array()}.sum() * 0.1", f"({more(d)} * 0.3 + 0.1 * {self.j()})", f"np.sin({more(d)} * {more(d)})",
        )[kind - 4]  # fmt: skip

    def condition(self, depth: int = 1) -> str:
        """A condition."""
        e, d = self.expression, depth
        kind = self.draw.randrange(9)
        return (
            lambda: f"{e(d)} > {e(d)}", lambda: f"{e(d)} <= 0.31", lambda: "s < 0.52 and t > -0.51", lambda: f"(not s > 0.23 or {e(d)} < 0.11)",
            lambda: f"-1.1 < {e(d)} <= 0.43", lambda: f"{self.j()} % 3 == 1", lambda: f"{self.j()} in (1, 4)",
            lambda: f"np.any({self.array()} > 0.71)", lambda: f"k < {self.j()} or {e(d)} > 0.17",
        )[kind]()  # fmt: skip

    def block(self, depth: int, *, most: int = 3) -> tuple[Statement, ...]:
        """A few statements."""
        return tuple([s for _ in range(self.draw.randint(1, most)) for s in self.statement(depth)])

    def statement(self, depth: int) -> tuple[Statement, ...]:
        """A statement, with those inside it; some are two."""
        kind = self.draw.randrange(12)
        if kind < 5 or not depth:
            return self.plain()
        if kind == 5 and self.loops:
            return (Statement(f"if {self.condition()}:", (Statement(self.draw.choice(["break", "continue"])),)),)
        if kind == 6 and self.draw.random() < 0.3:
            return (Statement(f"if {self.condition()}:", (Statement(f"return {self.expression(1)}"),)),)
        if kind == 7 and self.draw.random() < 0.3:
            return (self.other_form(depth),)
        return (self.branch(depth),) if kind < 9 else self.loop(depth)

    def plain(self) -> tuple[Statement, ...]:
        """An assignment or the like."""
        if self.draw.random() < 0.5:
            text = self.draw.choice(PLAIN)
        else:
            text = self.draw.choice(
                [
                    "s = {e}",
                    "t += 0.5 * {e}",
                    f"{self.array()}[{self.index()}] += {{e}}",
                    f"{self.array()}[{self.index()}] = {{e}}",
                ]
            )
        return tuple([Statement(line) for line in self.filled(text).split("\n")])

    def branch(self, depth: int) -> Statement:
        """An `if`."""
        head, body = f"if {self.condition()}:", self.block(depth - 1)
        if self.draw.random() < 0.4:
            return Statement(head, body)
        other = "else:" if self.draw.random() < 0.7 else f"elif {self.condition()}:"
        return Statement(head, body, other, self.block(depth - 1))

    def other_form(self, depth: int) -> Statement:
        """A `with`, a `try`, or a function that is called."""
        kind = self.draw.randrange(3)
        if kind == 0:
            return Statement("with np.errstate(all='ignore'):", self.block(depth - 1))
        if kind == 1:
            return Statement("try:", self.block(depth - 1), "except ZeroDivisionError:", (Statement("s = 0.0"),))
        return Statement("try:", self.block(depth - 1), "finally:", (Statement("t = t * 0.5"),))

    def loop(self, depth: int) -> tuple[Statement, ...]:
        """A `for` or `while`."""
        name = self.name()
        if self.draw.random() < 0.2:
            return self.repeat(name, depth)
        ranges = RANGES if not self.loops or self.draw.random() < 0.6 else INNER
        counted = self.draw.choice(ranges).replace("{i}", self.loops[-1] if self.loops else "n")
        before = (Statement(f"{name} = {self.draw.choice(['-1', '0', '9'])}"),)  # so that it is bound after no steps
        items = self.draw.choice(
            [f"{name} in {counted}"] * 5
            + [f"{name}, q in enumerate({self.array()})", f"({name}, (q, r)) in enumerate(zip(x, u))", f"{name}, q in enumerate(m)",
               f"{name} in reversed({counted})", f"{name}, q in enumerate(w)", f"{name}, q in zip(range(9), x)", f"{name} in (0, 3, 5)"]
        )  # fmt: skip
        self.loops.append(name)
        body = self.block(depth - 1)
        self.loops.pop()
        if self.draw.random() < 0.12:
            return (*before, Statement(f"for {items}:", body, "else:", self.block(depth - 1)))
        return (*before, Statement(f"for {items}:", body))

    def repeat(self, name: str, depth: int) -> tuple[Statement, ...]:
        """A `while` that ends."""
        before = Statement(f"{name} = 0")
        test = self.draw.choice(
            [
                f"{name} < 6",
                f"({self.condition()}) and {name} < 5",
                f"{name} < n",
                "True",
                f"({name} := {name} + 1) < 5",
            ]
        )
        self.loops.append(name)
        body = self.block(depth - 1)
        self.loops.pop()
        step = (Statement(f"{name} += 1", is_step=True),) if ":=" not in test else ()
        if test == "True":
            step = (*step, Statement(f"if {name} > 4 or {self.condition()}:", (Statement("break"),), is_step=True))
        return (before, Statement(f"while {test}:", step + body))


def flow(seed: int) -> Flow:
    """The random program of a seed."""
    draw = Random(seed)
    made = _Drawing(draw)
    body = tuple([s for _ in range(draw.randint(2, 4)) for s in made.statement(3)])
    results = [name for names in RESULTS for name in names]
    results += [name for name in (*[f"i{n + 1}" for n in range(made.count)], "log") if draw.random() < 0.2]
    head = tuple([Statement(line) for line in HEAD])
    return Flow(draw.choice(DTYPES), (*head, *body), tuple(results), seed)
