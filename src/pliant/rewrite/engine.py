"""Apply rules until none fires: greedy, bottom-up, linear in the size of the program.

One sweep visits each node once, operands first, so a node is looked at when its operands are
final. What a rule builds is settled on the spot: its new operands first, then itself, again and
again. Only a rule that also replaces values elsewhere (see `Replacement`) asks for another sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias, cast, final

from pliant.core.inner import functions_of
from pliant.core.ir import Const, Function, Node, Number, Op, Param, Value, Values, const, rebuild, substitute
from pliant.core.origin import DerivedOrigin, derived, swap
from pliant.core.scope import scope
from pliant.errors import RewriteError
from pliant.rewrite.explain import Log
from pliant.rewrite.rule import Replacement, Rule

Fold: TypeAlias = "Callable[[Op, tuple[Const, ...]], Number | None]"
"""Evaluates a primitive on literals; None if it cannot."""

_SWEEPS = 20
_FIRINGS = 2000  # that one value may cause, but for functions that it holds; more is a rule set that runs in circles


def simplify(fn: Function, rules: Sequence[Rule], *, fold: Fold | None = None, log: Log | None = None) -> Function:
    """`fn` with `rules` applied until none fires, in the functions its primitives hold too.

    `fold` evaluates primitives whose operands are literals. `log` records what fired. Returns
    `fn` itself if nothing did.
    """
    return _Engine(tuple(rules), fold, Log() if log is None else log).run(fn)


@final
class _Index:
    """The rules that could match, by the primitive and those that made its operands."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = [(rule.root, rule) for rule in rules]
        self.known: dict[Any, tuple[Rule, ...]] = {}

    def find(self, node: Node) -> tuple[Rule, ...]:
        """Rules to try on a node, in the order given."""
        args = node.args
        # operators of many operands share one entry, lest there be an entry per combination
        key = (type(node.op), *[type(a.node.op) for a in args]) if len(args) < 4 else type(node.op)
        found = self.known.get(key)
        if found is None:
            of = type(node.op)
            made_by = tuple([type(a.node.op) for a in args])
            rooted = [rule for root, rule in self.rules if issubclass(of, root)]
            found = tuple([r for r in rooted if len(args) >= 4 or r.fits(made_by)])
            self.known[key] = found
        return found


@lru_cache(maxsize=32)
def _index(rules: tuple[Rule, ...]) -> _Index:
    return _Index(rules)


