"""`try` statements whose handlers are chosen at run time do what Python's do."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import UnsupportedError

LinAlgError = np.linalg.LinAlgError
XS = [np.array(x) for x in (
    [1.0, 2.0, 3.0, 0.5], [-1.0, 0.5, 0.3, 2.5], [2.0, -2.0, 3.0, -1.0], [-1.0, -2.0, -3.0, 0.0], [0.5, 2.0, 0.0, 1.5],
)]  # fmt: skip


def raised_by_the_user(x: Any) -> Any:
    try:
        if x[0] > 0:
            raise ValueError("positive")
    except ValueError:
        return x
    return -x


def several_handlers(x: Any) -> Any:
    y, z = 0.0, 1.0
    try:
        z = 2.0
        if x[0] > 0:
            raise ValueError("a")
        y = x[1]
        if x[1] > 0:
            raise KeyError("b")
        z = 3.0
    except ValueError:
        y = y - 10
    except KeyError as error:
        y = y + 100 * len(error.args)
    else:
        z = z * 7
    finally:
        y = y + 0.5
    return y * z + z


def doubled(v: Any) -> Any:
    if v > 1:
        raise ValueError("large")
    return v * 2


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for v in x:
        try:
            total += doubled(v)
        except ValueError:
            total -= 1
    return total


def nothing_to_choose(x: Any) -> Any:
    try:
        return max(v for v in x if v > 1)
    except ValueError:
        return -1.0


def an_empty_list(x: Any) -> Any:
    positive = [v for v in x if v > 0]
    try:
        a = positive.pop()
        b = positive.pop(0)
    except IndexError:
        return -5.0 + len(positive)
    return a - b


def one_in_another(x: Any) -> Any:
    try:
        try:
            a = doubled(x[0])
        except KeyError:
            a = 1.0
        b = doubled(x[1])
    except ValueError:
        return 33.0
    return a + b


def with_jumps(x: Any) -> Any:
    for i in range(3):
        try:
            return doubled(x[i])
        except ValueError:
            continue
    return -1.0


def raised_from_a_handler(x: Any) -> Any:
    try:
        a = doubled(x[0])
    except ValueError as error:
        raise KeyError("another") from error
    return a


def raised_again(x: Any) -> Any:
    try:
        a = doubled(x[0])
    except ValueError:
        if x[1] > 0:
            raise
        a = 2.0
    return a


def anything(x: Any) -> Any:
    try:
        a = doubled(x[0])
    except:  # noqa: E722
        a = 0.25
    return a


def suppressed(x: Any) -> Any:
    root = -1.0
    with suppress(ValueError):
        root = math.sqrt(x[0])
    return root


def lists_of_other_lengths(x: Any) -> Any:
    try:
        return sum(a * b for a, b in zip([v for v in x if v > 0], [v for v in x if v > 1], strict=True))
    except ValueError:
        return 0.0


def a_place_that_is_not_there(x: Any) -> Any:
    try:
        return x[int(x[1] * 2)]
    except IndexError:
        return -1.0


def places(x: Any) -> Any:
    try:
        return x[(x * 2).astype(int)].sum()
    except IndexError as error:
        return float(len(error.args))


def divided(x: Any) -> Any:
    out = []
    for v in x:
        try:
            out.append(1 / float(v))
        except ZeroDivisionError:
            out.append(0.0)
    return np.array(out)


def remainders(x: Any) -> Any:
    a, b = int(x[0] * 4), int(x[3])
    try:
        return a // b + a % b
    except ZeroDivisionError:
        return -100


def logarithms(x: Any) -> Any:
    total = 0.0
    for v in x:
        try:
            total += math.log(v)
        except ValueError:
            total -= 10
    return total


def too_large(x: Any) -> Any:
    try:
        return math.exp(x[1] * 700) * 0 + 1
    except OverflowError:
        return -1.0


def no_integer(x: Any) -> Any:
    y = np.where(x > 1, np.nan, x)
    try:
        return int(y[1])
    except ValueError:
        return -7


PROGRAMS = (
    raised_by_the_user, several_handlers, in_a_loop, nothing_to_choose, an_empty_list, one_in_another, with_jumps,
    raised_from_a_handler, raised_again, anything, suppressed, lists_of_other_lengths, a_place_that_is_not_there, places,
    divided, remainders, logarithms, too_large, no_integer,
)  # fmt: skip
RAISING = (raised_from_a_handler, raised_again)


def outcome(f: Callable[[Any], Any], x: Any) -> Any:
    try:
        return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in optree.tree_leaves(f(x))])
    except (KeyError, ValueError) as error:
        return type(error), error.args


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_the_handler_that_runs_is_pythons(f: Callable[[Any], Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in XS:
        got, expected = outcome(compiled, x.copy()), outcome(f, x.copy())
        if isinstance(expected, tuple):
            assert got == expected
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in RAISING])
def test_each_problem_of_a_batch_has_its_own(f: Callable[[Any], Any]) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(pliant.vmap(f)(np.stack(XS)), [f(x.copy()) for x in XS], rtol=1e-14)


def with_a_factor(a: Any) -> Any:
    try:
        return np.linalg.cholesky(a)[1, 0]
    except LinAlgError:
        return 0.5


def with_more_and_more_on_the_diagonal(a: Any) -> Any:
    more = 0.0
    while True:
        try:
            return np.linalg.cholesky(a + more * np.eye(2))
        except LinAlgError:
            more = 2 * more + 0.1


def with_one_of_several(a: Any) -> Any:
    for more in (0.0, 1e-3, 1e-1, 1.0, 10.0):
        try:
            factor = np.linalg.cholesky(a + more * np.eye(2))
            break
        except LinAlgError:
            pass
    else:
        return -np.inf
    return -np.log(np.diag(factor)).sum()


def a_log_density(a: Any) -> Any:
    try:
        factor = np.linalg.cholesky(a)
    except LinAlgError:
        return -np.inf
    white = np.linalg.solve(factor, np.ones(2))
    return -0.5 * (white @ white) - np.log(np.diag(factor)).sum()


def solved_or_fitted(a: Any) -> Any:
    try:
        x = np.linalg.solve(a, np.ones(2))
    except LinAlgError:
        x = np.linalg.lstsq(a, np.ones(2))[0]
    return x


def inverted_or_not(a: Any) -> Any:
    try:
        return np.linalg.inv(a)
    except LinAlgError:
        return np.linalg.pinv(a)


def decomposed(a: Any) -> Any:
    try:
        return np.linalg.svd(a * np.log(a[1, 1] + 1.0))[1]
    except LinAlgError:
        return np.zeros(2)


MATRICES = np.array(
    [[[2.0, 0.3], [0.3, 1.0]], [[-1.0, 0.2], [0.2, -3.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.5, 2.0], [2.0, 1.0]]]
)
OF_MATRICES = (
    with_a_factor, with_more_and_more_on_the_diagonal, with_one_of_several, a_log_density, solved_or_fitted,
    inverted_or_not, decomposed,
)  # fmt: skip


@pytest.mark.parametrize("f", OF_MATRICES)
def test_matrices_without_factors_are_caught(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    with np.errstate(invalid="ignore"):
        expected = [f(a) for a in MATRICES]
        np.testing.assert_allclose([compiled(a) for a in MATRICES], expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(pliant.vmap(f)(MATRICES), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("f", [with_a_factor, with_one_of_several, a_log_density, solved_or_fitted])
def test_the_gradient_is_that_of_what_runs(f: Callable[[Any], Any]) -> None:
    way, step = np.array([[0.3, 0.1], [0.1, -0.2]]), 1e-6
    loss = pliant.grad(lambda a: np.sum(f(a)))
    for a in MATRICES[[0, 3]]:
        ends = [np.sum(f(a + s * way)) for s in (step, -step)]
        expected = 0.0 if np.isinf(ends[0]) else (ends[0] - ends[1]) / (2 * step)
        assert (loss(a) * way).sum() == pytest.approx(expected, rel=1e-6, abs=1e-8)


def lost_in_a_loop(x: Any) -> Any:
    total = 0.0
    try:
        for v in x:
            total += math.log(v)
    except ValueError:
        total = total - 10
    return total


def written_before(x: Any) -> Any:
    def checked() -> None:
        x[1] = 0.0
        if x[0] > 0:
            raise ValueError

    try:
        checked()
    except ValueError:
        return x - 1
    return x


def followed_by_a_finally(x: Any) -> Any:
    n = 0
    try:
        try:
            y = math.log(x[0])
        finally:
            n += 10
    except ValueError:
        y = -2.0
    return y + n


def followed_by_an_exit(x: Any) -> Any:
    class Writing:
        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            x[0] = 9.0

    try:
        with Writing():
            y = math.log(x[0])
    except ValueError:
        y = -2.0
    return y + x[0]


@pytest.mark.parametrize("f", [followed_by_a_finally, followed_by_an_exit])
def test_what_is_done_after_it_is_refused(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)ValueError is raised under a condition .*beside each other"):
        pliant.jit(f)(XS[0])


def divided_in_place(x: Any) -> Any:
    a, v = 3.0, float(x[0] - 1.0)
    try:
        a /= v
    except ZeroDivisionError:
        return -1.0
    return a


def test_a_division_in_place_is_caught() -> None:
    for x in XS:
        assert pliant.jit(divided_in_place)(x) == divided_in_place(x)


def test_what_is_shown_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        try:
            print("tried")
            y = doubled(x[0])
        except ValueError:
            print("caught")
            y = 0.0
        return y

    compiled = pliant.jit(f)
    for x in XS:
        f(x)
        want = capsys.readouterr().out
        compiled(x)
        assert capsys.readouterr().out == want


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    ("f", "hint"),
    [(lost_in_a_loop, "put the try into the body of the loop"), (written_before, "put what may fail into")],
)
def test_what_is_changed_before_is_refused(f: Callable[[Any], Any], hint: str) -> None:
    with pytest.raises(UnsupportedError, match=f"(?s)ValueError is raised under a condition .*{hint}"):
        pliant.jit(f)(XS[0])


def test_numpys_own_errors_of_floats_are_refused() -> None:
    def f(x: Any) -> Any:
        with np.errstate(divide="raise", over="warn"):
            return 1 / x

    with pytest.raises(UnsupportedError, match=r"np\.errstate\(divide='raise'\) has no effect"):
        pliant.jit(f)(XS[0])

    def g(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            return 1 / x

    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(pliant.jit(g)(XS[4]), g(XS[4]))


def counted(v: Any) -> Any:
    try:
        return len(v)
    except TypeError:
        return 1


def summed(v: Any) -> Any:
    try:
        return sum(v)
    except TypeError:
        return -1.0


def unpacked(v: Any) -> Any:
    try:
        a, b = v
    except TypeError:
        return -3.0
    return a + b


@pytest.mark.parametrize("f", [counted, summed, unpacked])
@pytest.mark.parametrize("given", [2.0, np.array(2.0), np.float32(2.0), np.ones(2)], ids=repr)
def test_a_number_is_no_sequence(f: Callable[[Any], Any], given: Any) -> None:
    assert pliant.jit(f)(given) == f(given)


def first_low(x: Any) -> Any:
    try:
        for i in range(4):
            if x[i] < -1:
                raise ValueError(i)
        r = 1.0
    except ValueError as error:
        r = error.args[0] * x[error.args[0]]
    return r + x.sum()


def first_low_inside(x: Any) -> Any:
    r = 1.0
    for i in range(4):
        try:
            if x[i] < -1:
                raise ValueError(i)
        except ValueError as error:
            r = error.args[0] * x[error.args[0]]
            break
    return r + x.sum()


def test_a_batch_of_a_try_around_a_loop_says_to_put_it_inside() -> None:
    for x in XS:
        np.testing.assert_allclose(pliant.jit(first_low)(x.copy()), first_low(x))
    with pytest.raises(UnsupportedError, match="put the try into the body of the loop, with a break in its handler"):
        pliant.vmap(first_low)(np.stack(XS))
    np.testing.assert_allclose(pliant.vmap(first_low_inside)(np.stack(XS)), [first_low(x) for x in XS])


def rows_solved(a: Any) -> Any:
    solved = np.zeros(4)
    try:
        for i in range(4):
            solved[i] = np.linalg.solve(a[i], np.ones(2)).sum()
    except LinAlgError:
        return -1, solved
    return 0, solved


def rows_inverted_twice(a: Any) -> Any:
    total = np.zeros(4)
    for k in range(2):
        try:
            for i in range(4):
                total[i] += np.linalg.inv(a[i])[0, 0]
        except LinAlgError:
            total[k] -= 10
    return total


def factors_kept(a: Any) -> Any:
    kept: list[Any] = []
    try:
        for i in range(4):
            kept.append(np.linalg.cholesky(a[i])[1, 0])  # noqa: PERF401
    except LinAlgError:
        return len(kept), sum(kept)
    return len(kept), sum(kept)


def logarithms(a: Any) -> Any:
    made = np.zeros(4)
    try:
        for i in range(4):
            made[i] = math.log(a[i, 0, 0])
    except ValueError:
        made[0] -= 100
    else:
        made[1] += 7
    return made


def counts_at_places(a: Any) -> Any:
    counts = np.zeros(2)
    try:
        for i in range(4):
            counts[int(a[i, 1, 1])] += 1
    except IndexError:
        counts *= 10
    return counts


def changed_between(a: Any) -> Any:
    x = np.ones(2)
    try:
        x[0] = 0
        y = np.linalg.inv(a[1])
        x[1] = 0
        y = y + np.linalg.cholesky(a[2])
    except LinAlgError:
        return x
    return x + y[0]


AROUND_LOOPS = (rows_solved, rows_inverted_twice, factors_kept, logarithms, counts_at_places, changed_between)
REGULAR = np.array([np.eye(2) * (1 + 0.5 * k) - 0.25 for k in range(4)])
ROWS_OF_MATRICES = [
    REGULAR,
    *[np.array([*REGULAR[:k], MATRICES[n], *REGULAR[k + 1 :]]) for k in range(4) for n in (1, 2)],
]


@pytest.mark.parametrize("f", AROUND_LOOPS)
def test_a_handler_around_a_loop_sees_what_the_steps_before_have_left(f: Callable[[Any], Any]) -> None:
    compiled = pliant.jit(f)
    for a in ROWS_OF_MATRICES:
        for made, wanted in zip(optree.tree_leaves(compiled(a)), optree.tree_leaves(f(a)), strict=True):
            np.testing.assert_allclose(made, wanted, rtol=1e-12, atol=1e-15)


def test_the_gradient_of_a_loop_that_fails_is_that_of_the_steps_before() -> None:
    a = ROWS_OF_MATRICES[-1]
    gradient = pliant.grad(lambda a: rows_solved(a)[1].sum())(a)
    inverses = np.linalg.inv(a[:3])
    wanted = [-np.outer(m.T @ np.ones(2), m @ np.ones(2)) for m in inverses]
    np.testing.assert_allclose(gradient, [*wanted, np.zeros((2, 2))], rtol=1e-12)


def test_a_batch_of_singular_matrices_in_a_loop_says_to_put_the_try_inside() -> None:
    with pytest.raises(UnsupportedError, match=r"(?s)Singular matrix.*put the try into the body of the loop"):
        pliant.vmap(rows_solved)(np.stack(ROWS_OF_MATRICES))
