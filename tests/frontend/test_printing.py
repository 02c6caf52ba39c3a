"""What a traced function prints: what Python prints, at every call, in order."""

from __future__ import annotations

import builtins
import contextlib
import csv
import functools
import io
import queue
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedValueError, UnsupportedError

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


def by_other_names(x: Any) -> Any:
    log, show = print, functools.partial(print, "value:", end="|\n")
    log(x[0])
    show(x[1])
    builtins.print(*x, sep=", ")
    return x


def of_constants(x: Any) -> Any:
    print("called")
    print("called")
    return x + 1


def one_of_two(x: Any) -> Any:
    names = ["a", "b", "c"]
    message = "fine"
    if x[0] < 0:
        message = "negative"
    print("positive" if x[0] > 0 else "negative", message, names[x.argmax()], [message])
    print(f"{'PASS' if x[0] > 0 else 'FAIL':>8}: {x[0]:.2f}")
    best = None
    for n, v in enumerate(x):
        if v < 0:
            best = n
    print(best, f"{best}", [best])
    print("big" if x.sum() > 2 else f"small {x.sum():.1f}")
    return x


def of_some_length(x: Any) -> Any:
    y = x[x > 0]
    print(y, len(y), f"{y}", [y], np.nonzero(x > 0)[0])
    history = []
    for i in range(3):
        history.append(x.sum() * i)
        print(history)
    return y.sum()


def padded(x: Any) -> Any:
    s = f"{x[0]:.1f}%"
    print(f"{s:>10}|", "%10s|" % s, f"{f'{x[1]:.2f}' + '!':*^12}", "%-9s|%5d" % (f"{x[2]}", 3))  # noqa: UP031
    print(x[0], x[1], sep=f" <{x[2]:.0f}> ", end=f" {x[0]}\n")
    return x


def caught(x: Any) -> Any:
    y = x[0]
    try:
        if y < -1:
            raise ValueError("small")
        print("not small")
    except ValueError as error:
        print("caught", error)
        y = y * 0
    return y


