"""The eigenvalues of real tridiagonal matrices by QL or QR iterations with implicit shifts, whichever begin at the
smaller end. Steps and signs are those of LAPACK's steqr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.elimination import Slot
from pliant.backends.llvm.panels import Panel
from pliant.backends.llvm.reals import Array, Condition, Real, Variable, real
from pliant.backends.llvm.reflections import RANGE, Row

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

EPSILON: Final = {"f32": 2.0**-24, "f64": 2.0**-53}
LEAST: Final = {"f32": 2.0**-126, "f64": 2.0**-1022}
PATIENCE: Final = 30  # iterations for each row


@final
class Iterations:
    """The eigenvalues of a tridiagonal matrix in the place of its diagonal; as of LAPACK's steqr.

    A block that falls apart from the others is worked on from one end, `here`, towards the other one, `last`. `way` is
    1 or -1; the number beside those at i and i + way is at i + low.
    """

    def __init__(self, e: Emitter, diagonal: Array, beside: Array, n: int, vectors: Panel | None) -> None:
        self.e, self.d, self.beside, self.n, self.vectors = e, diagonal, beside, n, vectors
        self.dtype = diagonal.dtype
        self.first, self.here, self.last, self.way, self.low, self.count = (Slot.new(e, "i64", "0") for _ in range(6))

    def run(self) -> str:
        """All blocks; whether one does not converge."""
        e = self.e

        def blocks() -> str:
            self.block()
            return self.both(self.less(self.first.get(), str(self.n)), self.is_patient()).text

        e.repeat(blocks)
        return (~self.is_patient()).text

    def is_patient(self) -> Condition:
        """Whether there may be more iterations."""
        return self.less(self.count.get(), str(PATIENCE * self.n))

    def less(self, x: str, y: str) -> Condition:
        """x < y."""
        return Condition(self.e, self.e.op(f"icmp slt i64 {x}, {y}"))

    def both(self, x: Condition, y: Condition) -> Condition:
        """Whether two conditions hold."""
        return x & y

    def moved(self, x: str, by: str) -> str:
        """x + by."""
        return self.e.op(f"add nsw i64 {x}, {by}")

    def of(self, index: str) -> str:
        """The place of the number beside those at an index and the next one."""
        return self.moved(index, self.low.get())

    def block(self) -> None:
        """Find the next block, and its eigenvalues."""
        e, d, beside = self.e, self.d, self.beside
        start = self.first.get()
        beside.put(self.moved(start, "-1"), real(e, self.dtype, 0.0))
        self.last.put(start)

        def further() -> str:
            i = self.last.get()
            x, y, z = d.get(i), beside.get(i), d.get(self.moved(i, "1"))
            is_small = abs(y).is_("ole", abs(x).sqrt() * abs(z).sqrt() * EPSILON[self.dtype])
            beside.put(i, is_small.where(y.like(0.0), y))
            self.last.put(e.op(f"select i1 {is_small.text}, i64 {i}, i64 {self.moved(i, '1')}"))
            return (self.less(self.last.get(), str(self.n - 1)) & ~is_small).text

        e.unless(e.op(f"icmp eq i64 {start}, {self.n - 1}"), lambda: e.repeat(further))
        end = self.last.get()
        self.first.put(self.moved(end, "1"))
        turned = abs(d.get(end)).is_("olt", abs(d.get(start))).text
        self.here.put(e.op(f"select i1 {turned}, i64 {end}, i64 {start}"))
        self.last.put(e.op(f"select i1 {turned}, i64 {start}, i64 {end}"))
        self.way.put(e.op(f"select i1 {turned}, i64 -1, i64 1"))
        self.low.put(e.op(f"select i1 {turned}, i64 -1, i64 0"))
        e.unless(e.op(f"icmp eq i64 {start}, {end}"), lambda: e.repeat(self.find))

    def find(self) -> str:
        """Find an eigenvalue, or two, or iterate; whether there is more to do."""
        e, here = self.e, self.here.get()
        end = self.split(here)
        steps = e.op(f"mul nsw i64 {self.moved(end, e.op(f'sub nsw i64 0, {here}'))}, {self.way.get()}")
        e.unless(e.op(f"icmp ne i64 {steps}, 1"), self.pair)
        e.unless(e.op(f"icmp sle i64 {steps}, 1"), lambda: self.iterate(here, end))
        done = e.op(f"add nuw nsw i64 {steps}, 1")
        found = e.op(f"select i1 {e.op(f'icmp sle i64 {steps}, 1')}, i64 {done}, i64 0")
        self.here.put(self.moved(here, e.op(f"mul nsw i64 {found}, {self.way.get()}")))
        left = e.op(f"mul nsw i64 {e.op(f'sub nsw i64 {self.last.get()}, {self.here.get()}')}, {self.way.get()}")
        return (~self.less(left, "0") & self.is_patient()).text

    def split(self, here: str) -> str:
        """Where the part ends that begins here, and hangs together."""
        e, end, at = self.e, self.last.get(), Slot.new(self.e, "i64", here)
        epsilon = EPSILON[self.dtype]

        def further() -> str:
            i = at.get()
            y = self.beside.get(self.of(i))
            limit = abs(self.d.get(i)) * (epsilon * epsilon) * abs(self.d.get(self.moved(i, self.way.get())))
            is_small = (y * y).is_("ole", limit + y.like(LEAST[self.dtype]))
            self.beside.put(self.of(i), is_small.where(y.like(0.0), y))
            at.put(e.op(f"select i1 {is_small.text}, i64 {i}, i64 {self.moved(i, self.way.get())}"))
            is_end = Condition(e, e.op(f"icmp eq i64 {at.get()}, {end}"))
            return (~(is_small | is_end)).text

        e.unless(e.op(f"icmp eq i64 {here}, {end}"), lambda: e.repeat(further))
        return at.get()

    def pair(self) -> None:
        """The eigenvalues of two rows: the larger one comes first; as of LAPACK's laev2."""
        e, here = self.e, self.here.get()
        i = self.of(here)
        j = self.moved(i, "1")
        a, b, c = self.d.get(i), self.beside.get(i), self.d.get(j)
        total, apart, twice = a + c, a - c, abs(b + b)
        root = length(abs(apart), twice)
        is_a = abs(a).is_("ogt", abs(c))
        large, small = is_a.where(a, c), is_a.where(c, a)
        is_negative = total.is_("olt", 0.0)
        first = is_negative.where(total - root, total + root) * 0.5
        second = (large / first) * small - (b / first) * b
        second = total.is_("oeq", 0.0).where(root * -0.5, second)
        is_down = apart.is_("olt", 0.0)
        x = is_down.where(apart - root, apart + root)
        is_steep = abs(x).is_("ogt", twice)
        tangent = is_steep.where(-(b + b) / x, -x / (b + b))
        one = a.like(1.0)
        short = one / one.plus(tangent, tangent).sqrt()
        sine, cosine = is_steep.where(short, tangent * short), is_steep.where(tangent * short, short)
        is_same = Condition(e, e.op(f"icmp eq i1 {is_negative.text}, {is_down.text}"))
        cosine, sine = is_same.where(-sine, cosine), is_same.where(cosine, sine)
        if self.vectors:
            self.rotate(j, i, cosine, -sine)
        self.d.put(i, first)
        self.d.put(j, second)
        self.beside.put(i, one.like(0.0))

    def rotate(self, i: str, j: str, c: Real, s: Real) -> None:
        """Rows i and j become c·i + s·j and c·j - s·i."""
        panel, made = self.vectors, (Row(), Row())
        assert panel
        x, y = panel.row(i), panel.row(j)
        for piece, p, q in zip(panel.pieces, x, y, strict=True):
            cs, ss, less = (piece.all((v.text,)) for v in (c, s, -s))
            for row, one, other, factor in ((made[0], p, q, ss), (made[1], q, p, less)):
                parts = zip(one, other, strict=True)
                row.append(
                    tuple([piece.plus_product((piece.op("fmul", u, cs[0]),), factor, (v,))[0] for u, v in parts])
                )
        panel.put_row(i, made[0])
        panel.put_row(j, made[1])

    def iterate(self, here: str, end: str) -> None:
        """One iteration, from the other end to here."""
        e, d, beside, way = self.e, self.d, self.beside, self.way.get()
        self.count.put(self.moved(self.count.get(), "1"))
        p, b = d.get(here), beside.get(self.of(here))
        g = (d.get(self.moved(here, way)) - p) / (b + b)
        root = length(g, g.like(1.0))
        g = d.get(end) - p + b / (g + root.signed(g))
        one, zero = g.like(1.0), g.like(0.0)
        slots = {name: Variable(e, self.dtype, x) for name, x in (("g", g), ("s", one), ("c", one), ("p", zero))}
        back, at = e.op(f"sub nsw i64 0, {way}"), Slot.new(e, "i64", self.moved(end, e.op(f"sub nsw i64 0, {way}")))

        def turn() -> str:
            i, s, c, g, p = at.get(), *[slots[name].get() for name in ("s", "c", "g", "p")]
            after, number = self.moved(i, way), beside.get(self.of(i))
            f, b = s * number, c * number
            c, s, r = _rotation(g, f)
            is_first = Condition(e, e.op(f"icmp eq i64 {after}, {end}"))
            beside.put(self.of(after), is_first.where(r.like(0.0), r))
            g = d.get(after) - p
            r = ((d.get(i) - g) * s).plus(c * 2.0, b)
            p = s * r
            d.put(after, g + p)
            for name, x in (("s", s), ("c", c), ("p", p), ("g", c * r - b)):
                slots[name].put(x)
            if self.vectors:
                self.rotate(after, i, c, s)
            at.put(self.moved(i, back))
            return e.op(f"icmp ne i64 {i}, {here}")

        e.repeat(turn)
        d.put(here, d.get(here) - slots["p"].get())
        beside.put(self.of(here), slots["g"].get())


