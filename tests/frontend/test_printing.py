"""What a traced function prints: what Python prints, at every call, in order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([0.5, -1.25, 3.0])


def plain_values(x: Any) -> Any:
    print(x, x[0], x[1:], x.astype(np.float32)[1], x > 0, (x > 0)[0], x * 1j, x[0] * 1j, x.astype(int)[2])
    print(float(x[0]), int(x[2]), bool(x[0] > 0), complex(x[0]), len(x), x.shape, x.dtype, None, "text")
    print()
    print("a", x[0], sep="|", end="!\n", flush=True)
    print(x.reshape(3, 1), np.zeros((2, 2)) + x[0])
    return x + 1


def formatted(x: Any) -> Any:
    total, n = x.sum(), int(x[2])
    print(f"sum {total:.3f} {total:>12.2e} {total!r} {total!s:>8}| {n} {n:04d} {n:x} {x[0] > 0}")
    print(f"{total=} {total=:.2f} {n=} {x=}")
    print("%.2f and %5d, %s %r %d%%" % (total, n, x, total, 7), "%g" % total, "%(a)s %(b).1f" % {"a": n, "b": total})  # noqa: UP031
    print("{:.3f} {1} {0!r}".replace("{:", "{0:").format(total, n), "{a:.1f}".format(a=total))  # noqa: UP032
    print(", ".join([f"{v:.2f}" for v in x]), "sum: " + str(total), "=" * 5 + f"{n}")
    width = 12
    print(f"{total:{width}.{len(x)}f}|")
    return total


def containers(x: Any) -> Any:
    rows = [x[0], float(x[1])]
    print(rows, (x[0],), {"a": x[0], "b": [x]}, [f"{x[0]}"], {"n": int(x[2])})
    rows.append(x[2])
    print(rows)
    return x


def updated(x: Any) -> Any:
    y = x.copy()
    message = f"before: {y}"
    y[0] = 7
    print(message, "after:", y)
    y *= 2
    print(y)
    return y


def looped(x: Any) -> Any:
    total = 0.0
    for i in range(4):
        total += np.sin(x).sum() * i
        print(f"step {i}: {total:.4f}")
        if total > 1:
            print("large at", i, x * i)
        elif i == 2:
            print("small")
    print("done")
    return total


def while_looped(x: Any) -> Any:
    steps = 0
    while np.abs(x).sum() < 100:
        x = x * 1.5
        steps += 1
        if steps % 3 == 0:
            print("after", steps, "steps:", x)
            continue
        for k in range(2):
            print(" ", k, x[k])
    print("out", steps)
    return x


def left_early(x: Any) -> Any:
    for v in x:
        if v < 0:
            print("negative:", v)
            break
        print("fine:", v)
    else:
        print("never")
    return x


def helper(v: Any, *, name: str = "v") -> Any:
    print(name, "is", v)
    return v * 2


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        print(f"scale {self.scale} of {x.mean():.2f}")
        return self.scale * x


def in_other_functions(x: Any) -> Any:
    made = [helper(v, name=f"part {n}") for n, v in enumerate(x)]
    return Model(2.5)(x).sum() + sum(made)


def with_draws(x: Any) -> Any:
    rng = np.random.default_rng(int(x[2]))
    for _ in range(3):
        print(rng.normal(), rng.integers(10))
    return x


def of_constants(x: Any) -> Any:
    print("called")
    print("called")
    return x + 1


PROGRAMS = (
    plain_values, formatted, containers, updated, looped, while_looped, left_early, in_other_functions, with_draws,
    of_constants,
)  # fmt: skip


def printed_by(capsys: pytest.CaptureFixture[str], f: Callable[..., Any], *args: Any) -> tuple[str, str]:
    f(*args)
    return capsys.readouterr()


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_printed_at_every_call(capsys: pytest.CaptureFixture[str], f: Any, backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in (X, X[::-1].copy() + 2.5, np.abs(X)):
        want = printed_by(capsys, f, x)
        assert printed_by(capsys, compiled, x) == want


@pytest.mark.parametrize("f", [looped, in_other_functions, formatted])
def test_a_derivative_prints_once(capsys: pytest.CaptureFixture[str], f: Any) -> None:
    want = printed_by(capsys, f, X)
    for transform in (pliant.grad, pliant.value_and_grad):
        compiled = pliant.jit(transform(f))
        for _ in range(2):
            assert printed_by(capsys, compiled, X) == want


def test_a_gradient_is_the_same() -> None:
    def silent(x: Any) -> Any:
        total = 0.0
        for i in range(4):
            total += np.sin(x).sum() * i
        return total

    np.testing.assert_array_equal(pliant.grad(looped)(X), pliant.grad(silent)(X))


@pytest.mark.parametrize("f", [looped, while_looped, left_early])
def test_rows_of_a_batch_print_in_turn(capsys: pytest.CaptureFixture[str], f: Any) -> None:
    rows = np.stack((X, X[::-1], X + 1))
    want = printed_by(capsys, lambda rows: [f(row) for row in rows], rows)
    assert printed_by(capsys, pliant.vmap(f), rows) == want


def test_errors_and_what_comes_before_them(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("begin")
        if x[0] > 0:
            raise ValueError(f"positive: {x[0]:.1f}")
        print("not positive")
        return x

    compiled = pliant.jit(f)
    for call in (f, compiled, compiled):
        with pytest.raises(ValueError, match="positive: "):
            call(X)
        assert capsys.readouterr().out == "begin\n"
        call(-X)
        assert capsys.readouterr().out == "begin\nnot positive\n"


def test_nothing_is_printed_after_an_error_in_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        for n, v in enumerate(x):
            print(n)
            if v < 0:
                raise ValueError("negative")
            print(v)
        print("end")
        return x

    compiled = pliant.jit(f)
    for call in (f, compiled, pliant.grad(lambda x: f(x).sum())):
        with pytest.raises(ValueError, match="negative"):
            call(X)
        assert capsys.readouterr().out == "0\n0.5\n1\n"


def test_the_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("wrong:", x[0], file=sys.stderr)
        print("right:", x[1], file=sys.stdout)
        return x

    assert printed_by(capsys, pliant.jit(f), X) == printed_by(capsys, f, X)


@pytest.mark.parametrize("template", ["%d", "%d %d %d", "%z %d", "%d %"])
def test_templates_that_are_wrong(template: str) -> None:
    def f(x: Any) -> Any:
        print(template % (x[0], x[1]))
        return x

    with pytest.raises((TypeError, ValueError)) as wanted:
        f(X)
    with pytest.raises(type(wanted.value), match=str(wanted.value)[:30]):
        pliant.jit(f)(X)


def test_a_precision_of_run_time() -> None:
    def f(x: Any) -> Any:
        print(f"{x[0]:.{int(x[2])}f}")
        return x

    with pytest.raises(pliant.PliantError, match="Python needs a format") as caught:
        pliant.jit(f)(X)
    assert "^" in str(caught.value)


def test_a_file_of_its_own(tmp_path: Any) -> None:
    with (tmp_path / "file").open("w") as file:

        def f(x: Any) -> Any:
            print(x, file=file)
            return x

        with pytest.raises(pliant.PliantError, match="print to a file of its own") as caught:
            pliant.jit(f)(X)
    assert "print(x, file=file)" in str(caught.value)


def test_printing_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        print(x)
        return x

    class Broken:
        def write(self, text: str) -> None:
            raise BrokenPipeError(text)

    compiled = pliant.jit(f)
    compiled(X)
    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(BrokenPipeError):
        compiled(X)


def test_the_body_of_a_loop_that_is_a_function_shows_what_is_traced(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            print("y is", y)
            return y * 2

        return pliant.fori_loop(0, 3, body, x)

    pliant.jit(f)(X)
    assert "y is <traced f64[3]" in capsys.readouterr().out


def test_what_nobody_wants_is_printed_and_computed(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print(np.linalg.norm(x), np.sort(x), x.argmax())
        return 1.0

    assert printed_by(capsys, pliant.jit(f), X) == printed_by(capsys, f, X)


def test_a_program_that_prints_can_be_read_back() -> None:
    text = str(pliant.trace(formatted, X))
    assert str(pliant.parse(text)) == text
