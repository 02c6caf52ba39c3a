"""Random programs that write in place, of operations that are exact: views of views, overlapping arguments, every form of update, loops.

Unlike `generate`, which draws from all of NumPy, this draws what moves and changes memory, and
only what every correct implementation computes to the same bits.
"""

from __future__ import annotations

import ast
from random import Random
from typing import Any, final

import numpy as np

from tests.properties.programs import Line, Program, quiet

SHAPES = ((5,), (7,), (16,), (33,), (100,), (101,), (2, 3), (4, 4), (5, 5), (3, 33), (9, 9), (33, 4), (3, 4, 5))
DTYPES = ("int64", "int64", "int64", "float64", "float64", "float32", "int32", "uint8")
LARGEST = 2.0**20  # floats beyond may be rounded, by a product at least
ATTEMPTS = 30

VIEWS = ("{a}[:]", "{a}[::-1]", "{a}[1:]", "{a}[:-1]", "{a}[::2]", "{a}[1::2]", "{a}[1:-1]", "{a}[..., 1:]", "{a}[..., ::-1]",
         "{a}.T", "{a}.reshape(-1)", "{a}.ravel()", "{a}[None]", "{a}[{i}, ...]", "{a}[{i}:]", "{a}[..., {i}]", "{a}[:{i}]",
         "{a}[{i}:-{j}]", "{a}[::-2]", "{a}.swapaxes(0, -1)")  # fmt: skip
PAIRS = ("[1:]", "[:-1]"), ("[:-1]", "[1:]"), ("[:]", "[::-1]"), ("[2:]", "[:-2]"), ("[:-3]", "[3:]"), ("[::-1]", "[:]"), ("[..., 1:]", "[..., :-1]"), ("[..., :-2]", "[..., 2:]"), ("[1:-1]", "[2:]"), ("[1:-1]", "[:-2]"), ("[...]", "[...]")  # fmt: skip
NEW = ("{a}.copy()", "{a} + {k}", "{a} - {b}", "np.maximum({a}, {b})", "{a}[::-1] + {a}", "{a}.T.copy()", "np.where({a} > {k}, {a}, {b})", "-{a}",
       "np.zeros_like({a})", "np.concatenate([{a}, {a}])", "{a}.flatten()", "np.abs({a})", "{a}[{a} > {k}].sum() + {a}", "np.cumsum({a})")  # fmt: skip
WRITES = (
    "{a} += {b}", "{a} -= {b}", "{a} *= 2", "{a} += {k}", "{a}[...] = {b}", "{a} += {a}[::-1]", "{a} -= {a}.T", "{a}[...] = {a}.T",
    "{a}{s} = {a}{t}", "{a}{s} = {a}{t}", "{a}{s} += {a}{t}", "{a}{s} -= {a}{t}", "{a}{s} = {b}{t}", "{a}{s} += {b}{t}", "{a}{s} = {a}{t} + {b}{s}",
    "{a}{s} = {a}{t} - {a}{s}", "{a}{s} = np.maximum({a}{s}, {a}{t})", "{a}{s} += {a}{t} + {a}{s}", "{a}[1:-1] = {a}[:-2] + {a}[2:]", "{a}[1:-1] += {a}[:-2] - {a}[2:]",
    "{a}[..., 1:-1] = {a}[..., :-2] - {a}[..., 2:]", "{a}[1:-1] -= {a}[2:] + {a}[:-2] + {b}[1:-1]", "{a}[2:] = {a}[:-2] + {a}[1:-1]",
    "np.add({a}{s}, {a}{t}, out={a}{s})", "np.subtract({a}{s}, {b}{t}, out={a}{t})", "np.maximum({a}, {a}[::-1], out={a})", "np.negative({a}{s}, out={a}{t})",
    "np.minimum({a}{s}, {k}, out={a}{t})", "np.copyto({a}{s}, {a}{t})", "np.copyto({a}, {b}, where={a} > {k})", "{a}.fill({k})", "{a}[{i}] = {a}[{j}]", "{a}[{i}] += {a}[{j}]", "{a}[{i}], {a}[{j}] = {a}[{j}], {a}[{i}]",
    "{a}[{a} > {k}] = {j}", "{a}[{a} < {k}] += {i}", "{a}[[{i}, {j}, {i}]] = {k}", "{a}[[{i}, {j}, {i}]] += {k}", "{a}[[{i}, {j}]] = {a}[[{j}, {i}]]", "np.add.at({a}, [{i}, {j}, {i}], {k})",
    "np.put({a}, [{i}, {j}], [{k}, {i}])", "np.cumsum({a}, out={a})", "{a}.sort()", "{a} += {a}.sum()", "{a} -= {a}[{i}]", "{a} += {a}.max(0)", "{a}[...] = np.sort({a})",
    "np.matmul({a}, {a}, out={a})", "{a} += {a} @ {a}", "{a}[{i}] -= {a}.sum(0)", "np.sum({a}, 0, out={a}[{i}])", "np.putmask({a}, {a} > {k}, {j})", "{a}[...] = np.where({a} > {k}, {a}[::-1], {b})", "{a}[...] = np.roll({a}, {i})", "{a}[...] = {a}[::-1].copy()",
    "np.multiply.at({a}, [{i}, {j}, {i}], 2)", "np.maximum.at({a}, [{i}, {j}, {i}], {b}[:3])", "np.subtract.at({a}, [{i}, {j}, {i}], {a}[{j}])", "np.negative.at({a}, [{i}, {j}, {i}])",
    "np.add.at({a}, {a} > {k}, {j})", "{a}.flat[{i}] = {k}", "{a}.flat[{i}:] = {b}.flat[: -{j}]", "{a}.T.flat[[{i}, {j}]] = [{k}, {i}]", "{a}.flat = [{i}, {j}, {k}]",
    "{a}[{a} > {k}] = {a}[{a} > {k}][::-1]", "np.place({a}, {a} > {k}, [{i}, {j}])", "{a}.reshape(-1).view(np.uint8)[:8] = 0", "{a}[{i}:, ...].view({a}.dtype)[...] = {k}",
)  # fmt: skip
STEPS = ("{a}[i] += {a}[i - 1]", "{a}[i] = {a}[i + 1]", "{a}[i + 1] -= {a}[i]", "{a}[i], {a}[i + 1] = {a}[i + 1], {a}[i]", "{a}[i] = {b}[i + 1]", "{a}[i] += {k}", "{a}[i] = {a}[i] + {b}[i]", "{a}, {b} = {b}, {a}", "{a} = {a} + {b}")  # fmt: skip


