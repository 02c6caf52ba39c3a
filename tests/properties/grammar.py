"""The lines a random program may have: templates over the names that are there.

A placeholder `{kinds rank}` reads an operand: kinds are letters of NumPy's dtype kinds, rank is
`1`, `2+`, … and may be missing. `{=}` reads one that broadcasts with the first operand, `{==}` one of
its shape. `{w kinds}` is a writable array, `{axis}` `{axes}` `{key}` `{n}` `{lit}` are made to fit
the first operand. A leading `~` says that floats come out rounded: noisy runs disturb its reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from tests.properties import function_grammar
from tests.properties.programs import Line

NUMBER = "biufc"
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

UNARY = """
negative:iufc absolute:biufc sign:iuf square:iufc conjugate:iufc positive:iufc logical_not:biuf isfinite:biufc isnan:biufc
isinf:fc floor:iuf ceil:iuf trunc:iuf rint:fc invert:biu ~sqrt:fc ~cbrt:f ~exp:fc ~exp2:f ~expm1:fc ~log:fc
~log2:f ~log10:fc ~log1p:f ~sin:fc ~cos:fc ~tan:fc ~arcsin:f ~arccos:f ~arctan:f ~sinh:fc ~cosh:fc ~tanh:fc ~arcsinh:f
~arccosh:f ~arctanh:f ~reciprocal:f ~degrees:f ~radians:f ~exp:biu ~sin:iu ~sqrt:biu ~sinc:f ~i0:f fabs:f fix:f nan_to_num:f
real:c imag:c ~angle:c ~absolute:c spacing:f bitwise_count:iu
"""

SMOOTH_UNARY = (
    "~sqrt ~exp ~expm1 ~log1p ~sin ~cos ~arctan ~tanh ~sinh ~cosh ~arcsinh ~cbrt ~log ~reciprocal ~square ~sinc ~tan"
)

BINARY = """
~+:iufc ~-:iufc ~*:biufc ~/:iufc //:iuf %:iuf ~**:f &:biu |:biu ^:biu <:biuf <=:biuf >:biuf >=:biuf ==:biufc !=:biufc
"""

BINARY_FUNCTIONS = """
maximum:biuf minimum:biuf fmax:biuf fmin:biuf ~add:bc ~multiply:c ~divide:c ~arctan2:f ~hypot:f ~logaddexp:f ~logaddexp2:f
~fmod:iuf gcd:iu lcm:iu logical_and:biuf logical_or:biuf logical_xor:biuf heaviside:f ~power:f ~float_power:f
nextafter:f equal:biufc ~remainder:iuf floor_divide:iuf
"""

# Functions of one array: exact ones first.
SHAPE = """
{any}.T | {any}[...] | {any 1+}[::-1] | {any 1+}[1:] | {any 1+}[:-1] | {any 1+}[::2] | {any 2+}[:, ::-1] | {any}.copy() | {any}[None]
np.ravel({any}) | {any}.ravel() | {any}.flatten() | {any}.reshape(-1) | np.reshape({any 2+}, -1) | {any}.reshape({shape})
np.transpose({any}) | np.transpose({any 2+}, {perm}) | {any 2+}.swapaxes({axis}, {axis}) | np.moveaxis({any 1+}, {axis}, {axis})
np.flip({any}) | np.flip({any 1+}, {axis}) | np.roll({any}, {n}) | np.roll({any 1+}, {n}, axis={axis}) | np.rot90({any 2+})
np.expand_dims({any}, 0) | np.squeeze({any}) | np.atleast_1d({any}) | np.atleast_2d({any}) | np.tile({any}, 2)
np.tile({any}, (2, 1)) | np.repeat({any}, 2) | np.repeat({any 1+}, 2, axis={axis}) | np.diag({any 1+}) | np.tril({any 2+}) | np.triu({any 2+}, 1)
np.diagonal({any 2+}) | np.broadcast_to({any}, {bigger}) | np.concatenate([{any 1+}, {==}]) | np.concatenate([{any 1+}, {==}], axis={axis})
np.stack([{any}, {==}]) | np.stack([{any}, {==}], axis=-1) | np.hstack([{any}, {==}]) | np.vstack([{any}, {==}]) | np.column_stack([{any 1+}, {==}])
np.split({any 1+}, [1])[1] | np.array_split({any 1+}, 2)[0] | np.pad({num 1}, 1) | np.pad({num}, 1, mode="edge") | np.pad({num 1+}, 1, mode="wrap")
np.pad({num 1+}, 1, mode="reflect") | np.array([{sc}, {sc}]) | np.array({any}) | np.asarray({any}) | np.delete({any 1+}, 0, axis={axis})
np.insert({num 1}, 1, 5) | np.append({num}, {num}) | np.zeros_like({any}) | np.ones_like({any}) | np.full_like({num}, 2) | np.where({b}, {=}, {=})
np.where({b}, {=}, {lit}) | np.take({any 1+}, {ints}) | np.take({any 1+}, [0, -1], axis={axis}) | np.meshgrid({any 1}, {any 1})[1]
np.swapaxes({any 2+}, 0, 1) | np.rollaxis({any 2+}, -1) | np.fliplr({any 2+}) | np.flipud({any 1+})
np.block([[{num 2}, {==}], [{==}, {==}]]) | np.dstack([{any}, {==}]) | np.resize({any 1+}, (2, 3)) | np.unstack({any 1+})[0] | list({any 1+})[0]
{any}[()] | {any 1+}[{key}] | {any 2+}[{key}] | {any 1+}[{key}] | {any 3+}[{key}] | {any 1+}[{fancy}] | {any 2+}[{fancy}] | {any 1+}[{fancy}]
np.take_along_axis({num 1+}, np.argsort(⟦0⟧, axis=-1, kind="stable"), axis=-1) | np.select([{b}, {=}], [{=}, {=}], 0)
np.choose({b}.astype(int), [{=}, {=}]) | np.array([v for v in {any 1+}]) | {any 1}.view() | {num}.astype({dtype}) | {any}.astype(complex)
"""

ORDER = """
np.signbit(np.nan_to_num({f})) | np.copysign({f}, np.nan_to_num({=}))
np.sort({num}) | np.sort({num 1+}, axis={axis}) | np.argsort({num 1+}, kind="stable") | np.argmax({real 1+}, axis={axis}) | np.argmin({real})
np.maximum.accumulate({real 1+}) | np.searchsorted(np.sort({real 1}), {real}) | np.clip({real}, -1, 1) | {real}.clip(0) | np.clip({real}, {=}, {=})
{real}.max() | {real 1+}.min(axis={axis}) | np.max({real 1+}, axis={axis}, keepdims=True) | np.amin({real}, axis={axes}) | np.any({any}) | np.all({any 1+}, axis={axis})
{b}.any() | np.count_nonzero({any}) | np.count_nonzero({any 1+}, axis={axis}) | np.ptp({real 1+}) | np.median({f 1+}) | np.median({f 1+}, axis={axis})
~np.quantile({f 1+}, 0.3) | ~np.quantile({f 1+}, [0.1, 0.5], axis={axis}) | ~np.percentile({f 1+}, 30, axis={axis}) | np.nanmax({f 1+}) | np.nanmin({f 1+}, axis={axis})
np.minimum.accumulate({real 1+}, axis={axis}) | np.digitize({f}, [-1.0, 0.0, 1.0]) | np.isclose({f}, {=}) | np.array_equal({any}, {==}) | np.allclose({f}, {=})
np.max({real 1+}, initial=0, where={b}) | np.maximum.reduce({real 1+}) | np.round({f}, 1) | {f}.round() | np.around({f}, 2) | np.isin({i 1+}, [1, 2])
np.bincount(np.abs({i 1}) % 5, minlength=6) | np.tril_indices_from({num 2})[0] | np.argsort({num 1+}, axis={axis}, kind="stable") | np.unwrap({f 1+})
"""

SUMS = """
~np.sum({num}) | ~{num}.sum(axis={axes}) | ~{num 1+}.sum(axis={axis}, keepdims=True) | ~np.sum({num}, dtype=float) | ~np.sum({num 1+}, where={b}) | ~np.prod({num 1})
~np.prod({num 1+}, axis={axis}) | ~{num}.mean() | ~np.mean({num}, axis={axes}) | ~np.var({num 1+}) | ~np.std({f 1+}, axis={axis}) | ~np.var({fc 1+}, ddof=1) | ~np.cumsum({num})
~np.cumsum({num 1+}, axis={axis}) | ~np.cumprod({num 1}) | ~{num 1+}.cumsum(0) | ~np.add.reduce({num 1+}) | ~np.add.accumulate({num 1+}) | ~np.diff({num 1+}) | ~np.diff({num 1+}, axis={axis})
~np.trace({num 2+}) | ~np.average({f 1+}) | ~np.nansum({f}) | ~np.nanmean({f 1+}) | ~np.logaddexp.reduce({f 1}) | ~np.multiply.outer({num}, {num}) | ~np.add.outer({num 1}, {num 1})
~np.gradient({f 1}) | ~np.ediff1d({num}) | ~np.trapezoid({f 1+}) | ~np.interp({f}, np.arange(3.0), np.array([1.0, -1.0, 2.0])) | ~np.cov({f 2}) | ~np.multiply.reduce({num 1+}, axis={axis})
~np.polyval([1.0, 2.0, 3.0], {f}) | ~{sc} * np.polymul([1.0, 3.0], [1.0, 2.0]) | ~{sc} * np.polydiv([1.0, 3.0], [2.0, 1.0])[0] | ~{sc} * np.abs(np.roots([2.0, 3.0, 0.5])) | ~np.vander({f 1}, 3) | ~np.convolve({f 1}, {f 1}) | ~np.linspace({sc}, 2.0, 4) | ~np.sum([{sc}, {sc}]) | ~sum({num 1}) | ~np.average({f 1+}, axis={axis})
"""

PRODUCTS = """
~{num 1+} @ {num 1+} | ~{num 2} @ {num 1} | ~{num 2} @ {num 2} | ~np.dot({num}, {num}) | ~np.vdot({num}, {num}) | ~np.inner({num}, {num}) | ~np.outer({num}, {num}) | ~np.kron({num 1+}, {num 1+})
~np.tensordot({num 1+}, {num 1+}, axes=1) | ~np.tensordot({num 1+}, {num 1+}, axes=0) | ~np.einsum("ij->i", {num 2}) | np.einsum("ij->ji", {num 2})
~np.einsum("ij,jk->ik", {num 2}, {num 2}) | ~np.einsum("...i,...i->...", {num 1+}, {=}) | ~np.einsum("i,j->ij", {num 1}, {num 1}) | ~np.matmul({num 3+}, {num 2}) | ~np.linalg.norm({fc})
~np.linalg.norm({fc 1+}, axis={axis}) | ~np.linalg.norm({f 2}, 1) | ~np.linalg.matrix_power({num 2}, 2) | ~np.linalg.solve({fc 2} + 5 * np.eye(⟦0⟧.shape[0]), {fc 1+}) | ~np.linalg.inv({f 2+} + 7 * np.eye(⟦0⟧.shape[-1]))
~np.linalg.det({fc 2+}) | ~np.linalg.slogdet({fc 2} + 5 * np.eye(⟦0⟧.shape[0]))[1] | ~np.linalg.cholesky({f 2} @ ⟦0⟧.T + np.eye(⟦0⟧.shape[0])) | ~np.linalg.eigvalsh({f 2} + ⟦0⟧.T) | ~np.linalg.svd({f 2}, compute_uv=False)
~np.fft.fft({fc 1+}) | ~np.fft.ifft({fc 1+}, axis={axis}) | ~np.fft.rfft({f 1+}) | ~np.fft.irfft({fc 1+}) | ~np.fft.fft2({fc 2+}) | np.fft.fftshift({num 1+}) | ~np.cross({num 1+}, {==}) | ~np.linalg.pinv(np.asarray({f 2}, float))
"""

CREATION = """
np.zeros({bigger}) | np.ones(3) | np.eye(3) | np.arange(4) | np.arange(5.0) | np.full((2, 3), {lit}) | np.linspace(0, 1, 5) | np.zeros({num}.shape, dtype={dtype}) | np.arange({num 1+}.shape[0]) | np.identity(2)
np.array([1.0, 2.0, 3.0]) | np.array([[1, 2], [3, 4]]) | 2.5 | 3 | np.ones((2, 0)) | np.float32(1.5) | len({any 1+}) | {any}.size
"""

# Statements that write; the target is read too (⟦0⟧ is the first operand, `$0` its bare name).
WRITES = """
{w any}[...] = {fits} | {w any 1+}[{key}] = {fits} | {w any 1+}[{key}] = {lit} | {w any 2+}[{key}] = {fits} | ~{w num}[...] += {fits} | ~{w num 1+}[{key}] += {fits} | ~{w num 1+}[{key}] *= {lit}
~{w num} += {lit} | ~{w num} -= {fits} | ~{w num} *= {fits} | ~{w f} /= 2 | {w iu} //= 2 | {w b} ^= True | {w b} &= {fits} | {w any 1+}[{fancy}] = {lit} | {w any 1+}[{fancy}] = {fits}
~{w num 1+}[{fancy}] += {lit} | ~{w num 1+}[{fancy}] += {fits} | {w any 1+}[{mask}] = {lit} | ~{w num 1+}[{mask}] += {lit} | ~{w num 1+}[{mask}] *= {fits} | {w any}.fill({lit}) | {w num 1+}.sort() | {w num 1+}.sort(axis={axis})
np.copyto({w any}, {fits}) | np.copyto($w, {lit}, where={b}) | ~np.add.at({w if 1+}, {ints}, 2) | ~np.add({w num}, {fits}, out=$0) | ~np.multiply({f}, 2, out=$w) | ~np.cumsum({w f 1}, out=$0)
np.negative({num}, out=$w) | ~np.sum({num 1+}, axis=0, out=$w) | {w any 1+}[1:] = ⟦0⟧[:-1] | {w any 1+}[:-1] = ⟦0⟧[1:] | ~{w num 1+}[1:] += ⟦0⟧[:-1] | ~{w num 1+}[:] += ⟦0⟧[::-1] | {w any 1+}[::-1] = ⟦0⟧
~{w num 1+}[::2] -= 1 | {w any 1+}[0] = ⟦0⟧[-1] | $0[0], $0[-1] = {w any 1+}[-1], ⟦0⟧[0] | {w any 2+}[0], $0[1] = $0[1], $0[0] | {w any 2}.T[...] = {fits} | {w any}.reshape(-1)[:2] = {lit} | {w c}.real[...] = 2 | ~{w c}.imag += 1
np.put({w num 1+}, [0, 0], [1, 2]) | np.putmask($w, {b}, {lit}) | np.fill_diagonal({w any 2}, {lit}) | ~np.sin({f}, out=$w) | ~np.subtract.at({w if 1+}, ([0, 0],), 1) | ~{w f} **= 2 | {w num} %= 3 | ~{w num 2} += ⟦0⟧.T
np.put_along_axis({w num 1+}, np.zeros_like(⟦0⟧, dtype=int)[..., :1], {lit}, axis=-1) | np.maximum({real}, 0, out=$w) | {w num}.clip(0, 1, out=$0) | ~{w num 1+}[{key}] -= {fits} | np.place({w any 1+}, {mask}, [7])
~np.multiply.at({w if 1+}, {ints}, 2) | np.maximum.at({w real 1+}, {ints}, {lit}) | ~np.divide.at({w f 1+}, ([0, 0],), 4) | np.negative.at({w if 1+}, {ints}) | {w num 1+}.flat[0] = {lit} | {w num 1+}.flat = [1, 2, 3]
np.place({w any 1+}, {mask}, [7, 8]) | {w num 1+}[⟦0⟧ != 0] = ⟦0⟧[⟦0⟧ != 0][::-1]
"""

# Several physical lines.
BLOCKS = (
    "for i in range(3):\n    {w num 1+}[i % $0.shape[0]] = ⟦0⟧[(i + 1) % $0.shape[0]]",
    "~for i in range(1, {w num 1+}.shape[0]):\n    $0[i] += ⟦0⟧[i - 1]",
    "~for row in {w num 2+}:\n    row *= 2",
    "~$n = 0.0\nfor v in {num 1+}:\n    $n = $n + v",
    "~$n = {num}\nfor _ in range(3):\n    $n = $n * 0.5 + 1",
    "~$n = [v * 2 for v in {num 1+}][0]",
    "~$n, $m = np.modf({f})",
    "$n, $m = {any 2+}[0], ⟦0⟧[-1]",
    "~$n = (lambda u, v: u * v)({num}, {=})",
    "~def helper(u, k=2):\n    u = u + 0\n    u *= k\n    return u\n$n = helper({num})",
    "def write(u):\n    u[0] = 3\n    return u[:1]\n$n = write({w num 1+})",
    "~$n, $m = np.divmod({iu}, 3)",
    "$n, $m = np.split({any 1+}, [1])",
    "if {any 1+}.shape[0] > 2:\n    $n = ⟦0⟧[:2]\nelse:\n    $n = ⟦0⟧",
    "$n = {w any 1+}\n$m = $n[1:]\n$k = $n[::2]\n$k[:1] = 1",
    "$n = {f 1+}.copy()\n$n[$n > 0] = 0",
    "~$n = np.zeros(4)\n$n[1:3] = {sc}\n$n += 1",
    "$n = {any}\n$m = $n",
    "~$n = {num 1+}.copy()\n$n += 1\n$m = $n[::-1]\n$m *= 2",
    "$n = np.empty_like({num 1+})\n$n[...] = ⟦0⟧[::-1]",
)


def table(text: str, weight: float) -> list[tuple[float, str]]:
    """Templates separated by ` | ` or, for statements of one line, by line ends."""
    parts = [p.strip() for row in text.strip().split("\n") for p in row.split(" | ")]
    return [(weight / len(parts), p) for p in parts if p]


@dataclass
class Fit:
    """Chooses what a placeholder stands for, from the names that are there."""

    rng: Random
    env: dict[str, Any]
    operands: list[str]

    def pick(self, names: list[str]) -> str:
        """One name, later ones more often."""
        if not names:
            raise LookupError
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    @property
    def first(self) -> Any:
        """The first operand's value."""
        return self.env[self.operands[0]]

    def names(self, kinds: str, rank: str, *, writable: bool = False) -> list[str]:
        """Names of numbers and arrays of these kinds and rank."""
        letters = {"any": NUMBER, "num": "iufc", "real": "iuf"}.get(kinds, kinds)
        low = int(rank.rstrip("+")) if rank else 0
        high = 9 if not rank or rank.endswith("+") else low
        found: list[str] = []
        for name, x in self.env.items():
            if writable and not (isinstance(x, np.ndarray) and x.flags.writeable):
                continue
            a = np.asarray(x)
            if a.dtype.kind in letters and low <= a.ndim <= high:
                found.append(name)
        return found

    def read(self, name: str) -> str:
        """The text that reads a name."""
        self.operands.append(name)
        return f"⟦{name}⟧"

    def place(self, what: str) -> str:
        """The text for one placeholder."""
        rng = self.rng
        if what in ("=", "==", "fits"):
            return self.read(self.pick(self.companions(what)))
        if what.startswith("w "):
            kinds, _, rank = what[2:].partition(" ")
            name = self.pick(self.names(kinds, rank, writable=True))
            self.operands.append(name)
            return name
        if what in _MADE:
            return str(_MADE[what](self, rng))
        kinds, _, rank = what.partition(" ")
        return self.read(self.pick(self.names(kinds, rank)))

    def companions(self, what: str) -> list[str]:
        """Names whose shape goes with the first operand's."""
        shape = np.shape(self.first)
        kinds = "iufc" if np.asarray(self.first).dtype.kind != "b" else NUMBER
        found: list[str] = []
        for name in self.names(kinds, ""):
            other = np.shape(self.env[name])
            if what == "==":
                fits = other == shape
            elif what == "fits":
                fits = other == () or other == shape or shape[len(shape) - len(other) :] == other
            else:
                fits = all(m == n or 1 in (m, n) for m, n in zip(reversed(shape), reversed(other), strict=False))
            if fits:
                found.append(name)
        return found