@final
class _Engine:
    """One run over a function and the functions inside it."""

    def __init__(self, rules: tuple[Rule, ...], fold: Fold | None, log: Log) -> None:
        self.index, self.fold, self.log = _index(rules), fold, log
        self.fired = 0
        self.inside = 0  # of these, in functions that primitives hold
        self.final: dict[Value, Value] = {}  # values of the sweep's trace that were looked at
        self.elsewhere: dict[Value, Value] = {}  # replaced after they may have been read
        self.inner: dict[int, tuple[Function, Function]] = {}
        self.asked: set[tuple[int, Node]] = set()  # rules that leave a node alone, whichever of its results they see

    def run(self, fn: Function) -> Function:
        """Sweeps, until one asks for no other; none if these rules have left the function as it was before."""
        rules = self.index, self.fold
        for _ in range(_SWEEPS if rules not in fn.answers else 0):
            fired = self.fired
            new = self.sweep(fn)
            if self.fired == fired:
                fn.answers[rules] = True
                return fn
            fn = new
            if not self.elsewhere:
                return fn
        if rules in fn.answers:
            return fn
        raise self.endless()

    def endless(self) -> RewriteError:
        """The error for rules that never come to rest."""
        names = ", ".join(f"{name} ×{times}" for name, times in self.log.fired.most_common(3))
        return RewriteError(
            f"the rules reach no fixed point; most active: {names}",
            hint="two rules may undo each other, or one may match what it makes",
        )

    def sweep(self, fn: Function) -> Function:
        """Every node once, operands first."""
        env: dict[Value, Value] = {p: p for p in fn.params}
        self.final, self.elsewhere = dict(env), {}
        settled = self.final
        with scope():
            for node in fn.nodes:
                if type(node.op) is Param:
                    for v in node.values:
                        env[v] = settled[v] = v
                    continue
                outs = self.remake(node, tuple([self.latest(env[a]) for a in node.args]))
                for v, new in zip(node.values, outs, strict=True):
                    env[v] = settled.get(new) or self.settle(new)
            results = tuple([env[r] for r in fn.results])
            if self.elsewhere:
                new = dict(_resolved(self.elsewhere))
                results = _throughout(results, new) or substitute(results, new)
        return Function(fn.name, fn.params, results)

    def latest(self, value: Value) -> Value:
        """What a value has become by now, also if a rule has replaced it elsewhere: the next one that replaces it then
        finds what the last one made."""
        seen = {value}
        while (to := self.elsewhere.get(value)) is not None and to not in seen:
            seen.add(to)
            value = self.final.get(to) or self.settle(to)
        return value

    def remake(self, node: Node, args: Values) -> Values:
        """The node in this trace, the functions it holds simplified."""
        op = node.op
        held = functions_of(op)
        if not held:
            return rebuild(node, args)
        new = {k: self.simplified(f) for k, f in held.items()}
        if all(new[k] is f for k, f in held.items()):
            return rebuild(node, args)
        before = swap(node.origin)
        try:
            return cast("Op", replace(cast("Any", op), **new)).apply(*args)
        finally:
            swap(before)

    def simplified(self, fn: Function) -> Function:
        """A held function, by the same rules; each only once."""
        known = self.inner.get(id(fn))
        if known is None:
            engine = _Engine(self.index_rules, self.fold, self.log)
            engine.inner = self.inner
            known = self.inner[id(fn)] = fn, engine.run(fn)  # fn is kept, and so its id
            self.inner[id(known[1])] = known[1], known[1]
            self.fired += engine.fired
            self.inside += engine.fired
        return known[1]

    @property
    def index_rules(self) -> tuple[Rule, ...]:
        """The rules of this run."""
        return tuple([rule for _, rule in self.index.rules])

    def settle(self, value: Value) -> Value:
        """The final form of a value of this trace whose operands are final."""
        first = self.improve(value)
        if first is value:
            self.final[value] = value
            return value
        settled, limit = self.final, self.fired - self.inside + _FIRINGS
        stack: list[tuple[Value, list[Value]]] = [(first, [value])]  # a value, and those it stands for
        while stack:
            v, aliases = stack[-1]
            done = settled.get(v)
            if done is None:
                waiting = [(a, list[Value]()) for a in v.node.args if a not in settled]
                if waiting:
                    stack.extend(waiting)
                    continue
                done = self.improve(self.renewed(v))
                if done is not v:
                    if self.fired - self.inside > limit:
                        raise self.endless()
                    stack[-1] = done, [*aliases, v]
                    continue
            for alias in aliases:
                settled[alias] = done
            settled[v] = done
            stack.pop()
        return settled[value]

    def renewed(self, value: Value) -> Value:
        """The value on the final forms of its operands, the functions it holds simplified."""
        args = tuple([self.final[a] for a in value.node.args])
        if args == value.node.args and not functions_of(value.node.op):
            return value
        made = self.remake(value.node, args)
        self.elsewhere.update([(v, y) for v, y in zip(value.node.values, made, strict=True) if y is not v is not value])
        return made[value.index]

    def improve(self, value: Value) -> Value:
        """What one rule makes of a value whose operands are final; the value itself if none fires."""
        node = value.node
        if self.fold is not None and node.args and self.is_foldable(node):
            number = self.fold(node.op, tuple([cast("Const", a.node.op) for a in node.args]))
            if number is not None:
                self.fired += 1
                self.log.record("fold", node.origin)
                return const(number, value.dtype)
        for rule in self.index.find(node):
            new = self.apply(rule, value)
            if new is not value:
                return new
        return value

    def is_foldable(self, node: Node) -> bool:
        """Whether all operands are literals and the result is one scalar."""
        if len(node.types) != 1 or node.types[0].shape:
            return False
        return type(node.args[0].node.op) is Const and all([type(a.node.op) is Const for a in node.args])

    def apply(self, rule: Rule, value: Value) -> Value:
        """The rule's replacement, checked and logged, built under an origin derived from the value's."""
        asked = id(rule), value.node
        if asked in self.asked:
            return value
        origin = derived(value.node.origin)
        before = swap(origin)
        try:
            new = rule.apply(value)
        finally:
            swap(before)
        if new is None and rule.is_of_node:
            self.asked.add(asked)
        return value if new is None else self.accept(rule, value, new, origin)

    def accept(self, rule: Rule, value: Value, new: Replacement, origin: DerivedOrigin) -> Value:
        """The value's replacement; those of others are kept for the end of the sweep."""
        pairs = new if isinstance(new, dict) else {value: cast("Value", new)}
        changed = False
        for old, to in pairs.items():
            if to.type != old.type:
                raise RewriteError(f"rule {rule.name} changed {old.type} to {to.type}").at(
                    ("applied to", old.origin), ("the rule", rule.origin)
                )
            if to is old:
                continue
            changed = True
            if to.node.origin is origin:
                to.node.origin = old.node.origin  # it stands for the user's expression now
            if old is not value:
                self.elsewhere[old] = to
        if changed:
            self.fired += 1
            self.log.record(rule.name, value.node.origin)
        return pairs.get(value, value)


def _throughout(results: Values, new: Mapping[Value, Value]) -> Values | None:
    """`results` with values replaced, in what replaces others too; None if replacements are made from each other."""
    made, entered = dict[Node, Values](), set[Node]()
    todo = [new.get(r, r).node for r in results]
    while todo:
        node = todo[-1]
        below = [new.get(a, a) for a in node.args]
        waiting = [a.node for a in below if a.node not in made]
        if node in made or type(node.op) is Param:
            made[node] = made.get(node, node.values)
            todo.pop()
        elif not waiting:
            made[node] = rebuild(node, tuple([_value(made, a) for a in below]))
            todo.pop()
        elif any([n in entered for n in waiting]):
            return None
        else:
            entered.add(node)
            todo.extend(waiting)
    return tuple([_value(made, new.get(r, r)) for r in results])


def _value(made: Mapping[Node, Values], value: Value) -> Value:
    return made[value.node][value.index]


def _resolved(new: dict[Value, Value]) -> Iterator[tuple[Value, Value]]:
    """Each value and what it becomes in the end."""
    for old, to in new.items():
        seen = {old}
        while to in new and to not in seen:
            seen.add(to)
            to = new[to]
        yield old, to
