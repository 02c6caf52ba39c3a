"""LLVM code of loops and of the scalars in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import final

from pliant.backends.llvm.accumulator import BLOCK, Accumulator, blocked
from pliant.backends.llvm.again import emit_update, update_of
from pliant.backends.llvm.alone import has_instruction, whole
from pliant.backends.llvm.fixed_quotient import by_fixed, is_fixed
from pliant.backends.llvm.function import FunctionText
from pliant.backends.llvm.known_power import is_known, powered
from pliant.backends.llvm.math import apply
from pliant.backends.llvm.quotient import divided, divided_by, is_same, is_suited
from pliant.backends.llvm.searched import emit_search
from pliant.backends.llvm.values import Val, literal, llvm_type, number_of, parts_of
from pliant.backends.llvm.whole_quotient import by_floats, is_by_floats
from pliant.backends.llvm.width import MASKED
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import (
    Affine,
    All,
    Apply,
    Checked,
    Choose,
    Digit,
    Fold,
    FromIndex,
    Literal,
    Load,
    Loop,
    Region,
    Scalar,
    Stop,
    Store,
    Var,
    Within,
)

CHOOSING = frozenset("select maximum minimum fmax fmin abs sign heaviside".split())  # what may be an operand as it is
MANY = 8  # vectors of a loop whose vectors are wider than the processor's
UNROLLED = 7  # steps; unrolling longer loops takes LLVM long, and keeps them from being vectorised
MOST_LINES = 1000  # that a loop becomes by that
MOST_AROUND = 150  # that a loop around one that stays a loop becomes: there little is saved
MOST_OF_ALL = 10_000  # that loops of one program become before each becomes no more than that: LLVM takes a second then
SIGN = -(2**63)  # the bit that makes every index of an empty axis one beyond it


@final
class Emitter(FunctionText):
    """Writes the control flow and the scalars of one LLVM function."""

    staying: int = 0  # loops that were written, and are not unrolled
    exits: int = 0  # places that were written from where the function may return
    is_inner: bool = False  # in a loop whose steps do not wait for each other
    is_free: bool = False  # nests of which no step waits for another, but to add up
    fixed: frozenset[Scalar] = frozenset()  # what is computed before the innermost loop
    steps: int = 0  # of that loop

    def loop(self, var: Var, body: Callable[[], None], bounds: tuple[str, str] | None = None, wish: str = "") -> None:
        """Run a body for each value of a loop variable; at least once, unless it ends by a limit. wish: metadata."""
        if var in self.ends and not bounds:
            none = self.op(f"icmp sle i64 {self.ends[var]}, 0")
            self.unless(none, lambda: self.loop(var, body, ("0", self.ends[var])))
            return
        bounds = bounds or self.part.get(var)
        begin, end = bounds or ("0", str(var.extent))
        head, done = self.fresh("loop")[1:], self.fresh("done")[1:]
        name, before = self.fresh("i"), self.block
        self.line(f"br label %{head}")
        self.label(head)
        at = len(self.lines)
        self.lines.append("")
        outer, start = self.env.get(var), len(self.lines) + self.module.repeated
        self.env[var] = self.reversed(var, name) if var in self.backward else name
        around, self.is_inner = self.is_inner, self.is_free and var.extent > UNROLLED
        staying, exits = self.staying, self.exits
        body()
        self.is_inner = around
        lines = len(self.lines) + self.module.repeated - start
        is_spent = self.module.unrolled_lines > MOST_OF_ALL
        most = MOST_AROUND if self.staying > staying or is_spent else MOST_LINES
        is_unrolled = not wish and not bounds and var.extent <= UNROLLED and var.extent * lines <= most
        self.module.unrolled_lines += (var.extent - 1) * lines if is_unrolled else 0
        if is_unrolled and (self.module.around or self.exits > exits):
            self.written_out(var, body, before, at)
        else:
            following = self.op(f"add nuw nsw i64 {name}, 1")
            again = self.op(f"icmp ult i64 {following}, {end}")
            self.lines[at] = f"  {name} = phi i64 [ {begin}, %{before} ], [ {following}, %{self.block} ]"
            self.module.repeated += (var.extent - 1) * lines if is_unrolled else 0
            self.staying += not is_unrolled
            wish = self.module.unrolled() if is_unrolled else wish or self.wish_of(var, bounds)
            self.line(f"br i1 {again}, label %{head}, label %{done}{wish and f', !llvm.loop {wish}'}")
            self.label(done)
        if outer is None:
            del self.env[var]
        else:
            self.env[var] = outer

    def wish_of(self, var: Var, bounds: tuple[str, str] | None) -> str:
        """The metadata of a loop that nobody has a wish for."""
        if self.costly and not bounds and var.extent < MASKED:
            return self.module.masked()
        if self.lanes and var.extent >= MANY * self.lanes:
            return self.module.in_lanes(self.lanes)
        return self.module.at_once(self.vectors) if self.vectors else ""

    def written_out(self, var: Var, body: Callable[[], None], block: str, at: int) -> None:
        """The steps of a loop one after the other, instead of what was written of it from a line on: of one in a while
        loop, and of one that a step may leave. LLVM would unroll it as well, but may first make its end one with that
        of the while loop, or with what leaves it, and warn of that."""
        del self.lines[at - 2 :]
        self.block = block
        self.places.clear()
        for step in range(var.extent):
            self.env[var] = str(var.extent - 1 - step if var in self.backward else step)
            body()

    def reversed(self, var: Var, step: str) -> str:
        """The value of a loop variable that runs backward."""
        last = self.op(f"sub nsw i64 {self.ends[var]}, 1") if var in self.ends else str(var.extent - 1)
        return self.op(f"sub nsw i64 {last}, {step}")

    def blocks(self, var: Var, size: int, body: Callable[[str, str], None]) -> None:
        """Run a body for the first and the last plus one of each block of a loop's steps."""
        outer, begin, end = Var(-(-var.extent // size)), "0", self.ends.get(var, str(var.extent))
        if var in self.ends:
            self.ends[outer] = self.op(f"sdiv i64 {self.op(f'add nsw i64 {end}, {size - 1}')}, {size}")
        elif var in self.part:
            begin, end = self.part[var]
            count = self.op(f"add nuw nsw i64 {self.op(f'sub nuw nsw i64 {end}, {begin}')}, {size - 1}")
            self.part[outer] = "0", self.op(f"udiv i64 {count}, {size}")

        def block() -> None:
            first = self.op(f"add nuw nsw i64 {self.op(f'mul nuw nsw i64 {self.env[outer]}, {size}')}, {begin}")
            last = self.op(f"add nuw nsw i64 {first}, {size}")
            body(first, self.op(f"call i64 @llvm.umin.i64(i64 {last}, i64 {end})"))

        self.loop(outer, block, wish=self.module.not_unrolled())

    def unless(self, condition: str, body: Callable[[], None]) -> None:
        """Run a body if a condition does not hold."""
        run, skip = self.fresh("run")[1:], self.fresh("skip")[1:]
        self.line(f"br i1 {condition}, label %{skip}, label %{run}")
        self.label(run)
        body()
        self.line(f"br label %{skip}")
        self.label(skip)

    def repeat(self, body: Callable[[], str]) -> None:
        """Run a body, and again as long as the condition holds that it returns."""
        head, done = self.fresh("again")[1:], self.fresh("done")[1:]
        self.line(f"br label %{head}")
        self.label(head)
        self.line(f"br i1 {body()}, label %{head}, label %{done}, !llvm.loop {self.module.not_unrolled()}")
        self.label(done)

    def nested(self, loops: tuple[Var, ...], body: Callable[[], None]) -> None:
        """Loops inside each other."""
        if not loops:
            body()
        elif loops[0].extent == 1 and loops[0] not in self.ends:
            self.nested(loops[1:], body)
        else:
            self.loop(loops[0], lambda: self.nested(loops[1:], body))

    def limited(self, limits: Iterable[tuple[Var, Scalar | None]]) -> None:
        """Let loops end by their limits from now on."""
        for var, limit in limits:
            if limit is not None:
                self.ends[var] = self.op(f"call i64 @llvm.smin.i64(i64 {self.values[limit]}, i64 {var.extent})")

    # Scalars

    def value(self, scalar: Scalar) -> Val:
        """The value of a scalar emitted before."""
        return self.values[scalar]

    def region(self, region: Region) -> None:
        """All scalars and statements of a region."""
        for scalar in region.body:
            self.scalar(scalar)

    def scalar(self, s: Scalar) -> None:
        """Emit one scalar or statement."""
        match s:
            case Apply():
                self.values[s] = self.apply(s)
            case Load():
                self.values[s] = self.load(s.buffer, s.offset)
            case Literal():
                self.values[s] = literal(s.value, s.dtype)
            case FromIndex():
                self.values[s] = self.affine(s.index)
            case Digit():
                self.values[s] = self.digit(s)
            case Within():
                self.values[s] = self.within(s)
            case All():
                self.values[s] = self.all_of(s)
            case Checked():
                self.values[s] = self.checked(s)
            case Choose():
                self.values[s] = self.choose(s)
            case Fold():
                self.values[s] = self.fold(s)
            case Store():
                self.store(s.buffer, s.offset, self.values[s.scalar])
            case Stop():
                self.stop()
            case Loop():
                self.limited(zip(s.vars, s.limits, strict=True))
                if (update := update_of(s)) and self.part.keys().isdisjoint(update.steps):
                    emit_update(self, s, update)
                else:
                    self.nested(s.vars, lambda: self.region(s.body))
            case _:
                raise AssertionError(f"no code for {type(s).__name__}")

    def apply(self, s: Apply) -> Val:
        """An elementwise primitive."""
        args, last = tuple([self.values[a] for a in s.args]), s.args[-1]
        if s.op.name in CHOOSING:
            args = tuple(
                [self.apart(a.buffer, x) if isinstance(a, Load) else x for a, x in zip(s.args, args, strict=True)]
            )
        if self.is_inner and s.op.name == "div" and isinstance(last, Literal) and is_suited(last.value, s.dtype):
            return divided(self, s.dtype, str(args[0]), last.value)
        if self.is_inner and is_by_floats(s.op.name, s.dtype, str(args[-1])):
            return by_floats(self, s.op.name, s.dtype, str(args[0]), str(args[1]))
        if self.is_inner and last in self.fixed and is_fixed(s.op.name, s.dtype, str(args[-1]), self.steps):
            return by_fixed(self, s.op.name, str(args[0]), str(args[1]))
        if self.is_inner and last in self.fixed and is_same(s.op.name, s.dtype, str(args[-1]), self.steps):
            return divided_by(self, s.dtype, str(args[0]), str(args[1]))
        if s.op.name == "pow" and isinstance(last, Literal) and is_known(last.value, s.dtype):
            return powered(self, s.dtype, str(args[0]), last.value)
        if not self.env and s.op.name == "convert" and has_instruction(last.dtype, s.dtype):
            return whole(self, last.dtype, s.dtype, str(args[0]))
        return apply(self, s.op, s.dtype, tuple([a.dtype for a in s.args]), args)

    def digit(self, s: Digit) -> str:
        """(index // divisor) % modulus."""
        x = self.affine(s.index)
        x = self.place(f"udiv i64 {x}, {s.divisor}") if s.divisor > 1 else x
        return self.place(f"urem i64 {x}, {s.modulus}") if s.modulus else x

    def within(self, s: Within) -> str:
        """Whether an index lies in a range with a step."""
        away = self.affine(s.index - s.low)
        inside = self.op(f"icmp ult i64 {away}, {s.high - s.low}")
        if s.step == 1:
            return inside
        rest = self.op(f"urem i64 {away}, {s.step}")
        return self.op(f"and i1 {inside}, {self.op(f'icmp eq i64 {rest}, 0')}")

    def all_of(self, s: All) -> str:
        """Whether all conditions hold."""
        total = "true"
        for a in s.args:
            total = str(self.values[a]) if total == "true" else self.op(f"and i1 {total}, {self.values[a]}")
        return total

    def checked(self, s: Checked) -> str:
        """The index. Out of range, it is reported at once where there is no loop; in a loop it is 0 then, and the
        greatest (as unsigned) is looked at later."""
        x = self.affine(s.index)
        if not self.env and "%error" in self.parameters:
            self.return_if(self.op(f"icmp uge i64 {x}, {s.extent}"), s.site, x)
            return x
        self.note(s, x if s.extent else self.op(f"xor i64 {x}, {SIGN}"))  # where 0 is outside too, it is noted
        inside = self.op(f"icmp ult i64 {x}, {s.extent}")
        return self.op(f"select i1 {inside}, i64 {x}, i64 0")

    def note(self, check: Checked, x: str) -> None:
        """Keep the greatest index that is checked."""
        if check not in self.checks:
            self.checks[check] = slot = self.alloca("i64")
            self.head.append(f"  store i64 0, ptr {slot}")
        slot = self.checks[check]
        seen = self.op(f"load i64, ptr {slot}")
        self.line(f"store i64 {self.op(f'call i64 @llvm.umax.i64(i64 {seen}, i64 {x})')}, ptr {slot}")

    def fails(self, site: int, condition: str) -> None:
        """Note, as an index that is out of range, that there is no answer where a condition holds."""
        check = next((check for check in self.checks if check.site == site), None) or Checked(Affine(), 1, site)
        self.note(check, self.op(f"zext i1 {condition} to i64"))

    def end_step(self) -> None:
        """Report the first index of this step that was out of range, and return then."""
        for check, slot in self.checks.items():
            worst = self.op(f"load i64, ptr {slot}")
            bad = self.op(f"icmp uge i64 {worst}, {max(check.extent, 1)}")
            self.return_if(bad, check.site, worst if check.extent else self.op(f"xor i64 {worst}, {SIGN}"))

    def return_if(self, bad: str, site: int, index: str) -> None:
        """Report an index, and return, where it is out of range."""
        self.reports = True
        self.exits += 1
        good, report = self.fresh("ok")[1:], self.fresh("bad")[1:]
        self.line(f"br i1 {bad}, label %{report}, label %{good}")
        self.label(report)
        self.line(f"store i64 {site + 1}, ptr %error")
        self.line(f"store i64 {index}, ptr {self.op('getelementptr i64, ptr %error, i64 1')}")
        self.line("ret void")
        self.label(good)

    def stop(self) -> None:
        """Report what was out of range so far, before anything is written."""
        self.end_step()
        self.checks = {}

    def return_if_failed(self) -> None:
        """Return if an error has been reported."""
        self.reports = True
        self.exits += 1
        fine, failed = self.fresh("ok")[1:], self.fresh("bad")[1:]
        error = self.op("load i64, ptr %error")
        self.line(f"br i1 {self.op(f'icmp eq i64 {error}, 0')}, label %{fine}, label %{failed}")
        self.label(failed)
        self.line("ret void")
        self.label(fine)

    def choose(self, s: Choose) -> Val:
        """One of two scalars: a select if both are at hand, else a branch."""
        cond, t = self.values[s.cond], llvm_type(s.dtype)
        if all([isinstance(x, Literal | FromIndex) for side in s.sides for x in side.body]):
            for side in s.sides:
                self.region(side)
            return self.select(str(cond), s.dtype, self.values[s.yes], self.values[s.no])
        labels = [self.fresh(name)[1:] for name in ("yes", "no", "end")]
        self.line(f"br i1 {cond}, label %{labels[0]}, label %{labels[1]}")
        ends: list[tuple[tuple[str, ...], str]] = []
        for label, side, chosen in zip(labels[:2], s.sides, (s.yes, s.no), strict=True):
            self.label(label)
            self.region(side)
            ends.append((parts_of(self.values[chosen]), self.block))
            self.line(f"br label %{labels[2]}")
        self.label(labels[2])
        (yes, left), (no, right) = ends
        pairs = zip(yes, no, strict=True)
        return number_of([self.op(f"phi {t} [ {a}, %{left} ], [ {b}, %{right} ]") for a, b in pairs])

    def folded(self, s: Scalar, kind: str) -> Val:
        """What a fold takes of a scalar. If that is masked, the number in place of what is not wanted is one that LLVM
        does not know: else it would see that it changes nothing, leave these steps out by a branch, and write no
        vectors."""
        if kind not in ("max", "min") or s.dtype[0] not in "iuf" or not isinstance(s, Apply) or s.op.name != "select":
            return self.values[s]
        least, t = identity_of(kind, s.dtype), llvm_type(s.dtype)
        arms = [
            self.unseen(t, str(self.values[a])) if isinstance(a, Literal) and a.value == least else self.values[a]
            for a in s.args[1:]
        ]
        return self.op(f"select i1 {self.values[s.args[0]]}, {t} {arms[0]}, {t} {arms[1]}")

    def fold(self, s: Fold) -> Val:
        """A reduction inside a nest."""
        if s.kind in ("argmax", "argmin"):
            return emit_search(self, s)
        loops = tuple([v for v in s.vars if v.extent != 1])
        count = 1
        for v in loops:
            count *= v.extent
        total = Accumulator(self, s.kind, s.dtype, count > BLOCK, is_number=is_number(s.element))
        total.start()

        def body() -> None:
            self.region(s.body)
            total.add(self.folded(s.element, s.kind))

        if loops and count > BLOCK:
            self.nested(loops[:-1], lambda: blocked(self, loops[-1], body, total.flush))
        else:
            self.nested(loops, body)
        return total.value()


def is_number(s: Scalar | None) -> bool:
    """Whether a scalar is never NaN, as it is masked where it would be."""
    if not isinstance(s, Apply) or s.op.name != "select":
        return False
    condition, yes, no = s.args
    if not isinstance(condition, Apply):
        return False
    name, asked = condition.op.name, condition.args
    if name == "equal":
        yes, no = no, yes  # as if it asked whether they differ
    is_nan = name == "isnan" or (name in ("equal", "not_equal") and asked[0] is asked[1])
    return is_nan and no is asked[0] and isinstance(yes, Literal) and yes.value == yes.value