def _axis(fit: Fit, rng: Random) -> Any:
    rank = np.ndim(fit.first)
    return rng.randrange(-rank, rank) if rank else "None"


def _axes(fit: Fit, rng: Random) -> Any:
    rank = np.ndim(fit.first)
    options: list[Any] = ["None", *range(-rank, rank)]
    if rank > 1:
        options += [tuple(rng.sample(range(rank), 2)), tuple(range(rank))]
    return rng.choice(options)


def _slice(rng: Random, n: int) -> str:
    def part() -> str:
        return rng.choice(["", "", str(rng.randint(-n - 1, n + 1))])

    step = rng.choice(["", "", "", ":2", ":-1", ":-2", ":3"])
    return f"{part()}:{part()}{step}"


def _key(fit: Fit, rng: Random) -> str:
    """A basic index."""
    parts: list[str] = []
    for n in np.shape(fit.first)[: rng.randint(1, max(1, np.ndim(fit.first)))]:
        parts.append(str(rng.randrange(-n, n)) if n and rng.random() < 0.35 else _slice(rng, n))
        if rng.random() < 0.12:
            parts.append("None")
    if rng.random() < 0.2:
        parts.insert(rng.randint(0, len(parts)), "...")
    return ", ".join(parts)


def _fancy(fit: Fit, rng: Random) -> str:
    """An index with at least one index array; all arrays of one length."""
    parts: list[str] = []
    count, used = rng.randint(0, 4), False
    for n in np.shape(fit.first)[: rng.randint(1, max(1, np.ndim(fit.first)))]:
        if n and (rng.random() < 0.6 or not used):
            used = True
            numbers = [rng.randrange(-n, n) for _ in range(count)]
            text = f"np.array({numbers}, dtype=int)"
            parts.append(
                rng.choice(
                    [text, text, str(numbers) if numbers else text, f"{text}[:, None]" if rng.random() < 0.2 else text]
                )
            )
            integers = [
                k
                for k in fit.names("iu", "")
                if np.size(fit.env[k]) and np.max(fit.env[k]) < n and np.min(fit.env[k]) >= -n
            ]
            if integers and rng.random() < 0.3:
                parts[-1] = f"⟦{rng.choice(integers)}⟧"
        else:
            parts.append(_slice(rng, n) if rng.random() < 0.8 or not n else str(rng.randrange(-n, n)))
    return ", ".join(parts)


