"""Numbers that are computed from data, which a trace has to know: the program is made for what they are in the call at
hand, and each call is asked whether they still are.

n = int(T / dt); np.zeros(n)          a program for n = 100, for all T and dt of which that is true
np.zeros(labels.max() + 1)            one for each number of labels

Integers and truth values alone: their derivatives are zero. Only what arguments and arrays from outside say by
themselves can be decided, not what a step of a loop computes, or one of many calls of a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, ClassVar, Final, cast, final

import numpy as np

from pliant.core.build import abstract
from pliant.core.inner import answered, functions_of
from pliant.core.ir import Const, Function, Node, Param, Value, nodes, substitute
from pliant.core.origin import CodeOrigin, here
from pliant.core.scope import scope
from pliant.core.types import DTYPES
from pliant.errors import TracedValueError
from pliant.frontend.alike import together
from pliant.frontend.memory import memory_of
from pliant.frontend.needs import values_of
from pliant.frontend.tracing import Needs, Trace, current, thread
from pliant.ops.loop import Loop
from pliant.ops.shape import Reshape, Slice
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.evaluate import run, stepper

MOST: Final = 64  # traces that are done again
NUMBERS: Final = 1 << 12  # of one program, or as many as its arrays have elements
FEW: Final = 256  # numbers that native code makes at once: of more, it would take LLVM long
OFTEN: Final = 64  # times that more are asked for, before native code makes them: by then they have taken as long
WORTH: Final = 400  # operations run one by one that take as long as one takes to be compiled
BYTES: Final = 1 << 30  # of what leads to them
KINDS: Final = "biu"  # of dtypes that can be decided


@final
class Decided:
    """The numbers that a program is made for, as a function of its parameters, and what they are."""

    compiled: ClassVar[Callable[[Function], Callable[[Sequence[Any]], Sequence[Any]]]]
    """Makes code; installed by `pliant.compiled`."""

    def __init__(self, fn: Function, contents: Sequence[Any]) -> None:
        self.fn, self.contents = fn, tuple([np.array(x, order="C") for x in contents])
        self.count = 0  # how often it was asked

    @property
    def run(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """What makes the numbers of the program's arguments: native code, if it is short or often asked."""
        return self._code if self.is_native else self._steps

    @property
    def is_native(self) -> bool:
        """Whether native code makes them."""
        return self._is_short or self.count > OFTEN

    @cached_property
    def _is_short(self) -> bool:
        return len(self.contents) <= FEW or any([_has_loops(n) for n in self.fn.nodes])

    @cached_property
    def _code(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        return Decided.compiled(self.fn)

    @cached_property
    def _steps(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        step = stepper(self.fn, np)
        return np.errstate(all="ignore")(lambda arrays: step(tuple(arrays)))

    def __str__(self) -> str:
        return "\n  ".join([_told(v, x) for v, x in zip(self.fn.results, self.contents, strict=True)])

    def holds(self, arrays: Sequence[Any]) -> bool:
        """Whether they are the same for other arguments."""
        self.count += 1
        try:
            found = self.run(arrays)
        except (IndexError, ValueError, ArithmeticError):  # what leads to a number in this program may fail in others
            return False
        return all([np.array_equal(x, y) for x, y in zip(found, self.contents, strict=True)])


@contextmanager
def asking(deciding: Deciding | None) -> Generator[None]:
    """Arrays ask inside what data decide; None: nothing, as what is traced is kept for other data."""
    before = thread.deciding
    thread.deciding = deciding
    try:
        yield
    finally:
        thread.deciding = before


@final
class Deciding:
    """What a trace finds of such numbers. given: finds what its parameters hold; those of arrays from outside are added
    as they are met.

    Numbers have names, which are the same in the next trace of the function: hashes of how they are computed. With one
    of them all are wanted that the same expression of the user's makes, as in the next steps of a loop.
    """

    def __init__(self, trace: Trace, given: Callable[[], dict[Value, Any]]) -> None:
        self.trace, self.given, self.needs = trace, given, trace.needs
        self.used: dict[Value, Any] = {}  # those that the trace was made for, in order
        self.known: dict[Value, Any] = {}  # what was asked for, and what it is
        self.contents: dict[Value, Any] = {}
        self.bytes = 0  # of these
        self.names: dict[Value, int | None] = {}  # None: nothing that data decide
        self.free: dict[Value, bool] = {}  # whether it depends on what is not known
        self.follows: dict[Value, bool] = {}  # whether on a wanted number

    @cached_property
    def arrays(self) -> dict[Value, Any]:
        """What parameters hold."""
        return self.given()

    def wanted_of(self, error: BaseException) -> dict[int, Any]:
        """The names and places of the numbers without which the trace failed, if data decide them."""
        found = next((sources for value in values_of(error) if (sources := self.sources(value))), list[Value]())
        return {cast("int", self.names[v]): _place_of(v) for v in found}

    def sources(self, value: Value) -> list[Value]:
        """The numbers with which the next trace knows a value, if this one asks for it: an integer itself, or those
        that a truth value is computed from; none if data do not decide it."""
        if value.type.kind not in KINDS or len(self.needs.wanted) >= MOST:
            return []
        root = self._at_root(value)
        self._look_at(root)
        if self.names[root] is None or not self._is_small(root):
            return []
        found = _sources(root) if value.type.kind == "b" else [root]
        found = [v for v in found if v not in self.used]
        if not found:
            return []
        try:
            self._content(root)
        except (IndexError, ValueError, ArithmeticError):
            if value.node.scope == self.trace.scope.number:
                raise
            return []  # a condition may say that it is not computed
        return found

    def held(self, value: Value) -> Any:
        """What a value holds for the arguments at hand, whatever the next ones are; None if that cannot be told."""
        root = self._at_root(value)
        self._look_at(root)
        if self.names[root] is None or not self._is_small(root):
            return None
        try:
            return self._content(root)
        except (IndexError, ValueError, ArithmeticError):
            return None

    def of(self, value: Value) -> Any:
        """A value as an array, if it is one of those that are wanted, or a number that follows from them; else None."""
        if value not in self.known:
            self.known[value] = self._found(value) if value.type.kind in KINDS else None
        return self.known[value]

    def _found(self, value: Value) -> Any:
        root = self._at_root(value)
        self._look_at(root)
        if root in self.used:
            return self.used[root]
        follows = self.follows[root] and not self.free[root]
        return self._content(root) if follows and not root.shape else None

    def _at_root(self, value: Value) -> Value:
        """The value as one of the outermost trace, if it belongs to a function that is traced inside for arguments that
        it has there."""
        same = self.needs.same
        inner = [p for p in _inner_parameters(value, self.trace.scope.number) if p in same]
        if not inner:
            return value
        given = {p: self._at_root(same[p]) for p in inner}
        with scope(self.trace.scope):
            return substitute((value,), given)[0]

    def _look_at(self, root: Value) -> None:
        """Find names, and what follows from wanted numbers, for a value and all that it is computed from."""
        for node in _new(root, self.names):
            if isinstance(node.op, Param):
                name = self._name_of_parameter(node.values[0])
                free, follows = node.values[0] not in self.needs.made, False
            else:
                of = [self.names[a] for a in node.args]
                name = None if None in of else hash((type(node.op), node.op, *of))
                free = any([self.free[a] for a in node.args])
                follows = any([self.follows[a] for a in node.args])
            for n, value in enumerate(node.values):
                own = None if name is None else hash((name, n))
                is_wanted = own is not None and (own in self.needs.wanted or _place_of(value) in self.needs.places)
                is_wanted = is_wanted and self._is_small(value)
                if is_wanted:
                    self.used[value] = np.array(self._content(value))
                self.names[value] = own
                self.free[value], self.follows[value] = free and not is_wanted, follows or is_wanted

    def _is_small(self, value: Value) -> bool:
        """Whether one number more can be found out: a loop of Python's may have no end."""
        more = sum([v.type.bytes for n in _new(value, self.contents) for v in n.values])
        return self._has_room() and self.bytes + more < BYTES

    def _has_room(self) -> bool:
        """Whether the numbers are less than so many, or than the elements of all arrays."""
        count = len(self.used)
        return count < NUMBERS or count < sum([np.size(x) for x in self.arrays.values()])

    def _name_of_parameter(self, value: Value) -> int | None:
        if self._array(value) is None:
            return None
        return hash((self.needs.leaves.get(value), cast("Param", value.op).hint, value.type))

    def _array(self, value: Value) -> Any:
        """What a parameter holds; None if it is none of the program."""
        if value not in self.arrays:
            for storage in self.trace.captured.values():
                if storage.entered is not None and storage.entered not in self.arrays:
                    memory = memory_of(storage.source) if self.trace.lies else None
                    self.arrays[storage.entered] = memory.of(storage.source) if memory else storage.source
        return self.arrays.get(value)

    def _content(self, root: Value) -> Any:
        """What it is for the arguments at hand. Raises what computing it raises, with the user's line."""
        order = _new(root, self.contents)
        try:
            count, most = _work(order)
            if most > WORTH * count and any([_has_loops(n) for n in order]):
                self._run_natively(order)
            else:
                with np.errstate(all="ignore"):
                    for node in order:
                        self._run(node)
        except (IndexError, ValueError, ArithmeticError):
            return self._by_native_code(root)  # which raises it, and says where
        return self.contents[root]

    def _run_natively(self, order: Sequence[Node]) -> None:
        """Find out what nodes compute by native code for them alone."""
        inside = [n for n in order if not isinstance(n.op, Param)]
        for node in order:
            if isinstance(node.op, Param):
                self._run(node)
        made = [v for n in inside for v in n.values]
        given = tuple(dict.fromkeys([a for n in inside for a in n.args if a in self.contents]))
        code = Decided.compiled(abstract(tuple(made), given, "decided"))
        arrays = [np.asarray(self.contents[v], DTYPES[v.type.dtype]) for v in given]
        self.contents.update(zip(made, map(np.asarray, code(arrays)), strict=True))
        self.bytes += sum([v.type.bytes for v in made])

    def _run(self, node: Node) -> None:
        if isinstance(node.op, Param):
            made: tuple[Any, ...] = (self._array(node.values[0]),)
        else:
            made = run(node.op, np, [self.contents[a] for a in node.args])
        self.contents.update(zip(node.values, map(np.asarray, made), strict=True))
        self.bytes += sum([v.type.bytes for v in node.values])

    def _by_native_code(self, root: Value) -> Any:
        params = [n.values[0] for n in nodes((root,)) if isinstance(n.op, Param)]
        code = Decided.compiled(Function("decided", tuple(params), (root,)))
        self.contents[root] = np.asarray(*code([self._array(p) for p in params]))
        self.bytes += root.type.bytes
        return self.contents[root]

    def made(self, fn: Function) -> Decided | None:
        """What the program's calls are asked; None if nothing was decided."""
        if not self.used:
            return None
        numbers = [*self.used] if len(self.used) <= FEW else _with_whole_arrays(self.used)
        with scope(self.trace.scope):
            found = together(numbers)
        contents = [self._contents(value, parts) for value, parts in found]
        return Decided(Function("decided", fn.params, tuple([value for value, _ in found])), contents)

    def _contents(self, value: Value, parts: Sequence[Value]) -> Any:
        """What an array holds that some of the numbers are elements of, or a parameter."""
        if value in self.used:
            return self.used[value]
        if value in parts:
            return self._array(value)
        return np.array([self.used[part] for part in parts])


def decided_by(error: BaseException, needs: Needs) -> dict[int, Any]:
    """The names and places of numbers without which a trace failed, if data may decide them and do."""
    deciding: Deciding | None = needs.deciding if needs.decides else None
    return deciding.wanted_of(error) if deciding is not None else {}


def truth_of(value: Value, what: str) -> bool | None:
    """A truth value that a program is made for; None if data cannot decide it. what: it says, for an error by which the
    function is traced again."""
    needs = current().outermost.needs
    found = thread.deciding.of(value) if thread.deciding is not None else None
    if found is not None:
        return bool(found)
    if needs.decides and needs.deciding.sources(value):
        raise TracedValueError(f"{what} must be known while tracing").at(("here", here())).needing(value)
    return None


def _told(value: Value, content: Any) -> str:
    shown = str(content) if not content.shape else f"{content.dtype} array of {content.size} elements"
    what = "numbers" if content.shape else "a number"
    return f"{'/'.join(value.origin.names) or what} = {shown}, of {value.origin.short}"


def _sources(root: Value) -> list[Value]:
    """What a number is computed from by numbers, or chosen by them: results of comparisons, of reductions, elements."""
    seen, stack, found = set[Value](), [root], list[Value]()
    while stack:
        value = stack.pop()
        if value not in seen:
            seen.add(value)
            numbers = [a for a in value.args if not a.shape and a.type.kind in KINDS]
            is_made_of_them = bool(numbers) and (len(numbers) == len(value.args) or bool(functions_of(value.op)))
            stack += numbers if is_made_of_them else ()
            found += () if is_made_of_them or isinstance(value.op, Const) else (value,)
    return found


def _with_whole_arrays(numbers: Collection[Value]) -> list[Value]:
    """Numbers, but arrays in place of all their elements."""
    places: dict[Value, set[tuple[int, ...]]] = {}
    arrays = {v: _array_of(v) for v in numbers}
    for v, array in arrays.items():
        if array is not None:
            places.setdefault(array, set()).add(cast("Slice", v.args[0].op).start)
    whole = {array for array, found in places.items() if len(found) == array.type.size}
    return list(dict.fromkeys([array if (array := arrays[v]) in whole else v for v in numbers]))


def _array_of(value: Value) -> Value | None:
    """The parameter that a number is one element of, if it is that."""
    if value.shape or not isinstance(value.op, Reshape):
        return None
    part = value.args[0]
    return part.args[0] if isinstance(part.op, Slice) and isinstance(part.args[0].op, Param) else None


def _place_of(value: Value) -> Any:
    """The expression of the user's that makes a number; None of what is no number."""
    origin = value.origin
    if not isinstance(origin, CodeOrigin) or value.shape or value.type.kind not in KINDS:
        return None
    return origin.code.co_filename, *origin.span, type(value.op)


def _inner_parameters(value: Value, number: int) -> list[Value]:
    """The parameters that a value is computed from of functions inside of the trace of this number."""
    seen, stack, found = set[Node](), [value.node], list[Value]()
    while stack:
        node = stack.pop()
        if node.scope != number and node not in seen:
            seen.add(node)
            found += node.values if isinstance(node.op, Param) else ()
            stack += [a.node for a in node.args]
    return found


def _has_loops(node: Node) -> bool:
    """Whether a node has a loop, in itself or in its branches."""
    inner = functions_of(node.op).values()
    is_loop = isinstance(node.op, Loop | WhileLoop)
    return is_loop or any([_has_loops(n) for fn in inner for n in fn.nodes])


def _work(of: Sequence[Node]) -> tuple[int, float]:
    """How many operations nodes are, with those in them, and how many of them are run at most."""
    count, most = len(of), float(len(of))
    for node in of:
        inner = [_work_of(fn) for fn in functions_of(node.op).values()]
        if inner:
            count += sum([n for n, _ in inner])
            most += _steps(node) * sum([n for _, n in inner])
    return count, most


@answered
def _work_of(fn: Function) -> tuple[int, float]:
    return _work(fn.nodes)


def _steps(node: Node) -> float:
    """How often a node runs what it holds, at most."""
    match node.op:
        case Loop():
            return node.op.length
        case WhileLoop():
            return math.inf
        case _:
            return 1


def _new(root: Value, done: Collection[Value]) -> list[Node]:
    """The nodes that a value needs and that are not done, operands first."""
    order: dict[Node, None] = {}
    stack = [root.node]
    while stack:
        node = stack[-1]
        missing = [a.node for a in node.args if a not in done and a.node not in order]
        if missing:
            stack += missing
            continue
        stack.pop()
        if node.values[0] not in done:
            order[node] = None
    return [*order]
