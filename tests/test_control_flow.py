"""Loops and branches said outright: the same inside and outside of tracing, on containers, with
promotion, under derivatives and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 1.5, (5, 3))


def same(f: Any, *args: Any) -> Any:
    """f run by Python, which must be what f compiled gives."""
    import optree

    wanted = f(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in args])
    for backend in ("reference", "llvm"):
        got = pliant.jit(f, backend=backend)(*args)
        leaves, structure = optree.tree_flatten(got)
        expected, wanted_structure = optree.tree_flatten(wanted)
        assert structure == wanted_structure
        for a, b in zip(leaves, expected, strict=True):
            assert type(a) is type(b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-12)
    return wanted


def rnn(weights: dict[str, Any], xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        new = np.tanh(weights["w"] @ h + x)
        return new, np.sum(new * new)

    last, energies = pliant.scan(step, np.zeros(3), xs)
    return np.sum(last) + np.mean(energies)


WEIGHTS = {"w": RNG.normal(size=(3, 3)) * 0.5}


def test_scan_is_the_same_inside_and_outside_of_tracing() -> None:
    same(rnn, WEIGHTS, X)
    check_gradient(rnn, WEIGHTS, X)
    check_gradient(rnn, WEIGHTS, X, argnums=1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_containers_are_state(steps: int, reverse: bool) -> None:
    def f(a: Any, xs: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            x, y = row
            new = {"sum": state["sum"] + x * a, "all": (state["all"][0] * y, state["all"][1] + 1)}
            return new, (new["sum"], [x - y])

        start = {"sum": np.zeros(3), "all": (np.ones(3), 0)}
        return pliant.scan(step, start, (xs, 2 * xs), reverse=reverse)

    same(f, 1.5, X[:steps])


def test_python_numbers_take_the_types_they_meet() -> None:
    def f(x: Any) -> Any:
        single = pliant.scan(lambda total, y: (total + y, None), 0, x.astype(np.float32))[0]
        whole = pliant.fori_loop(0, 3, lambda i, n: n + i, 0)
        mixed = pliant.fori_loop(0, 3, lambda i, n: n * x[i], 2)
        return single, whole, mixed

    single, whole, mixed = same(f, X[:, 0])
    assert single.dtype == np.float32
    assert type(whole) is int
    assert mixed.dtype == np.float64


def test_what_changes_its_type_is_named() -> None:
    def shapes(x: Any) -> Any:
        return pliant.scan(lambda u, y: ({"u": np.sum(u["u"])}, None), {"u": x}, x)

    with pytest.raises(ShapeError, match=r"the state\['u'\] enters as f64\[3\] but leaves as f64\[\]"):
        pliant.jit(shapes)(np.ones(3))

    def types(x: Any) -> Any:
        return pliant.fori_loop(0, 3, lambda i, n: n * 0.5, x)

    with pytest.raises(DTypeError, match=r"enters as i64\[3\] but leaves as f64\[3\]"):
        pliant.jit(types)(np.arange(3))
    with pytest.raises(ArgumentError, match="leaves as"):
        pliant.jit(lambda x: pliant.fori_loop(0, 3, lambda i, n: (n, n), x))(1.0)


def test_writes_inside_stay_inside() -> None:
    def f(x: Any) -> Any:
        def step(u: Any, y: Any) -> Any:
            u[0] += y
            return u, u[0]

        return pliant.scan(step, x, x), x

    x = np.arange(1.0, 4.0)
    same(f, x)
    np.testing.assert_array_equal(x, [1, 2, 3])


TABLE = np.arange(5.0)


def test_captured_arrays_are_read_at_every_call() -> None:
    def f(x: Any) -> Any:
        return pliant.fori_loop(0, 5, lambda i, total: total + x * TABLE[i], 0.0)

    jitted = pliant.jit(f)
    assert jitted(2.0) == 20.0
    TABLE[0] = 5.0
    assert jitted(2.0) == 30.0
    TABLE[0] = 0.0


def test_bounds_known_at_run_time() -> None:
    def f(n: Any, x: Any) -> Any:
        return pliant.fori_loop(n - 2, n, lambda i, y: y * x + i, 1.0)

    same(f, 4, 1.5)
    y, dy = pliant.jvp(lambda x: f(4, x), (1.5,), (1.0,))
    np.testing.assert_allclose([y, dy], [1.5 * 1.5 + 2 * 1.5 + 3, 2 * 1.5 + 2])


def sqrt(a: Any, max_steps: int | None = None) -> Any:
    def going(state: Any) -> Any:
        x, _ = state
        return np.abs(x * x - a) > 1e-12

    return pliant.while_loop(going, lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1), (a, 0), max_steps=max_steps)


def test_while_loops_end_by_their_condition() -> None:
    same(sqrt, 3.0)
    batch, counts = pliant.vmap(sqrt)(np.array([1.0, 2.0, 100.0]))
    np.testing.assert_allclose(batch, np.sqrt([1, 2, 100]))
    assert counts.tolist() == [sqrt(a)[1] for a in (1.0, 2.0, 100.0)]


def test_while_loops_have_a_reverse_mode() -> None:
    np.testing.assert_allclose(pliant.grad(lambda a: sqrt(a)[0])(3.0), 0.5 / np.sqrt(3))
    np.testing.assert_allclose(pliant.hessian(lambda a: sqrt(a)[0])(3.0), -0.25 * 3**-1.5)
    slopes = pliant.vmap(pliant.grad(lambda a: sqrt(a)[0]))(np.array([2.0, 400.0]))
    np.testing.assert_allclose(slopes, [0.5 / np.sqrt(2), 0.5 / 20])


def test_while_loops_stop_after_the_most_steps() -> None:
    bounded = lambda a: sqrt(a, 20)[0]  # noqa: E731
    same(lambda a: sqrt(a, 20), 3.0)
    np.testing.assert_allclose(pliant.grad(bounded)(3.0), 0.5 / np.sqrt(3))
    np.testing.assert_allclose(pliant.vmap(pliant.grad(bounded))(np.array([2.0, 4.0])), [0.5 / np.sqrt(2), 0.25])
    assert same(lambda a: sqrt(a, 2), 3.0)[1] == 2


def adaptive(rate: Any) -> Any:
    """y' = -rate·y over [0, 1] by Heun's method, with steps that halve and grow by the error."""

    def step(state: Any) -> Any:
        t, y, h = state
        h = np.minimum(h, 1.0 - t)
        slope = -rate * y
        ahead = y + h * slope
        after = y + 0.5 * h * (slope - rate * ahead)
        error = np.abs(after - ahead)

        def accept(t: Any, y: Any, h: Any) -> Any:
            return t + h, after, 1.5 * h

        return pliant.cond(error < 1e-3, accept, lambda t, y, h: (t, y, 0.5 * h), t, y, h)

    return pliant.while_loop(lambda s: s[0] < 1.0, step, (0.0, 1.0, 0.3))[1]


def test_adaptive_steps_have_the_gradient_of_differences() -> None:
    same(adaptive, 2.0)
    step = 1e-6  # so small that the same steps are accepted
    slope = (adaptive(2.0 + step) - adaptive(2.0 - step)) / (2 * step)
    np.testing.assert_allclose(pliant.grad(adaptive)(2.0), slope, rtol=1e-6)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 17])
@pytest.mark.parametrize("most", [None, 20])
def test_loops_of_a_traced_number_of_steps_have_gradients(n: int, most: int | None) -> None:
    def f(n: Any, x: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            y[i % 3] = y[(i + 1) % 3] * np.sin(x[i % 3]) + 0.1
            return y

        return np.sum(pliant.fori_loop(0, n, step, x * x, max_steps=most) ** 2)

    x = np.array([0.3, 0.8, 1.2])
    same(f, n, x)
    check_gradient(f, n, x, argnums=1)
    batch = pliant.vmap(pliant.grad(f, argnums=1))(np.array([n, 4]), np.stack([x, x]))
    np.testing.assert_allclose(batch[0], pliant.grad(f, argnums=1)(n, x))


@pytest.mark.parametrize("stop", [0, 3, 30])
@pytest.mark.parametrize("most", [0, 2, 20])
def test_a_loop_ends_at_its_bound_and_at_its_limit(stop: int, most: int) -> None:
    def known(x: Any) -> Any:
        return pliant.fori_loop(1, stop, lambda i, y: y + i, x, max_steps=most)

    def traced(n: Any, x: Any) -> Any:
        return pliant.fori_loop(1, n, lambda i, y: y + i, x, max_steps=most)

    expected = 0.5 + sum(range(1, stop)[:most])
    assert known(0.5) == pliant.jit(known)(0.5) == pliant.jit(traced)(np.array(stop), 0.5) == expected


def branches(p: Any, x: Any) -> Any:
    return pliant.cond(p, lambda x: (np.sin(x), 0), lambda x: (x * x, np.sum(x)), x)


def test_branches_promote_their_results() -> None:
    jitted = pliant.jit(branches)
    for p in (True, False):
        y, n = jitted(p, X[0])
        np.testing.assert_allclose(y, branches(p, X[0])[0])
        assert n.dtype == np.float64
    check_gradient(lambda x: np.sum(branches(True, x)[0]), X[0])
    check_gradient(lambda x: np.sum(branches(x[0] > 9, x)[0] * 2), X[0])


def first_set(a: Any) -> Any:
    a[0] = 1.0
    return a * 2


def last_set(a: Any) -> Any:
    a[-1] += 2.0
    return a + 1


WRITERS: list[Any] = [
    (lambda y, i: pliant.cond(i > 0, first_set, last_set, y)),
    (lambda y, i: pliant.cond(i > 0, first_set, np.negative, y)),
    (lambda y, i: pliant.cond(i > 0, np.negative, last_set, y[::2])),
    (lambda y, i: pliant.cond(i > 0, lambda d: first_set(d["y"]), lambda d: d["y"] * d["i"], {"y": y, "i": i})),
    (lambda y, i: pliant.switch(i, [first_set, last_set, np.negative], y)),
    (lambda y, i: [pliant.cond(y[0] > n, first_set, last_set, y) for n in range(2)]),
]


@pytest.mark.parametrize("f", WRITERS)
def test_what_a_branch_writes_to_its_operands_is_written_as_in_an_if(f: Any) -> None:
    def run(f: Any, i: int) -> Any:
        y = np.arange(4.0)
        return f(y, i), y

    for i in range(3):
        wanted, y = run(f, i)
        made, left = run(pliant.jit(f), i)
        np.testing.assert_array_equal(made, wanted)
        np.testing.assert_array_equal(left, y)
    check_gradient(lambda y: np.sum(np.asarray(f(y, 1)) * 3) + np.sum(y * y), np.arange(4.0) + 0.5)


def test_a_branch_that_writes_is_a_selection_of_elements_in_a_batch() -> None:
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    made, left = pliant.vmap(lambda y: (pliant.cond(y[0] > 0, first_set, last_set, y), y))(rows)
    np.testing.assert_array_equal(made, [[2, 0], [0, 3]])
    np.testing.assert_array_equal(left, [[1, 0], [-1, 2]])


@pytest.mark.parametrize(
    "f",
    [
        lambda y: pliant.cond(y[0] > 0, lambda a, b: first_set(a), lambda a, b: b * 1, y, y),
        lambda y: pliant.cond(y[0] > 0, lambda a: first_set(a) + y, np.negative, y),
        lambda y: pliant.cond(y[0] > 0, lambda a: first_set(a) + y[:2], lambda a: a * 1, y[:2]),
    ],
)
def test_a_branch_that_writes_to_what_it_has_by_two_names_is_refused(f: Any) -> None:
    message = r"a branch writes to an operand whose memory it also has by another name\n.*here\n(.|\n)*hint: pass each"
    with pytest.raises(UnsupportedError, match=message):
        pliant.jit(f)(np.ones(3))


def test_branches_that_disagree_are_named() -> None:
    with pytest.raises(ShapeError, match=r"result 0 is f64\[\] in one branch and f64\[3\] in the other"):
        pliant.jit(lambda p, x: pliant.cond(p, np.sum, np.sin, x))(True, X[0])
    with pytest.raises(ArgumentError, match="one branch returns"):
        pliant.jit(lambda p, x: pliant.cond(p, lambda x: (x, x), np.sin, x))(True, X[0])
    with pytest.raises(ShapeError, match="one condition"):
        pliant.jit(lambda p, x: pliant.cond(p, np.cos, np.sin, x))(np.array([True]), X[0])


def test_switch_takes_the_nearest_branch() -> None:
    def f(i: Any, x: Any) -> Any:
        return pliant.switch(i, [np.sin, np.cos, lambda x: np.multiply(x, 2.0), np.exp, np.sqrt], x)

    for i in (-3, 0, 1, 2, 3, 4, 9):
        np.testing.assert_allclose(
            same(f, i, 0.7), [np.sin, np.cos, lambda x: x * 2, np.exp, np.sqrt][np.clip(i, 0, 4)](0.7)
        )
    np.testing.assert_allclose(pliant.grad(f, 1)(2, 0.7), 2.0)
    np.testing.assert_allclose(pliant.vmap(f, (0, None))(np.array([0, 2]), 0.7), [np.sin(0.7), 1.4])


def test_map_and_reduce() -> None:
    same(lambda x: pliant.map(lambda row: (np.sum(row), row * 2), x), X)
    same(lambda x: pliant.reduce(lambda total, row: np.maximum(total, row), np.zeros(3), x), X)
    check_gradient(lambda x: np.sum(pliant.map(lambda row: np.prod(row), x)), X)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_associative_scans_combine_the_rows_so_far(n: int, reverse: bool) -> None:
    matrices = RNG.normal(size=(n, 2, 2))

    def f(xs: Any) -> Any:
        return pliant.associative_scan(np.matmul, xs, reverse=reverse)

    wanted, total = [], None
    for m in matrices[:: -1 if reverse else 1]:
        total = m if total is None else (m @ total if reverse else total @ m)
        wanted.append(total)
    np.testing.assert_allclose(same(f, matrices), np.stack(wanted[:: -1 if reverse else 1]))


def test_associative_scans_keep_the_shapes_of_rows() -> None:
    for run in (pliant.associative_scan, lambda f, x: pliant.jit(lambda x: pliant.associative_scan(f, x))(x)):
        with pytest.raises(ShapeError, match=r"stacks of rows enter as f64\[2\] but leave as f64\[1\]"):
            run(lambda a, b: a[:1], np.ones(5))
        with pytest.raises(ShapeError, match=r"stacks of rows enter as f64\[2, 3\] but leave as f64\[\]"):
            run(lambda a, b: np.sum(a + b), np.ones((4, 3)))
        with pytest.raises(ArgumentError, match=r"rows enter as \* but leave as \(\*, \*\)"):
            run(lambda a, b: (a, b), np.ones(5))


LAWS = {
    "scan": lambda x: np.sum(pliant.scan(lambda c, r: (np.sin(c) + r, c * r), np.ones(3), x)[1]),
    "fori_loop": lambda x: np.sum(pliant.fori_loop(1, 4, lambda i, c: c * np.cos(x[i]) + x[i - 1], x[0])),
    "nested": lambda x: pliant.fori_loop(
        0, 3, lambda i, s: s + pliant.fori_loop(0, 2, lambda j, t: np.sin(t) * x[i, j], s), np.sum(x[0])
    ),
    "cond in a loop": lambda x: pliant.fori_loop(
        0, 5, lambda i, s: pliant.cond(s > 2.0, lambda s: s * 0.5, lambda s: s + np.sum(x[i]) ** 2, s), 1.0
    ),
    "written carry": lambda x: np.sum(
        pliant.fori_loop(0, 4, lambda i, u: pliant.at(u, i).set(np.sum(u) * x[i]), x * 1.0)[1]
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_derivatives_and_batches_compose(name: str) -> None:
    f = LAWS[name]
    same(f, X)
    check_gradient(f, X)
    v = RNG.normal(size=X.shape)
    gradient = pliant.grad(f)
    eps = 1e-6
    slope = (gradient(X + eps * v) - gradient(X - eps * v)) / (2 * eps)
    np.testing.assert_allclose(pliant.hvp(f)(X, v), slope, rtol=1e-4, atol=1e-6)
    batch = np.stack([X, 0.9 * X])
    np.testing.assert_allclose(pliant.vmap(gradient)(batch), np.stack([gradient(b) for b in batch]))
    total = pliant.grad(lambda b: np.sum(pliant.vmap(f)(b)))
    np.testing.assert_allclose(total(batch), np.stack([gradient(b) for b in batch]))


def leapfrog(i: Any, state: Any) -> Any:
    x, v = state
    v = v - 0.05 * np.sin(x)
    return x + 0.05 * v, v


def undone(i: Any, state: Any) -> Any:
    x, v = state
    x = x - 0.05 * v
    return x, v + 0.05 * np.sin(x)


SAVES = ["store", "carry", "sqrt", pliant.treeverse(12), pliant.reversible(undone)]


@pytest.mark.parametrize("save", SAVES, ids=lambda save: save if isinstance(save, str) else type(save).__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 50])
def test_gradients_are_the_same_whatever_is_kept(save: Any, n: int) -> None:
    def f(x: Any, v: Any) -> Any:
        x, v = pliant.fori_loop(0, n, leapfrog, (x, v), save=save)
        return np.sum(x * v)

    x, v = np.array([0.3, 1.0]), np.array([0.5, -0.2])
    same(f, x, v)
    check_gradient(f, x, v)
    check_gradient(f, x, v, argnums=1)


@pytest.mark.parametrize("save", ["sqrt", "reversible"])
def test_scans_keep_less_too(save: str) -> None:
    def f(a: Any, xs: Any, how: Any) -> Any:
        def back(after: Any, x: Any) -> Any:
            return (after - np.sin(x)) / a

        policy = pliant.reversible(back) if how == "reversible" else how
        last, ys = pliant.scan(lambda c, x: (a * c + np.sin(x), c * x), 1.0, xs, save=policy)
        return last**2 + np.sum(ys * ys)

    xs = np.linspace(0.1, 1.0, 11)
    for argnums in (0, 1):
        want = pliant.grad(f, argnums=argnums)(0.9, xs, "store")
        np.testing.assert_allclose(pliant.grad(f, argnums=argnums)(0.9, xs, save), want)
    slopes = pliant.vmap(lambda a: pliant.grad(f)(a, xs, save))(np.array([0.9, 0.8]))
    np.testing.assert_allclose(slopes[1], pliant.grad(f)(0.8, xs, "store"))
    np.testing.assert_allclose(
        pliant.hessian(lambda a: f(a, xs, save))(0.9), pliant.hessian(lambda a: f(a, xs, "store"))(0.9)
    )


def test_a_checkpointed_function_has_its_loops_keep_less() -> None:
    def f(x: Any) -> Any:
        return np.sum(pliant.fori_loop(0, 30, leapfrog, (x, x))[0])

    kept = pliant.grad(pliant.checkpoint(f, save="sqrt"))
    x = np.array([0.3, 1.0])
    np.testing.assert_allclose(kept(x), pliant.grad(f)(x))
    with pytest.raises(ArgumentError, match="is no policy"):
        pliant.checkpoint(f, save="some")  # type: ignore[arg-type]


def test_an_inverse_returns_the_state() -> None:
    wrong = pliant.reversible(lambda i, s: s[0])
    with pytest.raises(ArgumentError, match="the inverse returns"):
        pliant.grad(lambda x: pliant.fori_loop(0, 3, leapfrog, (x, x), save=wrong)[0])(1.0)


def test_less_is_kept_of_a_bounded_number_of_steps() -> None:
    def f(x: Any, n: Any, most: int | None) -> Any:
        return pliant.fori_loop(0, n, lambda i, y: y * np.sin(y), x, max_steps=most, save="sqrt")

    kept = pliant.grad(lambda x, n: f(x, n, 20))
    np.testing.assert_allclose(kept(0.7, 9), pliant.grad(lambda x: f(x, 9, None))(0.7))
    wanted = pliant.grad(lambda x: f(x, 9, None))(0.7)
    np.testing.assert_allclose(pliant.grad(lambda x, n: f(x, n, None))(0.7, 9), wanted)
    steps = pliant.reversible(lambda i, y: y)
    with pytest.raises(ArgumentError, match="needs a bound"):
        pliant.grad(lambda x, n: pliant.fori_loop(0, n, lambda i, y: y * 2, x, save=steps))(0.7, 9)


def given_back(s: Any, x: Any) -> Any:
    y = pliant.cond(s > 0, lambda x: x, lambda x: x * 2, x)
    y[0] = 7.0
    return x[0]


def bound_to_another(s: Any, x: Any) -> Any:
    o = {"a": x}

    def doubled(o: Any) -> Any:
        o["a"] = o["a"] * 2
        return o["a"].sum()

    return pliant.cond(s > 0, doubled, lambda o: o["a"].sum(), o), o["a"].sum()


def appended_to(s: Any, x: Any) -> Any:
    o = [x]

    def longer(o: Any) -> Any:
        o.append(x * 2)
        o[0][1] = 5.0
        return o[0].sum()

    return pliant.cond(s > 0, longer, lambda o: o[0].sum(), o), len(o), x.sum()


@pytest.mark.parametrize("f", [given_back, bound_to_another, appended_to])
def test_branches_outside_of_jit_do_what_they_do_inside(f: Any) -> None:
    for s in (1.0, -1.0):
        plain, compiled = np.ones(2), np.ones(2)
        assert f(s, plain) == pliant.jit(f)(s, compiled)
        np.testing.assert_array_equal(plain, compiled)


@pytest.mark.parametrize("index", [1.7, np.float32(1.0), np.array([0, 1]), "1", None])
@pytest.mark.parametrize("branches", [[np.sin], [np.sin, np.cos, np.exp]])
def test_switch_takes_an_integer_for_its_index(index: Any, branches: Any) -> None:
    for f in (pliant.switch, pliant.jit(lambda i, fs, x: pliant.switch(i, fs, x), static=("fs",))):
        with pytest.raises(ArgumentError, match="switch: expected an integer for the index"):
            f(index, tuple(branches), np.arange(3.0))
    for i in (0, True, np.uint8(1), np.array(2)):
        want = branches[min(int(i), len(branches) - 1)](np.arange(3.0))
        np.testing.assert_allclose(pliant.switch(i, branches, np.arange(3.0)), want)