def writing_program(seed: int, tag: str = "") -> Program:
    """The random program of a seed; `tag` is part of all its names."""
    with quiet():
        return _Drawing(Random(seed), tag, seed).program()


def together(programs: list[Program]) -> Program:
    """One program that does what several do, one after the other; their names are different."""
    arguments, lines, results = (
        tuple([x for p in programs for x in parts(p)]) for parts in (_arguments, _lines, _results)
    )
    return Program(arguments, lines, results)


def _arguments(p: Program) -> tuple[tuple[str, str], ...]:
    return p.arguments


def _lines(p: Program) -> tuple[Line, ...]:
    return p.lines


def _results(p: Program) -> tuple[str, ...]:
    return p.results


class _Drawing:
    """One program while it is drawn: what NumPy has in memory after the lines so far."""

    def __init__(self, rng: Random, tag: str, seed: int) -> None:
        self.rng, self.tag, self.seed, self.count = rng, tag, seed, 0
        self.dtype = rng.choice(DTYPES)
        self.arguments = self.drawn_arguments()
        self.env: dict[str, Any] = dict(
            zip((n for n, _ in self.arguments), Program(self.arguments, (), ()).inputs(), strict=True)
        )

    def name(self) -> str:
        """A new name."""
        self.count += 1
        return f"x{self.tag}{self.count}"

    def drawn_arguments(self) -> tuple[tuple[str, str], ...]:
        """Arrays of one or two shapes, and perhaps views of the first one."""
        rng, made = self.rng, list[tuple[str, str]]()
        shapes = [rng.choice(SHAPES)]
        for n in range(rng.randint(1, 3)):
            if n and rng.random() < 0.3:
                shapes.append(rng.choice(SHAPES))
            shape, name = shapes[-1], self.name()
            size = int(np.prod(shape))
            factor, low = rng.randint(1, 9), rng.randint(0, 4)
            made.append((name, f"(np.arange({size}) * {factor} % 11 - {low}).astype(np.{self.dtype}).reshape({shape})"))
        if rng.random() < 0.3:
            text = rng.choice(VIEWS).format(a=made[0][0], i=1, j=1)
            try:
                view = eval(text, {made[0][0]: np.zeros(shapes[0])})
            except IndexError:
                view = None
            if isinstance(view, np.ndarray) and view.size:
                made.append((self.name(), text))
        return tuple(made)

    def program(self) -> Program:
        """Lines and results."""
        lines = [line for _ in range(self.rng.randint(1, 5)) if (line := self.line())]
        arrays = [n for n, x in self.env.items() if isinstance(x, np.ndarray)]
        results = self.rng.sample(arrays, min(len(arrays), self.rng.randint(1, 3)))
        return Program(self.arguments, tuple(lines), tuple(results), self.seed)

    def line(self) -> Line | None:
        """A line that NumPy runs; None if none was found."""
        for _ in range(ATTEMPTS):
            kind = self.rng.random()
            if kind < 0.15:
                text = f"{self.name()} = {self.filled(self.rng.choice(VIEWS))}"
            elif kind < 0.25:
                text = f"{self.name()} = {self.filled(self.rng.choice(NEW))}"
            elif kind < 0.85:
                text = self.filled(self.rng.choice(WRITES))
            else:
                text = self.loop()
            if self.runs(text):
                return Line(text)
        return None

    def loop(self) -> str:
        """A loop over some updates, whose names keep their types."""
        lines = [
            self.filled(self.rng.choice(STEPS if self.rng.random() < 0.6 else WRITES))
            for _ in range(self.rng.randint(1, 3))
        ]
        head = self.rng.choice(["range(3)", "range(1, 4)", "range(2)", "range(3, 0, -1)", "range(4)"])
        return "\n".join([f"for i in {head}:", *[f"    {line}" for line in lines]])

    def filled(self, template: str) -> str:
        """A template with arrays of one shape, and numbers that may be indices."""
        rng = self.rng
        arrays = [n for n, x in self.env.items() if isinstance(x, np.ndarray)]
        a = rng.choice(arrays)
        like = [n for n in arrays if self.env[n].shape == self.env[a].shape]
        s, t = rng.choice(PAIRS)
        return template.format(
            a=a, b=rng.choice(like), s=s, t=t, i=rng.randint(0, 3), j=rng.randint(1, 4), k=rng.randint(0, 5)
        )

    def runs(self, text: str) -> bool:
        """Run a line if it is fine: as a copy first, since a failing line may have written."""
        copies, others = _copied(self.env), _copied(self.env)
        before = {n: _kind(x) for n, x in self.env.items()}
        try:
            exec(text, {"np": np}, copies)
            exec(copying(text), {"np": np}, others)
        except Exception:
            return False
        arrays = {n: x for n, x in copies.items() if n != "i"}
        if not all([_is_fine(x) for x in arrays.values()]) or any([_kind(arrays[n]) != k for n, k in before.items()]):
            return False
        if any([x.tobytes() != others[n].tobytes() for n, x in arrays.items()]):
            return False  # see Note [what NumPy stores]
        exec(text, {"np": np}, self.env)
        self.env.pop("i", None)
        return True