def _mask(fit: Fit, rng: Random) -> str:
    """A boolean mask of the first operand's shape, or of its leading axes."""
    shape = np.shape(fit.first)
    found = [k for k in fit.names("b", "1+") if np.shape(fit.env[k]) == shape[: np.ndim(fit.env[k])]]
    if found and rng.random() < 0.6:
        return f"⟦{rng.choice(found)}⟧"
    return f"⟦{fit.operands[0]}⟧ > 0" if np.asarray(fit.first).dtype.kind in "biuf" else f"⟦{fit.operands[0]}⟧.real > 0"


def _ints(fit: Fit, rng: Random) -> str:
    n = np.size(fit.first) if np.ndim(fit.first) < 2 else 1
    return str([rng.randrange(-n, n) for _ in range(rng.randint(1, 4))] if n else [])


def _shape(fit: Fit, rng: Random) -> str:
    size = int(np.size(fit.first))
    options = [(-1, 1), (1, -1), (size,), (1, size, 1)]
    options += [(k, -1) for k in (2, 3, 4) if size and size % k == 0] + [
        (-1, k, 1) for k in (2, 3) if size and size % k == 0
    ]
    return str(rng.choice(options))


def _bigger(fit: Fit, rng: Random) -> str:
    shape = np.shape(fit.first) if fit.operands else ()
    return str((rng.choice([1, 2, 3]), *(rng.choice([2, 3]) if n == 1 and rng.random() < 0.7 else n for n in shape)))


