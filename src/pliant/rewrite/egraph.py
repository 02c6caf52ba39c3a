"""Many equal programs at once: classes of equal values, and the terms that make each of them.

A term is a primitive applied to classes, so one term stands for all programs whose operands come from those classes.
Equal terms are one object, and stay so when classes turn out to be equal (Willsey et al. 2021, "egg").
"""

from __future__ import annotations

from cmath import isclose, isfinite
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from hashlib import blake2b
from heapq import heappop, heappush
from typing import Any, Final, TypeAlias, cast, final

from pliant.core.data import frozen
from pliant.core.inner import answered, functions_of
from pliant.core.ir import Const, Function, Node, Number, Op, Param, Value, const, nodes, rebuild
from pliant.core.types import Type, real_dtype
from pliant.errors import ContradictionError, RewriteError

Fold: TypeAlias = "Callable[[Op, tuple[Const, ...]], Number | None]"
Price: TypeAlias = Callable[[Node], float]
"""What a primitive on operands of these types costs, more than 0."""


LATER: Final = 1 << 60
LESS: Final = 1 - 1e-7
"""What is as it was is that much cheaper: of equally cheap programs, the one that changes least."""
KEPT: Final = {"f16": 0.05, "f32": 1e-3, "f64": 1e-8}
"""How small an operand of an operation on literals, or its result, may be, as a part of the largest: below, too many
digits are lost for both sides to be taken as equal."""
APART: Final = {"f16": 0.2, "f32": 0.02}
"""How far apart numbers may be that rules say are equal, as a part of them; 0.001 of other dtypes."""


@final
class Term:
    """A primitive applied to classes. Its results are in classes too. Compared by identity."""

    __slots__ = ("args", "born", "node", "outs", "text")

    def __init__(self, node: Node, args: tuple[int, ...], outs: tuple[int, ...], text: bytes, born: int) -> None:
        self.node, self.args, self.outs = node, args, outs
        self.text = text  # what tells the primitive from others, the same in every process
        self.born = born  # its number among those of the program as it was; LATER for others

    @property
    def is_given(self) -> bool:
        """Whether the program as it was has it."""
        return self.born < LATER


@final
@frozen
class Way:
    """One way to make a value: a term, which of its results it is, and what that costs with all that it is made of."""

    cost: float
    digest: bytes
    term: Term
    index: int