@final
class _Copying(ast.NodeTransformer):
    """Copies what is assigned to a part of an array."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if isinstance(node.targets[0], ast.Subscript):
            node.value = self.copied(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copyto":
            node.args[1] = self.copied(node.args[1])
        return node

    def copied(self, value: ast.expr) -> ast.expr:
        """`np.copy(value)`."""
        made: Any = ast.parse("np.copy(x)", mode="eval").body
        made.args = [value]
        return made


def copying(text: str) -> str:
    """Statements that copy what they assign to parts of arrays."""
    return ast.unparse(_Copying().visit(ast.parse(text)))


def _kind(x: Any) -> tuple[Any, ...]:
    return (x.shape, x.dtype, x.flags.writeable)


def _is_fine(x: Any) -> bool:
    """Whether later lines may use it: an array that is not large, of numbers that are exact."""
    if not isinstance(x, np.ndarray) or x.size > 3000 or x.ndim > 4 or not x.size or not x.flags.writeable:
        return False
    return x.dtype.kind != "f" or bool(np.all(np.abs(x) <= LARGEST) and not np.any(np.signbit(x) & (x == 0)))


def _copied(env: dict[str, Any]) -> dict[str, Any]:
    """The arrays with all that share memory copied as one."""
    bases = {id(b): b.copy() for b in (_base(x) for x in env.values())}
    made = dict[str, Any]()
    for name, x in env.items():
        base = _base(x)
        copy = bases[id(base)]
        start = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        made[name] = np.ndarray(x.shape, x.dtype, copy, start, x.strides)
    return made


def _base(x: Any) -> Any:
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


# Note [what NumPy stores]
# ~~~~~~~~~~~~~
# `c[1] = c[:, 2]` reads c[1, 2] after it was written, in NumPy 2.4: a vector that overlaps the part that it is assigned
# to is not copied first if both strides have the same sign, though they differ. `np.positive(c[:, 2], out=c[1])` is right,
# and so is Pliant. A line is drawn only if NumPy does the same with what it assigns copied.