def length(x: Real, y: Real) -> Real:
    """√(x² + y²)."""
    u, v, unit = _in_range(x, y)
    return unit * _near(u, v)


def _near(x: Real, y: Real) -> Real:
    """√(x² + y²), where squares are neither too large nor too small."""
    return (x * x).plus(y, y).sqrt()


def _in_range(x: Real, y: Real) -> tuple[Real, Real, Real]:
    """Two numbers in a unit in which their squares are neither too large nor too small, and that unit; 1, 0 and 0 for
    two zeros."""
    e, dtype = x.e, x.dtype
    u, v, unit = Variable(e, dtype, x), Variable(e, dtype, y), Variable(e, dtype, 1.0)
    larger = abs(x).is_("ogt", abs(y)).where(abs(x), abs(y))
    limit = RANGE[dtype] ** 0.5

    def scale() -> None:
        none = larger.is_("oeq", 0.0)
        u.put(none.where(x.like(1.0), x / larger))
        v.put(none.where(y, y / larger))
        unit.put(larger)

    e.unless((larger.is_("ogt", 1 / limit) & larger.is_("olt", limit)).text, scale)
    return u.get(), v.get(), unit.get()


def _rotation(f: Real, g: Real) -> tuple[Real, Real, Real]:
    """c, s and r with c·f + s·g = r and c·g = s·f; as of LAPACK's lartg."""
    x, y, unit = _in_range(f, g)
    root = _near(x, y)
    signed = root.signed(x)
    return abs(x) / root, y / signed, signed * unit
