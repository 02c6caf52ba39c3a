"""NumPy functions on tensors: values, and derivatives and batches by PyTorch, are Pliant's own."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.errors import ArgumentError, DTypeError, IndexRangeError, MissingRuleError, UnsupportedError
from tests.properties.checks import near
from tests.properties.fuzz_flows import DRAWN

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
X = np.array([0.3, -0.2, 0.9, 0.4])
WEIGHTS = np.array([1.0, -1.0, 2.0, 0.5])


def smooth(x: Any) -> Any:
    return np.log1p(np.exp(np.sin(x) @ np.outer(x, x))).sum()


def in_place(x: Any) -> Any:
    y = np.zeros(4)
    y[1:] = x[:-1] * 2
    y += WEIGHTS
    x[0] = 7.0
    y[::-2] *= x[0]
    return np.sum(np.sin(y) * x)


def duplicates(x: Any) -> Any:
    y, z = np.zeros(3), np.zeros(3)
    y[np.array([1, 1, 0, 1])] = x * 3
    np.add.at(z, np.array([1, 1, 0, 1]), x**2)
    np.maximum.at(z, np.array([0, 0, 2, 1]), x)
    return np.sum(y * z)


def looping(x: Any) -> Any:
    s = 0.0
    for i in range(4):
        for j in range(i):
            s = s * 0.9 + x[i] * np.sin(x[j])
    return s


def rows(x: Any) -> Any:
    made = np.zeros((6, 4))
    made[0] = x
    for t in range(5):
        made[t + 1] = np.tanh(made[t]) * x + made[t - 1] * (t > 0)
    return np.sum(made[-1] * made[2])


def halving(x: Any) -> Any:
    s, n = np.sum(x * x), 0
    while s > 0.01:
        s = s * x[0]
        n += 1
    return s * n


def branching(x: Any) -> Any:
    if x[0] > 0:
        return np.sum(np.sqrt(x[0]) * x)
    return np.sum(x**3)


def ties(x: Any) -> Any:
    y = np.round(x)
    return np.max(x - x) + np.sum(np.sort(x * 0)[:2]) + np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0)) + y.sum() * 0


def matrices(x: Any) -> Any:
    a = np.outer(x, x) + np.eye(4)
    return np.linalg.solve(a, x).sum() + np.linalg.slogdet(a)[1] + np.linalg.eigvalsh(a)[-1] + np.linalg.inv(a)[0, 1]


def complexes(x: Any) -> Any:
    z = np.fft.fft(x * np.exp(1j * x))
    return np.sum(np.abs(z) ** 2) + np.real(z[1] * np.conj(z[2]))


def scans(x: Any) -> Any:
    return np.sum(np.cumsum(x) * np.cumprod(x)) + np.median(x) + np.sort(x)[1] * x[np.argmax(x)]


def _backward(x: Any, ct: Any) -> Any:
    return (ct * 5 * x,)  # on purpose another one


clipped = pliant.custom_derivative(lambda x: x * x, forward=lambda x: (x * x, x), backward=_backward)


def customs(x: Any) -> Any:
    return np.sum(clipped(x) * 3) + np.sum(x * pliant.stop_gradient(x))


FUNCTIONS = [
    smooth, in_place, duplicates, looping, rows, halving, branching, ties, matrices, complexes, scans, customs,
]  # fmt: skip
every = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)


def tensor(x: Any, **options: Any) -> Any:
    return torch.tensor(np.ascontiguousarray(x) if isinstance(x, np.ndarray) and x.ndim else x, **options)


@every
def test_values_are_numpys(f: Any) -> None:
    x = tensor(X)
    made = pliant.to_torch(f)(x)
    assert isinstance(made, torch.Tensor)
    assert_allclose(made, f(X.copy()), rtol=1e-12)
    assert_array_equal(x, X)  # what is written stays inside


@every
def test_backward_is_pliants_gradient(f: Any) -> None:
    x = tensor(X, requires_grad=True)
    pliant.to_torch(f)(x).backward()
    assert_allclose(x.grad, pliant.grad(f)(X.copy()), rtol=1e-10)


@every
def test_double_backward_is_pliants_second_derivative(f: Any) -> None:
    x, v = tensor(X, requires_grad=True), tensor(WEIGHTS)
    (g,) = torch.autograd.grad(pliant.to_torch(f)(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g @ v, x, allow_unused=True)
    assert_allclose(np.zeros(4) if h is None else h, pliant.hvp(f)(X.copy(), WEIGHTS), rtol=1e-9, atol=1e-10)


@every
def test_the_transformations_of_torch_func_are_pliants(f: Any) -> None:
    g, x, v = pliant.to_torch(f), tensor(X), tensor(WEIGHTS)
    gradient = pliant.grad(f)(X.copy())
    assert_allclose(torch.func.grad(g)(x), gradient, rtol=1e-10)
    assert_allclose(torch.func.jvp(g, (x,), (v,))[1], gradient @ WEIGHTS, rtol=1e-9)
    assert_allclose(torch.func.jacrev(g)(x), gradient, rtol=1e-10)
    assert_allclose(torch.func.hessian(g)(x), pliant.hessian(f)(X.copy()), rtol=1e-8, atol=1e-9)


@every
def test_a_batch_is_each_problem(f: Any) -> None:
    xs = np.stack([X, X * 0.5, X * 0.8 + 0.01])
    g = pliant.to_torch(f)
    assert_allclose(torch.vmap(g)(tensor(xs)), [f(x.copy()) for x in xs], rtol=1e-11)
    wanted = [pliant.grad(f)(x.copy()) for x in xs]
    assert_allclose(torch.vmap(torch.func.grad(g))(tensor(xs)), wanted, rtol=1e-9)
    ys = tensor(xs, requires_grad=True)
    torch.vmap(g)(ys).sum().backward()
    assert_allclose(ys.grad, wanted, rtol=1e-9)


@pytest.mark.parametrize("f", [smooth, in_place, looping, matrices], ids=lambda f: f.__name__)
def test_pytorchs_own_checks_pass(f: Any) -> None:
    g, x = pliant.to_torch(f), tensor(X, requires_grad=True)
    assert torch.autograd.gradcheck(g, (x,), check_forward_ad=True, check_batched_grad=f is smooth)
    assert torch.autograd.gradgradcheck(g, (x,))


@pytest.mark.parametrize("of", DRAWN)
@pytest.mark.parametrize("seed", range(8))
def test_gradients_of_random_loops_and_branches_are_pliants(seed: int, of: str) -> None:
    flow = DRAWN[of](seed)
    if flow.dtype != "float64":
        pytest.skip("of single precision")
    function = flow.function()

    def loss(x: Any, y: Any) -> Any:
        made = function(x, y, *copy.deepcopy(flow.inputs()[2:]))
        return sum([np.sum(np.real(z)) for z in made if np.asarray(z).dtype.kind == "f"], 0.0 * np.sum(x))

    x, y = flow.inputs()[:2]
    try:
        value, wanted = pliant.value_and_grad(loss, (0, 1))(x.copy(), y.copy())
    except Exception as error:
        pytest.skip(str(error).splitlines()[0])
    xs = [tensor(v, requires_grad=True) for v in (x, y)]
    made = pliant.to_torch(loss)(*xs)
    assert near(made.detach().numpy(), value, 1e-8, 1e-8)
    got = torch.autograd.grad(made, xs, allow_unused=True)
    for a, b in zip(got, wanted, strict=True):
        assert near(np.zeros_like(b) if a is None else a.numpy(), b, 1e-7, 1e-7), flow.source()


def test_containers_come_and_go_as_they_are_in_numpy() -> None:
    def f(params: Any, scale: float, *, shift: Any = None) -> Any:
        y = params["w"] * scale + (0.0 if shift is None else shift)
        return {"y": y, "both": [y.sum(), (params["w"],)], "none": None, "name": "text"}

    g, w = pliant.to_torch(f), tensor([1.0, 2.0], requires_grad=True)
    made = g({"w": w}, 2.0, shift=np.array([1.0, 1.0]))
    assert_array_equal(made["y"].detach(), [3.0, 5.0])
    assert float(made["both"][0].detach()) == 8.0
    assert made["none"] is None
    assert made["name"] == "text"
    made["both"][0].backward()
    assert_array_equal(w.grad, [2.0, 2.0])


def test_numbers_of_numpys_that_are_known_become_tensors() -> None:
    made = pliant.to_torch(lambda x: (np.float32(2.0), 3, x.shape[0], np.arange(2)))(tensor(X))
    assert [type(y) for y in made] == [torch.Tensor, int, int, torch.Tensor]
    assert made[0].dtype == torch.float32


def test_dtypes_are_the_programs_own() -> None:
    f = pliant.to_torch(lambda x, n: (x * 2, x / n, n // 2, x > 0, x + 1j, np.mean(n)))
    made = f(tensor([1.0, 2.0], dtype=torch.float32), tensor([1, 2], dtype=torch.int32))
    names = [str(y.dtype) for y in made]
    kinds = ["float32", "float64", "int32", "bool", "complex64", "float64"]
    assert names == [f"torch.{k}" for k in kinds]


def test_results_share_no_memory_with_arguments_or_each_other() -> None:
    x = tensor(X)
    made = pliant.to_torch(
        lambda x: (x, x[::-1], x.reshape(2, 2), x[None, :].repeat(2, 0), np.broadcast_to(x, (2, 4)))
    )(x)
    for y in made[1:]:
        y[...] = 0
    assert_array_equal(x, X)
    assert_array_equal(made[0], X)


def test_integers_that_have_to_be_known_get_a_program_for_each_value() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.zeros(n) + np.sum(x)

    g = pliant.to_torch(f)
    assert g(tensor(X), 3).shape == (3,)
    assert g(tensor(X), 5).shape == (5,)
    assert g(tensor(X), tensor(2)).shape == (2,)
    with pytest.raises(ArgumentError, match="has to know an integer argument"):
        torch.vmap(g, (None, 0))(tensor(X), tensor([1, 2]))


def test_a_number_of_steps_may_be_a_tensor() -> None:
    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = np.sin(x) * 1.5
        return np.sum(x)

    g = pliant.to_torch(lambda x, n: pliant.fori_loop(0, n, lambda i, y: np.sin(y) * 1.5, x).sum())
    for n in (0, 3, 6):
        x = tensor(X, requires_grad=True)
        made = g(x, tensor(n))
        made.backward()
        assert_allclose(made.detach(), f(X, n), rtol=1e-12)
        assert_allclose(x.grad, pliant.grad(f)(X, n), rtol=1e-10)


def test_arrays_from_outside_are_read_again_at_each_call() -> None:
    outside = np.array([1.0, 2.0, 3.0, 4.0])
    g = pliant.to_torch(lambda x: np.sum(x * outside))
    first = float(g(tensor(X)))
    x = tensor(X, requires_grad=True)
    made = g(x)
    outside[:] = 0.0
    assert first != 0.0
    assert float(g(tensor(X))) == 0.0
    made.backward()  # of the call before
    assert_array_equal(x.grad, [1.0, 2.0, 3.0, 4.0])


def test_extents_known_only_at_run_time() -> None:
    x = tensor(X, requires_grad=True)
    made = pliant.to_torch(lambda x: x[x > 0.25] * 2)(x)
    assert_array_equal(made.detach(), X[X > 0.25] * 2)
    made.sum().backward()
    assert_array_equal(x.grad, [2.0, 0.0, 2.0, 2.0])


def test_parameters_are_trained_by_an_optimizer() -> None:
    def loss(w: Any, b: Any, x: Any, y: Any) -> Any:
        return np.mean((np.tanh(x @ w + b) - y) ** 2)

    rng = np.random.default_rng(0)
    x, y = tensor(rng.normal(size=(20, 3))), tensor(rng.normal(size=20))
    w, b = (
        torch.nn.Parameter(torch.zeros(3, dtype=torch.float64)),
        torch.nn.Parameter(torch.zeros((), dtype=torch.float64)),
    )
    optimizer, g, losses = torch.optim.SGD([w, b], lr=0.5), pliant.to_torch(loss), []
    for _ in range(20):
        optimizer.zero_grad()
        made = g(w, b, x, y)
        made.backward()
        optimizer.step()
        losses.append(made.item())
    assert losses[-1] < losses[0]
    assert losses == sorted(losses, reverse=True)


def test_what_pliant_derives_runs_on_tensors_too() -> None:
    g = pliant.to_torch(pliant.grad(smooth))
    assert_allclose(g(tensor(X)), pliant.grad(smooth)(X), rtol=1e-12)
    assert_allclose(torch.func.jacrev(g)(tensor(X)), pliant.hessian(smooth)(X), rtol=1e-9)
    many = pliant.to_torch(pliant.vmap(np.dot, in_axes=(0, None)))
    assert_allclose(many(tensor(np.eye(4)), tensor(X)), X)


def test_only_what_is_asked_for_is_pulled_back() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sin(x) * y, np.cos(y), np.sqrt(x - x)  # the last has no derivative

    x, y = tensor(X, requires_grad=True), tensor(WEIGHTS)
    made = pliant.to_torch(f)(x, y)
    (g,) = torch.autograd.grad(made[0].sum(), x, retain_graph=True)
    assert_allclose(g, np.cos(X) * WEIGHTS, rtol=1e-12)
    assert not made[1].requires_grad or torch.autograd.grad(made[1].sum(), x, allow_unused=True)[0].abs().sum() == 0


def test_complex_gradients_follow_pytorchs_convention() -> None:
    z = tensor(X * (1 + 2j), requires_grad=True)
    w = z.detach().clone().requires_grad_()
    pliant.to_torch(lambda z: np.sum(np.abs(z**2 + z) ** 2))(z).backward()
    (torch.abs(w**2 + w) ** 2).sum().backward()
    assert_allclose(z.grad, w.grad, rtol=1e-11)


class Model:
    def __init__(self) -> None:
        self.weights, self.scale = np.ones(4), 2.0

    @pliant.to_torch
    def apply(self, x: Any) -> Any:
        """What it does."""
        return np.sum(self.weights * x) * self.scale


def test_methods_read_their_object_at_each_call() -> None:
    model, x = Model(), tensor(np.ones(4), requires_grad=True)
    assert Model.__dict__["apply"].__doc__ == "What it does."
    assert model.apply(x).item() == 8.0
    model.weights[:] = 2.0
    assert model.apply(x).item() == 16.0
    model.weights, model.scale = np.full(4, 5.0), 1.0
    made = model.apply(x)
    assert made.item() == 20.0
    made.backward()
    assert_array_equal(x.grad, np.full(4, 5.0))


def test_forward_mode_and_what_is_done_to_results() -> None:
    f, x = pliant.to_torch(np.sin), tensor(X, requires_grad=True)
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        assert_allclose(ad.unpack_dual(f(ad.make_dual(x.detach(), tensor(WEIGHTS)))).tangent, np.cos(X) * WEIGHTS)
    with torch.no_grad():
        assert not f(x).requires_grad
    made = f(x)
    made.mul_(2.0)
    made.sum().backward()
    assert_allclose(x.grad, 2 * np.cos(X), rtol=1e-12)
    nested = torch.vmap(torch.vmap(torch.func.jacrev(f)))(tensor(np.ones((2, 3, 4))))
    assert_allclose(nested[1, 2], np.cos(1.0) * np.eye(4), rtol=1e-12)


def test_exceptions_of_the_function_are_raised() -> None:
    def f(x: Any) -> Any:
        if x[0] > 1:
            raise ValueError("too large")
        return x * 2

    g = pliant.to_torch(f)
    assert_array_equal(g(tensor(X)), X * 2)
    with pytest.raises(ValueError, match="too large"):
        g(tensor(X + 1))


def test_an_index_out_of_range_raises() -> None:
    g = pliant.to_torch(lambda x, i: x[i])
    assert float(g(tensor(X), tensor([-1]))[0]) == X[-1]
    for i in (4, -5):
        with pytest.raises(IndexRangeError, match="out of range for axis 0 of extent 4"):
            g(tensor(X), tensor([i]))
    with pytest.raises(IndexError):
        torch.vmap(g, (None, 0))(tensor(X), tensor([[0], [9]]))


def test_printing_prints_at_each_call(capsys: Any) -> None:
    def f(x: Any) -> Any:
        print("sum", x.sum())
        return x

    g = pliant.to_torch(f)
    g(tensor(np.ones(2)))
    g(tensor(np.ones(2)))
    assert capsys.readouterr().out == "sum 2.0\nsum 2.0\n"


def changes(xs: Any) -> Any:
    xs.append(xs[0] * 2)
    return xs[0]


def writes(x: Any) -> None:
    x[0] = 1.0


def overlapping(x: Any, y: Any) -> Any:
    x[0] = 9.0
    return x + y


def test_what_a_function_sets_outside_stays_inside_the_call() -> None:
    total, count, held, rows = np.array([1.0, 2.0, 3.0, 4.0]), 1, {"last": 3.0}, list[Any]()

    def step(x: Any) -> Any:
        nonlocal total, count
        total, count, held["last"] = total * x, count + 1, held["last"] + x.sum()
        rows.append(count)
        return (total * total).sum() * count + held["last"]

    f, before = pliant.to_torch(step), total
    for _ in range(2):
        x = tensor(X, requires_grad=True)
        f(x).backward()
        assert_allclose(x.grad, 4 * total**2 * X + 1)
        assert (total is before, count, held, rows) == (True, 1, {"last": 3.0}, [])
    total, count, held["last"] = 2 * total, 4, 5.0
    assert_allclose(f(tensor(X)), 5 * ((total * X) ** 2).sum() + 5 + X.sum())

    def only_sets(x: Any) -> None:
        nonlocal total
        total = x

    with pytest.raises(ArgumentError, match=r"only_sets returns no arrays, and what it writes .*, or sets outside"):
        pliant.to_torch(only_sets)(tensor(X))


def test_what_a_call_cannot_do_is_refused() -> None:
    x = tensor(X)
    with pytest.raises(UnsupportedError, match="changes containers"):
        pliant.to_torch(changes)([x])
    with pytest.raises(ArgumentError, match=r"writes returns no arrays(.|\n)*return the arrays that it writes"):
        pliant.to_torch(writes)(x)
    with pytest.raises(UnsupportedError, match="shares memory with another one"):
        pliant.to_torch(overlapping)(x, x)
    with pytest.raises(UnsupportedError, match="shares memory with another one"):
        pliant.to_torch(overlapping)(x[:2], x[2:])
    assert_array_equal(pliant.to_torch(overlapping)(x, x.clone()), [9 + X[0], *X[1:] * 2])
    with pytest.raises(DTypeError, match="NumPy has no bfloat16"):
        pliant.to_torch(smooth)(x.bfloat16())
    with pytest.raises(DTypeError, match="expected a dense tensor"):
        pliant.to_torch(smooth)(x.to_sparse())
    with pytest.raises(ArgumentError, match="expected a function"):
        pliant.to_torch(3)  # type: ignore[arg-type]


def test_random_numbers_of_numpy_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UnsupportedError, match=r"changes what is outside(.|\n)*draw outside, and pass the numbers"):
        pliant.to_torch(lambda x: x + rng.normal(size=4))(tensor(X))
    with pytest.raises(MissingRuleError, match="PyTorch has no"):
        pliant.to_torch(lambda x, n: x + np.random.default_rng(n).normal(size=4))(tensor(X), tensor(3))


def test_on_another_device_nothing_is_made_elsewhere() -> None:
    """Operations of tensors without numbers fail where their devices differ."""
    from pliant.backends.torch_namespace import namespace_on

    meta = namespace_on(torch.device("meta"))
    made = [meta.arange(3), meta.zeros((2,)), meta.full((2,), 1.0), meta.eye(2), meta.asarray(1.0)]
    assert {y.device.type for y in made} == {"meta"}


def test_threads_may_call_one_function() -> None:
    from concurrent.futures import ThreadPoolExecutor

    g = pliant.to_torch(smooth)
    with ThreadPoolExecutor(4) as pool:
        made = [*pool.map(lambda n: float(g(tensor(X * n))), range(8))]
    assert_allclose(made, [smooth(X * n) for n in range(8)], rtol=1e-12)


@pytest.mark.parametrize("n", [2, torch.tensor(2)])
def test_a_part_of_an_argument_is_a_tensor_of_its_own(n: Any) -> None:
    x = torch.arange(5.0)
    y = pliant.to_torch(lambda x, n: x[:n])(x, n)
    y += 1
    assert_array_equal(y, [1.0, 2.0])
    assert_array_equal(x, np.arange(5.0))


def test_autocast_changes_no_dtypes() -> None:
    x = torch.ones(3, 3, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = pliant.to_torch(lambda a: a @ a.T)(x)
        (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.dtype == gradient.dtype == torch.float32
    assert_array_equal(gradient, np.full((3, 3), 6.0))


def test_lengths_that_differ_in_a_batch_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"may differ between the problems of a batch\nhint: .*np\.where"):
        torch.vmap(pliant.to_torch(lambda x: x[x > 0]))(torch.ones(2, 3))


def test_tensors_from_outside_are_arrays_that_are_read_again() -> None:
    outside = torch.full((4,), 2.0)
    times, inner = pliant.to_torch(lambda x: x * outside), pliant.to_torch(lambda x: np.dot(x, outside))
    for number in (2.0, 3.0):
        outside[:] = number
        np.testing.assert_allclose(times(tensor(X)), X * number)
        np.testing.assert_allclose(inner(tensor(X)), np.sum(X) * number)


def test_tensors_from_outside_that_have_a_gradient_have_to_be_arguments() -> None:
    outside = torch.ones(4, requires_grad=True)
    with pytest.raises(ArgumentError, match=r"got Tensor(.|\n)*hint: pass it as an argument"):
        pliant.to_torch(lambda x: x * outside)(tensor(X))