PROGRAMS = (
    plain_values, formatted, containers, updated, looped, while_looped, left_early, in_other_functions, with_draws,
    of_constants, one_of_two, of_some_length, padded, caught,
    by_other_names,
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
        with pytest.raises(ValueError, match=r"positive: 0\.5"):
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


def checked(x: Any) -> Any:
    if x[0] < 0:
        scaled = x * 2
        print("ERROR: negative", scaled[0])
        print("twice", file=sys.stderr)
        raise ValueError(f"negative: {x[0]:.3f}")
    return np.sqrt(x[0])


def test_what_is_printed_before_an_error_where_it_is_raised(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("start")
        y = checked(x)
        print("root", y)
        for n, v in enumerate(x):
            if n == 2 and v > 2:
                print("too large", v)
                raise KeyError("large")
            print(n)
        return y

    compiled = pliant.jit(f)
    for x in (np.ones(3), np.ones(3), -X, np.ones(3), X, np.ones(3), -X, X):
        results = list[Any]()
        for call in (f, compiled):
            try:
                call(x)
            except (ValueError, KeyError) as error:
                results.append((type(error), str(error)))
            results.append(capsys.readouterr())
        assert results[: len(results) // 2] == results[len(results) // 2 :]


def test_what_is_printed_before_it_cannot_be_traced(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("shape", x.shape, x[0])
        return x @ np.ones(4)

    with pytest.raises(ValueError, match="matmul"):
        pliant.jit(f)(X)
    assert capsys.readouterr().out == "shape (3,) <traced f64[]>\n"


def test_text_of_an_exception_that_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        try:
            if x[0] < 0:
                raise ValueError(f"neg {x[0]:.2f}")
            print("after")
        except ValueError as error:
            print("caught", error)
        return x[0]

    assert pliant.jit(f)(-X) == -0.5
    assert capsys.readouterr().out in ("caught neg …\n", "caught neg -0.50\n")


def test_text_of_another_call(capsys: pytest.CaptureFixture[str]) -> None:
    kept = ["<traced f64[] #0>"]

    def f(x: Any) -> Any:
        print(kept[0], f"{x[0]}", "<traced f64[] #99999999>")
        return x

    assert printed_by(capsys, pliant.jit(f), X) == printed_by(capsys, f, X)


def test_output_that_is_redirected_inside() -> None:
    def f(x: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            print(x)
        return x

    with pytest.raises(pliant.PliantError, match="print to a file of its own"):
        pliant.jit(f)(X)


def test_output_that_is_redirected_outside() -> None:
    compiled = pliant.jit(of_constants)
    for _ in range(3):
        with contextlib.redirect_stdout(io.StringIO()) as file:
            compiled(X)
        assert file.getvalue() == "called\ncalled\n"


@pytest.mark.parametrize("options", [{"sep": 1}, {"end": 2.5}, {"wrong": 1}])
def test_options_that_are_wrong(options: dict[str, Any]) -> None:
    def f(x: Any) -> Any:
        print(x, **options)
        return x

    with pytest.raises(TypeError) as wanted:
        f(X)
    with pytest.raises(TypeError, match=str(wanted.value)):
        pliant.jit(f)(X)


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


def to_streams(x: Any) -> Any:
    write = sys.stdout.write
    for n, v in enumerate(x):
        if v > 0:
            sys.stdout.write(f"{n}: {v:.1f} ")
            sys.stdout.flush()
        else:
            sys.stderr.write(f"bad {v}\n")
    write("end\n")
    return x


def test_what_is_written_to_the_streams(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = pliant.jit(to_streams)
    for x in (X, -X, X):
        assert printed_by(capsys, compiled, x) == printed_by(capsys, to_streams, x)


def counted(x: Any) -> Any:
    n = sys.stdout.write("abc\n")
    sys.stdout.writelines(["one", f"{x[0]}\n"])
    for v in x:
        _ = sys.stdout.write(f"{v}\n")
    return x.sum() + n + sys.stdout.write(" " * len(x))


def test_write_returns_the_number_of_characters(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = pliant.jit(counted)
    for x in (X, -X, X):
        assert compiled(x) == counted(x)
        out = capsys.readouterr().out
        assert out[: len(out) // 2] == out[len(out) // 2 :]


@pytest.mark.parametrize(
    "use", [lambda n: n + 1, lambda n: 2 - n, lambda n: n > 3, bool, int, str, lambda n: f"{n}", lambda n: {n: 1}]
)
def test_the_number_of_characters_that_are_known_at_run_time(use: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        use(sys.stdout.write(f"{x[0]}"))
        return x

    with pytest.raises(TracedValueError, match=r"^the number of characters that were written is needed") as caught:
        pliant.jit(f)(X)
    assert "hint: do not use what write returns" in str(caught.value)
    assert "^" in str(caught.value)


def test_what_is_no_text_is_not_written() -> None:
    def f(x: Any) -> Any:
        sys.stdout.write(3)  # type: ignore[arg-type]
        return x

    for call in (f, pliant.jit(f)):
        with pytest.raises(TypeError, match="argument must be str, not int"):
            call(X)


OUTPUT, QUEUE = io.StringIO(), queue.Queue[Any]()


@pytest.mark.parametrize(
    ("write", "what"),
    [
        (lambda x: OUTPUT.write(f"{x.sum():.3f}"), ".write of a StringIO"),
        (lambda x: OUTPUT.writelines([f"{v:.3f}" for v in x]), ".writelines of a StringIO"),
        (lambda x: csv.writer(OUTPUT).writerow([1, x.sum()]), ".writerow of a writer"),
        (lambda x: io.BytesIO().write(x), ".write of a BytesIO"),
        (lambda x: Path("nothing").write_text(f"{x}"), r".write_text of a \w*Path"),
        (lambda x: QUEUE.put(x.sum()), ".put of a Queue"),
    ],
)
def test_what_is_written_to_others_is_refused(write: Callable[..., Any], what: str) -> None:
    def f(x: Any) -> Any:
        write(x)
        return x

    with pytest.raises(UnsupportedError, match=rf"^{what} inside a traced function is called while tracing") as caught:
        pliant.jit(f)(X)
    assert "hint: print(...) and sys.stdout.write print at every call" in str(caught.value)
    assert not OUTPUT.getvalue()


def test_what_is_known_may_be_written() -> None:
    output = io.StringIO()

    def f(x: Any) -> Any:
        output.write(f"{x.shape} ")
        return x

    compiled = pliant.jit(f)
    compiled(X)
    compiled(X)
    assert output.getvalue() == "(3,) (3,) "


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


def test_a_function_with_a_derivative_of_its_own_shows_what_is_traced(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("x is", x)
        return x * 2

    pliant.jit(pliant.custom_derivative(f, jvp=lambda xs, dxs: 2 * dxs[0]))(X)
    assert "x is <traced f64[3]>\n" in capsys.readouterr().out


def test_what_nobody_wants_is_printed_and_computed(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print(np.linalg.norm(x), np.sort(x), x.argmax())
        return 1.0

    assert printed_by(capsys, pliant.jit(f), X) == printed_by(capsys, f, X)


def test_a_program_that_prints_can_be_read_back() -> None:
    text = str(pliant.trace(formatted, X))
    assert str(pliant.parse(text)) == text
