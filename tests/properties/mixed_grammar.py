"""Random programs of loops and branches over everything at once: transforms of Fourier, complex numbers, integers that wrap
around, casts, views that run backward, bounds that are computed, lists, functions inside functions; arguments of any layout.

A program draws a few themes, so that what it holds meets, and so that one that rounds coarsely does not hide all others.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import final

from tests.properties.flows import Flow, Statement

DTYPES = ("float64", "float64", "float64", "float32", "int64")
SIZES = (1, 2, 3, 4, 5, 7, 8, 13, 17, 33)
LAYOUTS = ("{x}", "{x}", "{x}", "{x}[::-1]", "np.repeat({x}, 3)[::3]", "np.repeat({x}, 2)[::-2]", "np.broadcast_to({x}[:1], {x}.shape)",
           "np.stack([{x}, {x}], 1)[:, 1]", "np.frombuffer({x}.tobytes(), {x}.dtype)")  # fmt: skip
HEAD = (
    "N = len(x)", "s, t, k, b = a, 0.25, 1, x > 0.1", "u, v, o = x.copy(), y * 0.5, np.array(0.5)", "M = np.outer(x, y) * 0.5",
)  # fmt: skip
THEMES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "basic": ((), (
        "{u} = {u} * 0.5 + {w} * 0.25", "{u} = np.tanh({w})", "{u}[{i}] += {e}", "{u}[{i}] = {e}", "{u} *= 0.5", "{u}[...] = {w}", "s = {e}", "t += 0.5 * {e}",
        "u, v = v, u", "k = (k * 3 + {i}) % N", "x[1:] += 0.5 * x[:-1]", "y[...] = u", "M[{i}] = {u}", "M[:, {i}] += 0.5 * {u}", "M = M.T", "{u} = M @ {w} * 0.125", "o += {e}", "o[...] = s", "s = o * 0.5",
        "{u} = np.where({u} > {e}, {w}, {u})", "{u}[{u} > {e}] = {e}", "{u} = np.minimum({u}, {w})", "t = {u}.max() - {u}.min()", "s = np.sqrt({u} @ {u} + 1)", "{u} /= np.sqrt(1 + {w} * {w})",
        "s = {u}.mean()", "t = np.exp(-abs(s))", "{u} = np.cumsum({w}) * 0.25", "{u} = np.sort({w})", "M += np.outer({u}, {w}) * 0.25", "{u} = np.zeros(N)", "{u} = np.full(N, s)", "np.add({u}, s, out={u}, where={w} > 0.1)",
        "{u} = np.concatenate([{w}[1:], {w}[:1]])", "{u} = np.roll({w}, {i})", "s = {u}[{i}] * t", "s, t = t, s", "{u}[::2] *= s", "t = {u}.std()", "{u} -= {u}.mean()", "s = np.linalg.norm({u} + 2)", "{u} = {w}[::-1] * 1", "{u}[b] = {e}", "b = {u} > {e}", "{u}[~b] *= 0.5",
    ), ("s", "t", "k", "u", "v", "x * 1.0", "M", "b", "o", "M.sum(0)", "(u * v).sum()")),
    "complex": (("c = u + 1j * v", "g = 0.5 + 0.25j"), (
        "c = np.fft.fft({u}) / N", "c = np.fft.ifft(c)", "{u} = np.fft.irfft(np.fft.rfft({u}), N)", "c *= np.exp(0.5j * s * np.arange(N))", "{u} = np.abs(c + 2) * 0.5", "{u} += 0.1 * np.fft.fft({w}).real",
        "c[{i}] += 1j * s", "c.real[...] = {u}", "c.imag[1:] += {w}[:-1]", "c[::2] = np.conj(c[::2])", "s = np.vdot(c, c).real * 0.1", "c = np.fft.fft(c, norm='ortho')[::-1]", "M = np.fft.fft2(M).real / N", "c = np.sqrt(c * c + 2)",
        "c = c * g", "g = g * g + c[{i}] * 0.25", "g = np.conj(g) * 0.5j", "{u}[{i}] = g.real", "s = abs(g + 2)", "t = g.imag", "c = np.exp(c * 0.25)", "c[{i}:] *= 0.5j", "c = np.where({u} > {e}, c, np.conj(c))", "c += {u}", "c[b] = g", "c = c[::-1] * 1",
        "s += np.sum(c * np.conj(c)).real * 0.1", "np.add.at(c, [0, {i}], g)", "M[{i}] = c.imag", "{u} = np.fft.fftshift({w})", "c = np.fft.ifft(np.fft.fft(c) * np.fft.fft({u})) / N", "c.imag = {u}", "c = M @ c * 0.125", "c /= 1 + np.abs(c) ** 2",
        "{u} = np.fft.rfft({w}).real.sum() * 0.1 + {u}", "c = 1j * {u} - c", "s = np.angle(g + 3)", "c[{i}] = c[{i}] ** 2 * 0.5", "{u} = (c * c.conj()).real * 0.5",
    ), ("c.real", "c.imag", "g.real", "g.imag", "np.abs(c) ** 2", "c")),
    "integers": ((
        "i8 = (np.arange(N) * 37).astype(np.int8)", "u8 = (np.arange(N) * 51 + 3).astype(np.uint8)", "w4, i6 = i8.astype(np.int32), np.arange(N) * 5 - 3", "r = np.int8(100)",
    ), (
        "i8 += {i} * 9", "i8 *= 3", "u8 -= 7", "u8 = u8 << 1", "i8 >>= 1", "{u} += i8 * 0.01", "{u}[i8 % N] += 0.1", "{u}[u8 % N] = s", "i8[{i}] = k", "i8[...] = u8.astype(np.int8)", "r = r + np.int8(100)", "i6 = i6 * 1103515245 + 12345", "i6 ^= i6 >> 7",
        "s += float(i6[{i}] % 7) * 0.1", "i8 = -i8", "i8 = np.abs(i8)", "i8 = i8 // 3", "u8 = u8 // np.uint8(k % 5 + 1)", "i8 = i8 % np.int8(5)", "i6 = i6 // -3", "i6 %= 97", "np.add.at(i8, [k % N, k % N, 0], 100)", "k = int(i8.sum()) % N", "w4 = np.cumsum(i8).astype(np.int32)",
        "i6 = np.cumprod(i8 | 1)", "i8[1:] += i8[:-1]", "u8[::-1] += u8", "w4 *= w4", "w4 += i8", "i6 = np.bitwise_and(i6, 1023) - w4", "i8 = np.where(b, i8, i8 >> 2)", "i8[b] += 100", "b = (i6 & 1) == 0", "np.multiply.at(u8, i8 % N, 3)", "i8 = np.sort(i8)", "k = int(np.argmax(i8))",
        "i8 = np.maximum(i8, r)", "i8 = np.minimum.accumulate(i8)", "w4 = np.left_shift(w4, 3)", "u8 = ~u8", "i8 = np.add(i8, i8, dtype=np.int8)", "i6 = np.square(i8).astype(np.int64) + i6", "u8 = (u8 > 100).astype(np.uint8) + u8", "i6 = i6 - i8.max() * 2", "i8 = i8[::-1] - i8", "i6 = np.divmod(i6, 7)[1]",
        "w4 = np.dot(i8, i8) + w4", "u8 = np.negative(u8)", "i8 = np.sign(i8) * i8", "i6 += u8", "i6[{i}] = i8[{i}] * i8[{i}]", "k = (k + i6[{i}]) % N", "i6 = np.power(i8, 2) + i6", "i8 = i8 ^ i8[{i}]", "u8[{i}] = u8[{i}] + 200", "i6 = np.searchsorted(np.sort(i6), i6)", "i6 = np.bincount(u8 % N, minlength=N)",
    ), ("i8", "u8", "w4", "i6", "r", "k", "i8.sum()", "u8.mean()", "i6 / 3")),
    "casts": (("f4 = x.astype(np.float32)", "h = x.astype(np.int32)"), (
        "f4[...] = {u}", "f4 += s", "{u}[...] = f4", "h[1:] = {u}[:-1] * 3", "b[...] = h", "b[{i}] = s", "{u}[...] = b", "np.copyto(f4, {u}, casting='same_kind')", "np.multiply({u}, {w}, out=f4, casting='same_kind')", "f4 = f4 * 2", "f4 = f4 + s", "f4 = f4 * t", "f4 = np.tanh(f4)",
        "h[{i}] = s * 3", "h += {i}", "h = h + b", "{u} = {w} + h", "{u} = f4 * h", "f4[{i}:] -= f4[: N - {i}]", "f4 = (f4 + f4[::-1]) * 0.5", "s = float(f4[{i}])", "t = f4.sum()", "h = ({u} * 4).astype(np.int32)", "h[b] = 7", "np.add(f4, h, out=f4, casting='unsafe')", "{u} = f4.astype(float) ** 2",
        "f4[{i}] = {e}", "h *= 3", "h //= 2", "{u} += b", "b |= {u} > s", "b = ~b", "s = s + h[{i}]", "h = np.where(b, h, 3)", "f4 = np.where(b, f4, s)", "f4 = np.where(b, f4, 0.5)", "b ^= b[::-1]", "s = b.sum() * 0.1", "f4.flat[{i}] = k", "t = np.float32(t)", "k = int(f4[0] * 3) % N", "f4 = np.maximum(f4, h).astype(np.float32)",
    ), ("f4", "h", "b", "f4.sum()", "h.mean()", "b.any()", "f4 * h")),
    "views": (("r, d, F = u[::-1], M.T, np.asfortranarray(M)",), (
        "r[1:] += 0.5 * r[:-1]", "r = {u}[::-1]", "r[{i}] = {e}", "d[1:, {i}] = {u}[1:]", "d = M[::-1]", "d = F.T", "M.reshape(-1)[:: N + 1] += 0.1", "np.fill_diagonal(M, s)", "M.ravel()[:3] = s", "F += F.T", "F *= 0.5", "M[::-1, ::2] *= 0.5", "F[{i}, ::-1] = {u}", "d *= 0.5", "r *= s",
        "M.swapaxes(0, 1)[{i}] = {u}", "M[..., ::-2] += 0.25", "{u}[::-1][{i}] += s", "{u}[1:][::-1] *= 0.5", "r[...] = {u}", "d[...] = d.T", "F[...] = M", "F = M.copy('F') * 0.5", "{u}[1:] = {u}[:-1]", "{u}[:-1] = {u}[1:]", "{u}[:] = {u}[::-1]", "M[1:] += 0.5 * M[:-1]", "M[:] = M[::-1].T", "r[:] = r[::-1] + v",
        "np.add(M, M.T, out=M)", "np.multiply(r, 0.5, out=u)", "np.subtract({u}[1:], {u}[:-1], out={u}[:-1])", "np.cumsum({u}, out={u})", "M *= 0.25", "{u}.reshape(1, -1)[0, {i}] = s", "r = {u}[{i}:]", "d = M[{i}:, :{i}]", "r = M[{i}]", "r[::-2] = t", "r += r[::-1] * 0.5", "d += 0.25", "np.einsum('ii->i', M)[...] = {u}",
        "M[...] = {u}[:, None]", "M.T[...] = M", "F.T[{i}] += {u}", "{u}[None, :, None][0, ::-1, 0][{i}] = t", "s = d.sum() * 0.1", "t = r.sum() * 0.1", "M[{i}] = M[:, {i}]", "M[:, {i}] = M[{i}]", "r[{i} % len(r)] = 0.5", "np.copyto(M[::-1], M)", "np.copyto({u}, {w}, where={w} > {u})", "M[np.arange(N), p] += 0.5", "M[p] = M", "{u}[p] += {u}", "np.add.at({u}, p, {u})", "np.add.at(M, (p, slice(None)), {u})", "np.minimum.at({u}, p, {w})",
    ), ("r * 1", "d * 1", "F", "M", "F.sum(0)", "u", "x * 1")),
    "bounds": (("j = 1",), (
        "{u}[{i}:] *= 0.5", "{u}[{i}:{j}] += {w}[{i}:{j}]", "s += {u}[{i}:].sum() * 0.1", "t += {u}[:{i}] @ {w}[:{i}] * 0.1", "{u}[:{i}] = {w}[N - {i}:]", "{u}[:{i} + 1] += 0.5 * {w}[:{i} + 1][::-1]", "{u}[1:{i} + 1] = {u}[:{i}]", "M[{i}, {i}:] = {u}[{i}:]", "M[{i}:, {j}] -= 0.5 * {u}[{i}:]", "{u}[{i}:{i} + 2] = s", "{u}[{i}::-1] = s",
        "{u}[{i}::2] *= 0.5", "s = {u}[max(0, {i} - 1):{i} + 2].sum()", "t = {u}[:{i} + 1].max()", "M[:{i}, {i}:] += 0.25", "{u}[{i}:] += M[{i}, {i}:] * 0.25", "M[{i}:, {i}:] -= 0.1 * np.outer({u}[{i}:], {w}[{i}:])", "{u}[:{i}] -= M[:{i}, :{i}] @ {w}[:{i}] * 0.125", "{u}[:{i}] = 0", "{u}[-1 - {i}] += s", "j = (j + {i}) % N", "{u}[:{i}] *= {u}[:{i}][::-1]",
        "s = {u}[{i}:].mean()", "{u}[{i}:] = np.cumsum({u}[{i}:]) * 0.5", "t = {u}[:{i} + 1].min() * 0.5", "k = {i} + int({u}[{i}:].argmax())", "k %= N", "{u}[{i}:] = np.sort({u}[{i}:])", "s = np.prod(1 + 0.1 * {u}[:{i}])", "{u}[{i} // 2:{i}] = t", "{u}[-{i} - 1:] += 0.25", "M[:, :{i}] *= s", "M[{i}, :] = M[:{i}].sum(0) * 0.5", "{u}[{i}:][::-1][0] = s",
        "s = {u}[{i}:{j}].sum()", "t = np.where(np.arange(N) < {i}, {u}, 0).sum()", "{u}[np.arange(N) >= {i}] = s", "s = np.abs({u}[{i}:]).sum() * 0.2", "t = np.linalg.norm(1 + {u}[{i}:])", "{u}[{i}:] /= 1 + np.abs({u}[{i}:]).max()",
    ), ("s", "t", "u", "v", "M", "j", "k")),
    "lists": (("L, h, D = [u * 1, v * 1], [0.5, s, -1.0], {'p': u + 0.5, 'q': s}", "Z = (s, [t, u * 0.5])"), (
        "L[0], L[1] = L[1], L[0]", "{u} = L[-1] + L[0]", "L = [L[1], {u} * 1]", "h = [q0 * 0.5 for q0 in h]", "s = sum(h) * 0.25", "h[-1] += s", "h[k % 3] = {e}", "L[k % 2] *= 0.5", "L[{i} % 2] = {u} * 0.5", "L[0][{i}] += {e}", "D['p'] = D['p'] * 0.5 + {u}", "D['p'][{i}] = s", "D['q'] = {e}", "s = D['q'] * 0.5",
        "Z = (Z[0] * 0.5, [s, Z[1][1] + 0.25])", "Z[1][0] = t", "Z[1][1][{i}] += {e}", "log.append(s)", "log.append({u}[{i}])", "rows.append({u} * 0.5)", "s = max(h)", "{u} = np.stack(L).sum(0) * 0.5", "h.sort()", "h = h[1:] + h[:1]", "h = sorted(h)", "L = L[::-1]", "(s, t), k = (t, s), k", "s = h[k % 3]", "h = [*h[1:], s]", "D = {**D, 'q': t}", "L[0] = L[1]", "L[1] = {u}", "{u} = L[0]",
    ), ("h[0]", "h[-1]", "L[0]", "L[1] * 1", "D['p']", "D['q']", "Z[0]", "Z[1][1]", "log", "rows")),
    "functions": ((
        "def shift(p, f=0.5):\n    p[1:] += f * p[:-1]\n    return p.sum() * 0.1", "def damped(p, w=None):\n    if w is None:\n        return p * 0.5\n    return p * 0.5 + w",
        "def count():\n    nonlocal s, k\n    s, k = s * 0.5 + 0.1, (k + 1) % N", "half = lambda q0: q0 * 0.5 + t", "def repeat(f0, p, m):\n    for _ in range(m):\n        p = f0(p)\n    return p",
        "def until(p, most):\n    for i0 in range(most):\n        if p > 1:\n            return p, i0\n        p = p * 1.5 + 0.1\n    return p, -1",
    ), (
        "s += shift({u})", "s += shift({u}[::-1], 0.25)", "{u} = damped({w})", "{u} = damped({w}, {u})", "count()", "s = half(s)", "{u} = half({u})", "{u} = repeat(damped, {u}, 2)", "s = repeat(half, s, k % 3)", "t += shift(M[{i}])", "t += shift(M[:, {i}])", "s, k = until(abs(s), 4)", "k %= N",
        "{u} = np.array([half(q0) for q0 in {u}])", "s = sum(map(half, {u})) * 0.1", "{u} = repeat(lambda q0: np.tanh(q0 + s), {u}, k)", "s = (lambda q0: q0 * s)(t)", "t = until({e}, {i})[0]",
    ), ("s", "t", "k", "u", "v", "M")),
    "odd numbers": ((), (
        "{u}[{i}] = np.nan", "{u} = np.nan_to_num({u}, nan=0.5, posinf=1.5, neginf=-0.5)", "{u}[{i}] = np.inf", "s = np.nansum({u})", "t = np.nanmax({u})", "{u} = np.where(np.isnan({u}), 0.25, {u})", "{u} = np.clip({u}, -1, 1)", "{u}[{i}] /= s - s", "b = np.isfinite({u})", "{u}[~np.isfinite({u})] = 0.5", "{u} = np.sort({u})",
        "k = int(np.nanargmin({u}))", "{u} = np.fmax({u}, {w})", "{u} = np.maximum({u}, {w})", "s = {u}.min()", "s = 0.5 if np.isnan(s) else s", "{u} = np.copysign({u}, {w})", "t = np.sqrt(s) if s > 0 else -0.0", "k = int({u}.argmax())", "b = {u} == {u}", "{u} = np.log(np.abs({u}))", "s = np.logaddexp(s, t)", "{u} = np.sign({u})", "{u} = np.hypot({u}, {w})", "{u} = np.sqrt({u})",
        "t = np.prod({u})", "{u} = np.cumprod({u})", "{u} = {w} ** 0.5", "{u} = np.where({w} > 0, {w}, 1) ** -0.5", "s = 0.5 if not np.isfinite(s) else s", "t = 0.5 if not np.isfinite(t) else t", "{u} = np.minimum.accumulate({u})", "b = {u} < {w}", "s = np.median({u})", "e = np.zeros(0)\ns += e.sum()", "{u} = np.concatenate([{u}, np.zeros(0)])", "t = np.array(s)",
    ), ("s", "t", "u", "v", "b", "k", "np.isnan(u).sum()", "np.nansum(v)")),
}  # fmt: skip
FREE = frozenset({"M", "x", "y", "k"})


@final
class _Drawing:
    """One program while it is drawn."""

    def __init__(self, draw: Random) -> None:
        self.draw, self.count = draw, 0
        self.loops: list[str] = []
        self.themes = ["basic", *draw.sample([t for t in THEMES if t != "basic"], draw.choice([1, 1, 2, 3]))]

    def index(self) -> str:
        """An integer from 0 to N - 1."""
        j = self.draw.choice([*self.loops, *self.loops, "k"])
        return self.draw.choice(
            [j, f"({j} + 1) % N", f"(N - 1 - {j})", "0", "N // 2", f"{j} // 2"] if j != "k" else ["k % N"]
        )

    def number(self, depth: int = 1) -> str:
        """A float."""
        draw = self.draw
        leaves = ("s", "t", "a", "0.5", "-0.25", "u[{i}]", "v[{i}]", "M[{i}, {i}]", "x[{i}]", "y[{i}]")
        text = draw.choice(leaves if not depth or draw.random() < 0.6 else ("({e} - 0.5 * {e})", "np.tanh({e})", "({e} * {e})", "np.cos({e} * 2)", "0.1 * {u}.sum()", "abs({e})", "({e} if {e} > 0.1 else {e})"))  # fmt: skip
        return self.filled(text, depth - 1)

    def filled(self, text: str, depth: int = 1) -> str:
        """A template with what stands in braces drawn."""
        makers = {"{i}": self.index, "{j}": self.index, "{e}": lambda: self.number(depth), "{u}": lambda: self.draw.choice("uuv"), "{w}": lambda: self.draw.choice(["u", "v", "v", "x", "y"])}  # fmt: skip
        for field, make in makers.items():
            while field in text:
                text = text.replace(field, make(), 1)
        return text

    def plain(self) -> tuple[Statement, ...]:
        """A line of one of the themes."""
        theme = self.draw.choice([*self.themes, *self.themes[1:]])
        return tuple([Statement(line) for line in self.filled(self.draw.choice(THEMES[theme][1])).split("\n")])

    def condition(self) -> str:
        """A condition."""
        return self.filled(self.draw.choice(["{e} > {e}", "{e} < 0.31", "{i} % 2 == 0", "k > 1", "np.any({u} > 0.7)", "s * s > 0.2 and {e} > 0.1", "{i} > 1 or {e} > 0.17", "not {e} > 0.4", "b[{i}]", "np.all({u} < {e})"]))  # fmt: skip

    def block(self, depth: int) -> tuple[Statement, ...]:
        """A few statements."""
        return tuple([s for _ in range(self.draw.choice([1, 2, 2, 3, 4])) for s in self.statement(depth)])

    def statement(self, depth: int) -> tuple[Statement, ...]:
        """A statement, with those inside it."""
        kind = self.draw.random()
        if kind < 0.55 or not depth:
            return self.plain()
        if kind < 0.62 and self.loops:
            return (Statement(f"if {self.condition()}:", (Statement(self.draw.choice(["break", "continue"])),)),)
        if kind < 0.76:
            head, body = f"if {self.condition()}:", self.block(depth - 1)
            return (
                Statement(head, body, "else:", self.block(depth - 1))
                if self.draw.random() < 0.5
                else Statement(head, body),
            )
        return self.loop(depth)

    def loop(self, depth: int) -> tuple[Statement, ...]:
        """A `for` whose index is one of an array, or a `while`."""
        self.count += 1
        name = f"i{self.count}"
        if self.draw.random() < 0.15:
            test = self.draw.choice(
                [f"{name} < N - 1", f"{name} < 4 and ({self.condition()})", f"abs(s) < 2 and {name} < 6"]
            )
            step = Statement(f"{name} = {name} + 1", is_step=True)
            self.loops.append(f"({name} % N)")
            body = (step, *self.block(depth - 1))
            self.loops.pop()
            return (Statement(f"{name} = 0"), Statement(f"while {test}:", body))
        inner = (
            [f"range({self.loops[-1]} + 1)", f"range({self.loops[-1]}, N)", f"range({self.loops[-1]})"]
            if self.loops
            else []
        )
        items = self.draw.choice(
            [
                *[
                    "range(N)",
                    "range(1, N)",
                    "range(N - 1, -1, -1)",
                    "range(min(n, N))",
                    "range(0, N, 2)",
                    "range(min(3, N))",
                ],
                *inner,
                *inner,
            ]
        )
        self.loops.append(name)
        body = self.block(depth - 1)
        self.loops.pop()
        return (Statement(f"for {name} in {items}:", body),)


def mixed(seed: int) -> Flow:
    """The random program of a seed."""
    draw = Random(f"mixed {seed}")
    made, size = _Drawing(draw), draw.choice(SIZES)
    body = list[Statement]()
    while not any([s.body for s in body]):
        body += made.statement(3 if size < 9 else 2)
    heads = [
        *HEAD,
        "p = (np.arange(N) * 2) % N",
        "log, rows = [], []",
        *[line for theme in made.themes for line in THEMES[theme][0]],
    ]
    head = [_defined(text) for text in heads]
    results = [r for theme in made.themes for r in THEMES[theme][2]]
    results = sorted({r for r in results if draw.random() < 0.4}) or ["s", "u"]
    layouts = (draw.choice(LAYOUTS), draw.choice(LAYOUTS))
    return replace(Flow(draw.choice(DTYPES), (*head, *body), tuple(results), seed, (size,)), layouts=layouts)


def _defined(text: str) -> Statement:
    """A line, or a function of lines that are indented in the text already."""
    head, *body = text.split("\n")
    return Statement(head, tuple([Statement(line[4:]) for line in body]))