@final
class EGraph:
    """Classes of equal values. Ask for the `class_of` a value, say which are equal by `union`, then `rebuild`."""

    def __init__(self, params: Iterable[Value], fold: Fold | None) -> None:
        self.fold = fold
        self.params = {p: n for n, p in enumerate(params)}
        self.above: list[int] = []  # a class, or one that it was found to be equal to
        self.types: list[Type] = []
        self.makers: list[list[tuple[Term, int]]] = []
        self.readers: list[list[Term]] = []
        self.literals: dict[int, Const] = {}
        self.uniform: dict[int, Const] = {}  # of arrays, the one number that they hold everywhere
        self.terms: dict[Any, Term] = {}
        self.classes: dict[Value, int] = {}  # of values that were added
        self.texts: dict[Op, bytes] = {}
        self.digests: dict[int, bytes] = {}  # of the cheapest ways, when these were last looked for
        self.is_begun = False  # whether rules may add terms now
        self.touched: list[int] = []
        self.news: set[int] = set()  # classes that were made, or in which there is something new

    def __len__(self) -> int:
        return len(self.terms)

    def find(self, c: int) -> int:
        """The class that stands for all that `c` is equal to."""
        above = self.above
        while above[c] != c:
            above[c] = above[above[c]]
            c = above[c]
        return c

    def class_of(self, value: Value) -> int:
        """The class of a value, which is added if it is new."""
        found = self.classes.get(value)
        if found is not None:
            return self.find(found)
        for node in nodes((value,), stop=self.classes.keys()):
            if not self._knows(node):
                term = self.insert(node, tuple([self.find(self.classes[a]) for a in node.args]))
                for made, out in zip(node.values, term.outs, strict=True):
                    self.classes.setdefault(made, out)
        return self.find(self.classes[value])

    def _knows(self, node: Node) -> bool:
        """Whether all results of a node were added: of cheapest ways some are."""
        return all([value in self.classes for value in node.values])

    def near(self, classes: Iterable[int], depth: int) -> set[Term]:
        """The terms that make classes, or read them, or read what is made of them, up to a depth."""
        level, found = {self.find(c) for c in classes}, set[Term]()
        for c in level:
            found.update([term for term, _ in self.makers[c]])
        for _ in range(depth):
            terms = {term for c in level for term in self.readers[c]}
            level = {self.find(out) for term in terms for out in term.outs}
            found |= terms
        return found

    def holds(self, value: Value, c: int) -> bool:
        """Whether a value is in a class already; it is not added."""
        found = dict[Value, int]()
        for node in nodes((value,), stop=self.classes.keys()):
            args = [found.get(a, self.classes.get(a)) for a in node.args]
            known = self._knows(node)
            key = key_of(node.op, tuple([self.find(a) for a in args if a is not None]))
            term = self.terms.get(key) if None not in args else None
            if not known and term is None:
                return False
            outs = [self.classes[v] for v in node.values] if term is None else term.outs
            found.update(zip(node.values, outs, strict=True))
        return self.find(found.get(value, self.classes.get(value, -1))) == self.find(c)

    def insert(self, node: Node, args: tuple[int, ...]) -> Term:
        """The term that applies a node's primitive to classes."""
        key = key_of(node.op, args)
        term = self.terms.get(key)
        if term is not None:
            return term
        outs = tuple([self.new_class(t) for t in node.types])
        term = self.terms[key] = Term(node, args, outs, self.text_of(node), LATER if self.is_begun else len(self.terms))
        for index, out in enumerate(outs):
            self.makers[out].append((term, index))
        for a in dict.fromkeys(args):
            self.readers[a].append(term)
        if type(node.op) is Const:
            self.literals[outs[0]] = node.op
        else:
            self.evaluate(term)
        return term

    def new_class(self, type: Type) -> int:
        self.above.append(len(self.above))
        self.types.append(type)
        self.makers.append([])
        self.readers.append([])
        self.news.add(len(self.above) - 1)
        return len(self.above) - 1

    def text_of(self, node: Node) -> bytes:
        """What tells a node's primitive from all others, the same in every process and for every order of rules."""
        op = node.op
        if type(op) is Param:
            return f"parameter {self.params[node.values[0]]}".encode()
        found = self.texts.get(op)
        if found is None:
            found = self.texts[op] = text_of(op)
        return found

    def evaluate(self, term: Term) -> None:
        """Have the literal that a term of literals is in its class; know the number of moved elements of one."""
        if term.node.op.moves:
            self.know_uniform(term)
        operands = [self.literals.get(a) for a in term.args]
        if self.fold is None or not operands or None in operands or len(term.outs) != 1:
            return
        (value,) = term.node.values
        literals = cast("tuple[Const, ...]", tuple(operands))
        number = None if value.shape else self.fold(term.node.op, literals)
        if number is not None and is_faithful(literals, number, value.dtype):
            self.union(term.outs[0], self.class_of(const(number, value.dtype)))

    def know_uniform(self, term: Term) -> None:
        """Know what a term that moves elements holds everywhere, if its operand is one number."""
        (a,), c = term.args, self.find(term.outs[0])
        number = self.literals.get(a) or self.uniform.get(a)
        if number is None or not self.types[c].shape or not self.types[c].size:
            return
        if c in self.uniform:
            check(number, self.uniform[c])
        else:
            self.uniform[c] = number
            self.touched.append(c)

    def union(self, a: int, b: int) -> bool:
        """Say that two classes are one; whether that is new. Call `rebuild` before the next question."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.types[a] != self.types[b]:
            raise RewriteError(f"{self.types[a]} and {self.types[b]} are said to be equal")
        if len(self.makers[a]) + len(self.readers[a]) < len(self.makers[b]) + len(self.readers[b]):
            a, b = b, a
        self.above[b] = a
        self.makers[a] += self.makers[b]
        self.readers[a] += self.readers[b]
        self.makers[b], self.readers[b] = [], []
        for known in (self.literals, self.uniform):
            if b in known:
                check(known[b], known.setdefault(a, known.pop(b)))
        self.touched.append(a)
        self.news.add(a)
        return True

    def rebuild(self) -> None:
        """Make one term of those that have become equal, and one class of their results, until none is left."""
        while self.touched:
            todo = dict.fromkeys([self.find(c) for c in self.touched])
            self.touched.clear()
            for c in todo:
                self.renew(c)

    def renew(self, c: int) -> None:
        """Have the terms that read a class name it by what stands for it."""
        readers = self.readers[c]
        self.readers[c] = []
        kept = dict[Term, None]()
        for term in readers:
            op = term.node.op
            old = key_of(op, term.args)
            if self.terms.get(old) is term:
                del self.terms[old]
            args = tuple(map(self.find, term.args))
            same = self.terms.setdefault(key_of(op, args), term)
            if same is term or term.born < same.born:
                same.args, same.born = args, term.born
            if same is term:
                self.evaluate(term)
                kept[term] = None
                continue
            for x, y in zip(term.outs, same.outs, strict=True):
                self.makers[self.find(x)] = [m for m in self.makers[self.find(x)] if m[0] is not term]
                self.union(x, y)
            kept[same] = None
        c = self.find(c)
        self.readers[c] = [*dict.fromkeys([*self.readers[c], *kept])]

    def ways(self, price: Price, usable: Callable[[Term], bool] | None = None) -> dict[int, Way]:
        """The cheapest way to make a value of each class, as if nothing were shared: the classes that it reads come
        first. Of equally cheap ones that with the least digest, which no order of rules decides (Knuth 1977).
        usable: whether a term may be used; classes that no other makes are left out."""
        best, waiting = dict[int, Way](), dict[Term, int]()
        readers = dict[int, list[Term]]()
        queue = list[tuple[float, bytes, int, Way]]()

        def ready(term: Term) -> None:
            ways = [best[a] for a in term.args]
            cost = price(term.node) * (LESS if term.is_given else 1) + sum([w.cost for w in ways])
            below = [w.digest for w in ways]
            below = sorted(below) if term.node.op.commutative else below
            digest = blake2b(b"".join([term.text, *below]), digest_size=12).digest()
            for index in range(len(term.outs)):
                at = digest + index.to_bytes(2, "big")
                heappush(queue, (cost, at, len(queue), Way(cost, at, term, index)))

        for term in self.terms.values():
            if usable is not None and not usable(term):
                continue
            waiting[term] = len({*term.args})
            for a in dict.fromkeys(term.args):
                readers.setdefault(a, []).append(term)
            if not term.args:
                ready(term)
        while queue:
            way = heappop(queue)[-1]
            c = self.find(way.term.outs[way.index])
            if c in best:
                continue
            best[c] = way
            for term in readers.get(c, ()):
                waiting[term] -= 1
                if not waiting[term]:
                    ready(term)
        self.digests = {c: way.digest for c, way in best.items()}
        return best

    def values(self, ways: dict[int, Way]) -> dict[int, Value]:
        """A value of each class, made in its way, in the current trace. Ways come after those that they read."""
        made, by_term = dict[int, Value](), dict[Term, tuple[Value, ...]]()
        for c, way in ways.items():
            outs = by_term.get(way.term)
            if outs is None:
                outs = by_term[way.term] = self.value_of(way.term, made)
            made[c] = outs[way.index]
            self.classes.setdefault(made[c], c)
        return made

    def value_of(self, term: Term, made: dict[int, Value]) -> tuple[Value, ...]:
        """The results of a term on values of the classes that it reads."""
        if type(term.node.op) is Param:
            return term.node.values
        is_free = term.node.op.commutative and not term.is_given
        args = sorted(term.args, key=self.digests.__getitem__) if is_free else term.args
        return rebuild(term.node, tuple([made[a] for a in args]))


def key_of(op: Op, args: tuple[int, ...]) -> Any:
    """What equal terms have in common."""
    return type(op), op, tuple(sorted(args)) if op.commutative else args


def is_faithful(operands: Sequence[Const], number: Number, dtype: str) -> bool:
    """Whether an operation on literals keeps most digits: no small one vanishes beside a large one, nothing cancels,
    overflows or underflows. What it makes is equal to what a rule may make of it elsewhere, but for rounding."""
    share = KEPT.get(real_dtype(dtype))
    sizes = [abs(c.value) for c in operands]
    if share is None or not all(map(isfinite, sizes)):
        return share is None
    most = max(*sizes, abs(number))
    return isfinite(number) and all([size == 0 or size >= share * most for size in (*sizes, abs(number))])


def check(a: Const, b: Const) -> None:
    """ContradictionError if two numbers are said to be equal that differ by more than rules may round."""
    far = APART.get(real_dtype(a.dtype), 1e-3)
    if isfinite(a.value) and isfinite(b.value) and not isclose(a.value, b.value, rel_tol=far):
        raise ContradictionError(f"{a.value} and {b.value} are said to be equal")


def text_of(op: Op) -> bytes:
    """What tells a primitive from others, the same in every process; functions that it holds by their digests."""
    held = functions_of(op)
    if not held:
        return repr(op).encode()
    given = {f.name: getattr(op, f.name) for f in fields(cast("Any", op))}
    shown = [f"{name}={digest_of(held[name]).hex() if name in held else repr(x)}" for name, x in given.items()]
    return f"{type(op).__qualname__}({', '.join(shown)})".encode()


@answered
def digest_of(fn: Function) -> bytes:
    """What a function computes, the same for functions that are equal up to naming."""
    numbers = {p: n for n, p in enumerate(fn.params)}
    found = blake2b(repr([p.type for p in fn.params]).encode(), digest_size=12)
    for node in fn.nodes:
        if node.values[0] in numbers:
            continue
        found.update(text_of(node.op))
        found.update(repr((node.types, [numbers[a] for a in node.args])).encode())
        numbers.update([(v, len(numbers) + n) for n, v in enumerate(node.values)])
    found.update(repr([numbers[r] for r in fn.results]).encode())
    return found.digest()