def _scalar(fit: Fit, rng: Random) -> str:
    return fit.read(fit.pick([n for n in fit.names("iuf", "0")]))


def _permutation(fit: Fit, rng: Random) -> str:
    return str(tuple(rng.sample(range(np.ndim(fit.first)), np.ndim(fit.first))))


def _writable(fit: Fit, rng: Random) -> str:
    return fit.pick(fit.names("any", "", writable=True))


_MADE: dict[str, Any] = {
    "axis": _axis, "axes": _axes, "key": _key, "fancy": _fancy, "mask": _mask, "ints": _ints, "shape": _shape,
    "bigger": _bigger, "sc": _scalar, "perm": _permutation,
    "n": lambda fit, rng: rng.randint(-3, 3),
    "lit": lambda fit, rng: rng.choice(["2", "-1", "0", "1", "0.5", "2.0", "-1.5", "True"]),
    "dtype": lambda fit, rng: rng.choice(["float", "int", "bool", "np.float32", "np.int32", "np.int8", "np.complex128", "np.float16", "np.uint8"]),
}  # fmt: skip


def templates(*, is_smooth: bool) -> list[tuple[float, str]]:
    """All templates with their weights."""
    unary = [t.split(":") for t in UNARY.split()]
    made = [(u[0].lstrip("~"), u[1], "~" if u[0].startswith("~") else "") for u in unary]
    all_: list[tuple[float, str]] = [(3 / len(made), f"{tilde}np.{name}({{{kinds}}})") for name, kinds, tilde in made]
    if is_smooth:
        all_ += [(5 / 17, f"~np.{name.lstrip('~')}({{f}})") for name in SMOOTH_UNARY.split()]
    infix = [t.rsplit(":", 1) for t in BINARY.split()]
    for op, kinds in infix:
        tilde, op = ("~", op[1:]) if op.startswith("~") else ("", op)
        all_ += [
            (5 / len(infix), f"{tilde}{{{kinds}}} {op} {{=}}"),
            (1 / len(infix), f"{tilde}{{{kinds}}} {op} {{lit}}"),
        ]
        all_ += [(0.7 / len(infix), f"{tilde}{{lit}} {op} {{{kinds}}}")]
    functions = [t.rsplit(":", 1) for t in BINARY_FUNCTIONS.split()]
    for name, kinds in functions:
        tilde, name = ("~", name[1:]) if name.startswith("~") else ("", name)
        all_ += [(3 / len(functions), f"{tilde}np.{name}({{{kinds}}}, {{=}})")]
    all_ += [*table(SHAPE, 7), *table(ORDER, 3), *table(SUMS, 5), *table(PRODUCTS, 3), *table(CREATION, 1.2)]
    all_ += [row for text, weight in function_grammar.VALUES for row in table(text, weight)]
    all_ += table("\n".join(function_grammar.of_methods()), 2.5)
    all_ = [(w, ("~$n = " + t[1:]) if t.startswith("~") else "$n = " + t) for w, t in all_]
    all_ += [*table(function_grammar.WRITES, 1.5), *table("\n".join(function_grammar.in_place()), 1)]
    return [*all_, *table(WRITES, 6), *((2 / len(BLOCKS), t) for t in BLOCKS)]


def fill(template: str, rng: Random, env: dict[str, Any], fresh: str) -> Line:
    """A line from a template. Raises LookupError if nothing fits."""
    is_exact = not template.startswith("~")
    fit = Fit(rng, env, [])
    text = PLACEHOLDER.sub(lambda m: fit.place(m[1]), template.lstrip("~"))
    while "$w" in text:
        name = _writable(fit, rng)
        text = re.sub(r"\$w", name, text)
    first = fit.operands[0] if fit.operands else ""
    text = text.replace("⟦0⟧", f"⟦{first}⟧").replace("$0", first)
    for mark, suffix in (("$n", ""), ("$m", "b"), ("$k", "c")):
        text = text.replace(mark, fresh + suffix)
    return Line(text, is_exact)
