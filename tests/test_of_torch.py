"""PyTorch's functions and modules on NumPy arrays: values and derivatives are PyTorch's, whatever Pliant makes of them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.errors import ArgumentError, DTypeError, PliantError, TracedValueError, UnsupportedError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
F, nn = torch.nn.functional, torch.nn


def leaves(tree: Any) -> list[Any]:
    return torch.utils._pytree.tree_leaves(tree)


def random(*shape: int, seed: int = 0) -> Any:
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


def agrees(g: Any, *xs: Any, rtol: float = 1e-10) -> None:
    """Values, dtypes and gradients of weighted sums are PyTorch's."""
    f = pliant.from_torch(g)
    ts = [x.clone().requires_grad_(x.is_floating_point()) for x in xs]
    wanted, arrays = leaves(g(*ts)), [x.numpy() for x in xs]
    for y, w in zip(leaves(f(*arrays)), wanted, strict=True):
        assert f"torch.{y.dtype}" == str(w.dtype)
        assert_allclose(y, w.detach(), rtol=rtol, atol=1e-11)
    smooth = [n for n, w in enumerate(wanted) if w.requires_grad]
    active = [n for n, x in enumerate(xs) if x.is_floating_point()]
    if not smooth or not active:
        return
    weights = [random(*wanted[n].shape, seed=n).to(wanted[n].dtype) for n in smooth]
    total = sum([(w * wanted[n]).sum() for w, n in zip(weights, smooth, strict=True)])
    gradients = torch.autograd.grad(total, [ts[n] for n in active], allow_unused=True)

    def loss(*xs: Any) -> Any:
        made = leaves(f(*xs))
        return sum([np.sum(w.numpy() * made[n]) for w, n in zip(weights, smooth, strict=True)])

    for got, w in zip(pliant.grad(loss, tuple(active))(*arrays), gradients, strict=True):
        assert_allclose(got, np.zeros_like(got) if w is None else w, rtol=100 * rtol, atol=1e-9)


X, I, ALONG = random(2, 5, 8), torch.tensor([0, 1]), torch.tensor([0, 1])[:, None, None].expand(2, 5, 8)  # noqa: E741
LABELS = torch.tensor([0, 1, 3])


def zeros(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.float64)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.norm, self.out = (
            nn.MultiheadAttention(8, 2, batch_first=True),
            nn.LayerNorm(8),
            nn.Linear(8, 8),
        )

    def forward(self, x: Any) -> Any:
        y, _ = self.attention(x, x, x)
        return self.out(F.gelu(self.norm(x + y)))


def convolutional() -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, stride=2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3), nn.LogSoftmax(-1),
    ).double().eval()  # fmt: skip


MODULES = {
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 2)).double(), X),
    "attention": (lambda: Attention().double().eval(), X),
    "convolutions": (convolutional, random(2, 1, 8, 8)),
    "lstm cell": (lambda: nn.LSTMCell(8, 4).double(), X[0]),
    "lstm": (lambda: nn.LSTM(8, 4).double(), X),
    "gru": (lambda: nn.GRU(8, 3, bidirectional=True).double(), X),
    "transformer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).double().eval(), X),
    "embedding": (lambda: nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2)).double(), torch.tensor([3, 1, 3])),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_do_what_they_do_in_pytorch(name: str) -> None:
    torch.manual_seed(0)
    make, x = MODULES[name]
    agrees(make(), x, rtol=1e-9)


def written(x: Any) -> Any:
    y = x.clone()
    y.add_(1)
    y[0].mul_(2)
    y[:, 1] = x[:, 2]
    y[y > 0.5] = 0.3
    return y


def partly_graded(x: Any) -> Any:
    with torch.no_grad():
        y = x * 2
    return y * x + x.detach() * x


def lengths(*dims: Any) -> Any:
    return lambda x: x.abs().sum(dims)


POINTWISE = {
    name: getattr(F, name)
    for name in [
        "relu", "elu", "selu", "leaky_relu", "silu", "mish", "softplus", "hardswish", "gelu",
        "logsigmoid", "tanhshrink", "softsign", "hardtanh", "relu6", "celu", "softshrink", "hardshrink", "glu",
    ]
}  # fmt: skip
POINTWISE |= {
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"), "relu at its corner": lambda x: F.relu(x - x),
    "clamp at its bounds": lambda x: (x - x).clamp(0, 1), "abs at 0": lambda x: (x - x).abs(),
    "prelu": lambda x: F.prelu(x, random(5)), "where": lambda x: torch.where(x > 0, x.abs().sqrt(), 0.0).nan_to_num(),
    "powers": lambda x: x**2 + x.abs() ** 0.5 + 2**x, "remainders": lambda x: (x % 2, x.fmod(2)),
    "floor_divide": lambda x: x.detach() // 0.3, "integers": lambda x: ((x * 3).long() / 2, (x * 3).int() + 1.5),
    "lerp": lambda x: torch.lerp(x, x * x, 0.3), "addcmul": lambda x: torch.addcmul(x, x, x, value=2), "erf": torch.erf,
    "logaddexp": lambda x: torch.logaddexp(x, x * 2), "atan2": lambda x: torch.atan2(x, x + 1),
    "ldexp": lambda x: torch.ldexp(x, torch.tensor(3)), "bessel": lambda x: torch.special.i0(x),
    "xlogy": lambda x: torch.special.xlogy(x, x.abs()), "complex": lambda x: torch.view_as_real(torch.complex(x, x * 2)),
    "types": lambda x: (x.float() + 1, x > 0, x.to(torch.int32)), "bits": lambda x: ((x * 9).int() & 3) << 2,
}  # fmt: skip
REDUCTIONS = {
    "sum": lambda x: x.sum(), "mean": lambda x: x.mean(0), "std": lambda x: x.std(), "var": lambda x: x.var(1),
    "prod": lambda x: x.prod(1), "max": lambda x: x.max(), "max along": lambda x: x.max(1),
    "max of equal": lambda x: (x * 0).max(1).values, "amax of equal": lambda x: (x * 0).amax(1),
    "min along": lambda x: x.min(1), "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(),
    "amax": lambda x: x.amax((0, 1)), "logsumexp": lambda x: x.logsumexp(1), "norm": lambda x: x.norm(),
    "norm of 0": lambda x: (x * 0).norm(), "norms": lambda x: torch.linalg.vector_norm(x, 3, dim=1),
    "cumsum": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(0), "cummax": lambda x: torch.cummax(x, 0),
    "sort": lambda x: x.sort(1), "sort down": lambda x: x.round().sort(dim=1, descending=True, stable=True),
    "topk": lambda x: x.topk(2, 1), "any, all": lambda x: ((x > 0).any(), (x > 0).all(1)),
    "median": lambda x: x.median(1), "median of equal": lambda x: x.round().detach().add(0 * x).median(),
    "median of all": lambda x: x.median(), "kthvalue": lambda x: x.kthvalue(3, 1),
    "logcumsumexp": lambda x: torch.logcumsumexp(x, 0), "softmax": lambda x: x.softmax(1),
    "cdist": lambda x: torch.cdist(x, x + 1), "var_mean": lambda x: torch.var_mean(x, 1),
    "counts": lambda x: (x > 0).sum(), "nanmean": lambda x: x.nanmean(),
}  # fmt: skip
MOVEMENTS = {
    "view": lambda x: x.view(10, 8), "permute": lambda x: x.permute(2, 0, 1), "cat": lambda x: torch.cat([x, x], 1),
    "stack": lambda x: torch.stack([x, x], 1), "split": lambda x: x.split(2, 1), "chunk": lambda x: x.chunk(3, -1),
    "unbind": lambda x: x.unbind(0), "expand": lambda x: x.expand(3, 2, 5, 8), "repeat": lambda x: x.repeat(1, 2, 1),
    "unfold": lambda x: x.unfold(1, 2, 2), "einsum": lambda x: torch.einsum("bij,bkj->bik", x, x),
    "flip": lambda x: x.flip(0, 2), "roll": lambda x: x.roll((1, 2), (0, 1)), "tril": torch.tril,
    "triu": lambda x: torch.triu(x, 1), "diagonal": lambda x: torch.diagonal(x, 1, 1, 2), "diff": lambda x: x.diff(),
    "diagonal_scatter": lambda x: torch.diagonal_scatter(x[0], x[0, 0, :5] * 2, 1),
    "as_strided": lambda x: (x * 2).as_strided((3, 2), (2, 5), 1) * x.is_same_size(x),
    "pad": lambda x: F.pad(x, (-1, 2, 0, 1), value=3.0), "reflect": lambda x: F.pad(x, (1, 2), mode="reflect"),
    "kron": lambda x: torch.kron(x[0], x[0]), "makers": lambda x: (torch.arange(5) * x[0, 0, 0], torch.full_like(x, 2)),
    "written": written, "partly graded": partly_graded, "slices": lambda x: (x[..., 1:3], x[::2, None], x[:, -1]),
}  # fmt: skip
PLACES = {
    "index": lambda x: (x[I], x[:, I], x[I, [0, 2]]), "gather": lambda x: x.gather(0, ALONG[:, :3].contiguous()),
    "index_put": lambda x: zeros(3, 5, 8).index_put((I,), x),
    "index_put of duplicates": lambda x: zeros(2, 5, 8).index_put((I * 0,), x, accumulate=True),
    "scatter": lambda x: zeros(3, 5, 8).scatter(0, ALONG, x),
    "scatter_add": lambda x: zeros(3, 5, 8).scatter_add(0, ALONG * 0, x),
    "scatter_reduce": lambda x: zeros(3, 5, 8).scatter_reduce(0, ALONG, x, "amax"),
    "means": lambda x: zeros(3, 5, 8).scatter_reduce(0, ALONG * 0, x, "mean", include_self=False),
    "index_add": lambda x: zeros(3, 5, 8).index_add(0, I, x, alpha=2), "index_select": lambda x: x.index_select(1, I),
    "index_fill": lambda x: x.index_fill(1, I, 2.0), "masked_fill": lambda x: x.masked_fill(x > 0, 0.0),
    "masked_scatter": lambda x: x.masked_scatter(x > 0, x.flip(0)), "put": lambda x: x.put(I, x[0, 0, :2] * 3),
    "take_along_dim": lambda x: torch.take_along_dim(x, I[:, None, None], 0),
    "one_hot": lambda x: F.one_hot(I, 4) * x.sum(), "bucketize": lambda x: torch.bucketize(x, random(5).sort().values),
    "searchsorted": lambda x: torch.searchsorted(x[0].sort().values, x[1]),
}  # fmt: skip
MATRICES = {
    "pinv": lambda x: torch.linalg.pinv(x[0]),
    "matmul": lambda x: x @ x.mT, "solve": lambda x: torch.linalg.solve(x[0, :3, :3], x[0, :3, :2]),
    "inv": lambda x: torch.linalg.inv(x[0, :3, :3]), "det": lambda x: torch.linalg.det(x[0, :3, :3]),
    "slogdet": lambda x: torch.linalg.slogdet(x[0, :3, :3]),
    "cholesky": lambda x: torch.linalg.cholesky(x[0] @ x[0].mT + torch.eye(5, dtype=x.dtype)),
    "eigvalsh": lambda x: torch.linalg.eigvalsh(x[0] @ x[0].mT), "svdvals": lambda x: torch.linalg.svdvals(x[0]),
    "triangle": lambda x: torch.linalg.solve_triangular(x[0, :3, :3].triu(), x[0, :3, :2], upper=True),
    "rfft": lambda x: torch.fft.rfft(x).abs(), "ifft": lambda x: torch.fft.ifft(torch.fft.fft(x, norm="ortho")).real,
}  # fmt: skip
TABLES = {**POINTWISE, **REDUCTIONS, **MOVEMENTS, **PLACES, **MATRICES}


@pytest.mark.parametrize("name", TABLES)
def test_functions_do_what_they_do_in_pytorch(name: str) -> None:
    agrees(TABLES[name], X)


def test_hardsigmoid_has_pytorchs_precision() -> None:
    agrees(F.hardsigmoid, X, rtol=1e-8)  # its derivative is 1/6 in single precision


def test_where_has_no_nan_of_what_is_not_taken() -> None:
    g = pliant.grad(lambda x: np.sum(pliant.from_torch(lambda x: torch.where(x > 0, x.sqrt(), 0.0))(x)))
    assert_array_equal(g(np.array([4.0, -1.0])), [0.25, 0.0])  # PyTorch has NaN


LOSSES = {
    "cross_entropy": lambda x, y: F.cross_entropy(x, LABELS, label_smoothing=0.1), "mse": F.mse_loss, "l1": F.l1_loss,
    "smooth_l1": F.smooth_l1_loss, "huber": F.huber_loss, "nll": lambda x, y: F.nll_loss(F.log_softmax(x, -1), LABELS),
    "bce": lambda x, y: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)),
    "bce with logits": lambda x, y: F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)),
    "kl_div": lambda x, y: F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction="batchmean"),
    "cosine": lambda x, y: F.cosine_embedding_loss(x, y, torch.ones(3)),
    "triplet": lambda x, y: F.triplet_margin_loss(x, y, x * y),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_pytorchs(name: str) -> None:
    agrees(LOSSES[name], random(3, 4), random(3, 4, seed=1))


IMAGES, KERNEL, TURNED = random(2, 4, 6, 6), random(3, 4, 3, 3, seed=1), random(4, 3, 3, 3, seed=2)
WINDOWS = {
    "conv2d": lambda x: F.conv2d(x, KERNEL, stride=2, padding=1), "dilated": lambda x: F.conv2d(x, KERNEL, dilation=2),
    "conv1d": lambda x: F.conv1d(x[:, :, 0], KERNEL[..., 0]), "turned": lambda x: F.conv_transpose2d(x, TURNED),
    "turned, strided": lambda x: F.conv_transpose2d(x, TURNED, stride=2, padding=1, output_padding=1),
    "turned, grouped": lambda x: F.conv_transpose2d(x, TURNED[:, :2], groups=2),
    "each channel": lambda x: F.conv2d(x, KERNEL[:1].mT.reshape(4, 1, 3, 3), groups=4, padding="same"),
    "conv3d": lambda x: F.conv3d(x[:, None], torch.ones(2, 1, 2, 2, 2, dtype=x.dtype)),
    "avg_pool": lambda x: F.avg_pool2d(x, 3, stride=2, padding=1),
    "avg_pool of what is there": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    "max_pool": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True),
    "max_pool1d": lambda x: F.max_pool1d(x[:, :, 0], 2), "adaptive": lambda x: F.adaptive_avg_pool2d(x, 4),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), "group_norm": lambda x: F.group_norm(x, 2),
    "instance_norm": F.instance_norm, "layer_norm": lambda x: F.layer_norm(x, (6,)), "unfold": lambda x: F.unfold(x, 2),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2), "local_response_norm": lambda x: F.local_response_norm(x, 2),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
}  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_and_norms_are_pytorchs(name: str) -> None:
    agrees(WINDOWS[name], IMAGES)


def test_integers_and_halves_promote_as_in_pytorch() -> None:
    small, whole = X.float(), torch.tensor([1, 2, 3], dtype=torch.int32)
    for g in (
        lambda x: x + whole[0],
        lambda x: x * torch.tensor(2.5, dtype=torch.float64),
        lambda x: whole / 2 + x[0, 0, 0],
    ):
        y = pliant.from_torch(g)(small.numpy())
        assert f"torch.{y.dtype}" == str(g(small).dtype) == "torch.float32"
    assert pliant.from_torch(lambda n: n.sum())(whole.numpy()).dtype == np.int64
    assert pliant.from_torch(lambda n: n / 2)(whole.numpy()).dtype == np.float32


SINGLE = torch.ones(5, 8)
MIXED = {
    "linear": nn.Linear(8, 2), "matmul": lambda x: x @ SINGLE.T, "mv": lambda x: x[0] @ SINGLE[0],
    "norm": nn.LayerNorm(8), "batch norm": nn.BatchNorm1d(5).eval(),
    "baddbmm": lambda x: torch.baddbmm(SINGLE, x, x.mT @ x), "integers": lambda x: x.long() @ SINGLE.T,
    "places": lambda x: SINGLE.index_put((I,), x[:, 0]), "lerp": lambda x: torch.lerp(x, SINGLE, 0.3),
    "rows": lambda x: SINGLE.index_add(0, I, x[:, 0]), "distances": lambda x: torch.cdist(x, SINGLE),
    "entropy": lambda x: F.binary_cross_entropy(x.sigmoid(), SINGLE.expand(2, 5, 8)),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_dtypes_that_pytorch_does_not_promote_are_refused(name: str) -> None:
    with pytest.raises(RuntimeError):
        MIXED[name](X)
    with pytest.raises(DTypeError, match=r"which PyTorch does not promote\n.*-->(.|\n)*hint: module\.double\(\)"):
        pliant.from_torch(MIXED[name])(X.numpy())


def test_a_row_is_replaced_in_the_dtype_of_the_array() -> None:
    agrees(lambda x: zeros(2, 5).float().select_scatter(x[0, :, 0], 0, 1), X, rtol=1e-6)


def model() -> Any:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).double()


def test_transformations_compose_with_numpy_around() -> None:
    pliant.to_torch(np.sin)  # which loads PyTorch's forward mode, that warns
    f, xs = pliant.from_torch(model()), random(3, 4).numpy()

    def loss(x: Any) -> Any:
        return np.sum(f(np.sin(x)) ** 2)

    wanted = np.stack([pliant.grad(loss)(x) for x in xs])
    assert_allclose(pliant.vmap(pliant.grad(loss))(xs), wanted, rtol=1e-12)
    assert_allclose(pliant.jit(loss)(xs[0]), loss(xs[0]), rtol=1e-12)
    g = model()
    hessian = torch.func.hessian(lambda x: (g(torch.sin(x)) ** 2).sum())(torch.tensor(xs[0]))
    assert_allclose(pliant.hessian(loss)(xs[0]), hessian.detach(), rtol=1e-9, atol=1e-12)
    assert "tanh" in str(pliant.trace(loss, xs[0]))


def test_parameters_are_read_again_at_each_call() -> None:
    g, x = model(), random(4).numpy()
    f = pliant.from_torch(g)
    inside = pliant.jit(lambda x: f(x) * 2)
    before = f(x), inside(x)
    with torch.no_grad():
        for p in g.parameters():
            p.add_(0.1)
    wanted = g(torch.tensor(x)).detach()
    assert not np.allclose(before[0], wanted)
    assert_allclose(f(x), wanted, rtol=1e-12)
    assert_allclose(inside(x), 2 * wanted, rtol=1e-12)


def test_a_module_may_change_its_mode_and_its_tensors() -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x: Any) -> Any:
            return x * self.w + (1.0 if self.training else 0.0)

    g = Noisy()
    f, x = pliant.from_torch(g), np.ones(3, np.float32)
    assert_array_equal(f(x), [2.0, 2.0, 2.0])
    g.eval()
    assert_array_equal(f(x), [1.0, 1.0, 1.0])
    g.double()
    assert f(x).dtype == np.float64
    g.w.data = torch.full((3,), 4.0, dtype=torch.float64)
    assert_array_equal(f(x), [4.0, 4.0, 4.0])


def test_compiled_functions_notice_that_a_module_changed() -> None:
    layer, ones = nn.Linear(4, 1), np.ones(4, np.float32)
    for f in (pliant.from_torch(layer), pliant.from_torch(lambda x: layer(x))):
        inside, slope = pliant.jit(lambda x, f=f: f(x) + 0), pliant.jit(pliant.grad(lambda x, f=f: np.sum(f(x))))
        back = pliant.to_torch(lambda x, f=f: f(x))
        for value in (1.0, 2.0):
            layer.weight = nn.Parameter(torch.full((1, 4), value))
            layer.bias.data = torch.tensor([value])
            for _ in range(3):
                assert_array_equal(f(ones), [5 * value])
                assert_array_equal(inside(ones), [5 * value])
                assert_array_equal(slope(ones), [value] * 4)
                assert_array_equal(back(torch.ones(4)), [5 * value])


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.BatchNorm1d(4)])
def test_compiled_functions_notice_that_a_module_trains(layer: Any) -> None:
    f, x = pliant.from_torch(layer.eval()), np.ones((2, 4), np.float32)
    inside = pliant.jit(lambda x: f(x) + 0)
    inside(x), inside(x)
    wanted = inside(x)
    layer.train()
    with pytest.raises(UnsupportedError, match=r"eval\(\)"):
        inside(x)
    layer.eval()
    assert_array_equal(inside(x), wanted)


def test_parameters_may_be_an_argument() -> None:
    g, x = model(), random(4)
    f = pliant.from_torch(g, functional=True)
    parameters = {name: p.detach().numpy().copy() for name, p in g.named_parameters()}

    def loss(parameters: Any, x: Any) -> Any:
        return np.sum(f(parameters, x) ** 2)

    got = pliant.grad(loss)(parameters, x.numpy())
    (g(x) ** 2).sum().backward()
    assert_allclose(got["0.weight"], g[0].weight.grad, rtol=1e-10)
    assert_allclose(got["2.bias"], g[2].bias.grad, rtol=1e-10)
    some = {"2.bias": np.zeros(2)}
    assert_allclose(f(some, x.numpy()), (g(x) - g[2].bias).detach(), rtol=1e-10, atol=1e-12)


def test_there_and_back_is_the_same_function() -> None:
    x = random(4)
    back = pliant.to_torch(pliant.from_torch(model()))
    assert_allclose(back(x), model()(x).detach(), rtol=1e-12)
    assert_allclose(torch.func.jacrev(back)(x), torch.func.jacrev(model())(x).detach(), rtol=1e-10)


def test_a_graph_may_be_made_inside_pytorchs_transforms() -> None:
    x, g = random(4), model()
    for f in (g, lambda x: g(x) * 2):
        back, again = (pliant.to_torch(pliant.from_torch(f)) for _ in range(2))
        wanted = torch.func.jacrev(f)(x).detach()
        assert_allclose(torch.func.jacrev(back)(x), wanted, rtol=1e-10)
        assert_allclose(torch.vmap(torch.func.jacfwd(again))(x[None])[0], wanted, rtol=1e-10)


def test_a_copy_has_a_module_of_its_own() -> None:
    f, x = pliant.from_torch(model()), np.ones(4)
    before, other = f(x), copy.deepcopy(f)
    with torch.no_grad():
        f.g[2].bias.add_(1)
    assert_allclose(f(x), before + 1, rtol=1e-12)
    assert_array_equal(other(x), before)


def test_containers_and_options_come_and_go() -> None:
    f = pliant.from_torch(lambda p, scale, *, bias=None: {"y": p["a"] * scale + bias, "n": (p["b"], None, "text")})
    made = f({"a": np.ones(2), "b": np.arange(2)}, 3.0, bias=np.ones(2))
    assert_array_equal(made["y"], [4.0, 4.0])
    assert_array_equal(made["n"][0], [0, 1])
    assert made["n"][1:] == (None, "text")


def test_each_shape_and_dtype_has_its_graph() -> None:
    calls = []

    def g(x: Any) -> Any:
        calls.append(tuple(x.shape))
        return x.sum() * x.shape[0]

    f = pliant.from_torch(g)
    assert float(f(np.ones(3))) == 9.0
    assert float(f(np.ones((2, 3)))) == 12.0
    count = len(calls)
    f(np.ones(3))
    assert len(calls) == count
    assert f(np.ones(3, np.float32)).dtype == np.float32


def test_integers_and_truth_values_that_have_to_be_known_are() -> None:
    f = pliant.from_torch(lambda x, dim, keepdim=False: x.sum(dim, keepdim=keepdim) * (2 if keepdim else 1))
    x = X.numpy()
    for dim in (0, 1):
        assert_allclose(f(x, dim), x.sum(dim), rtol=1e-12)
    assert_allclose(f(x, 1, keepdim=True), 2 * x.sum(1, keepdims=True), rtol=1e-12)
    assert_allclose(pliant.jit(lambda x, n: f(x, n))(x, 2), x.sum(2), rtol=1e-12)


def test_tensors_from_outside_are_read_again_at_each_call() -> None:
    outside = torch.ones(3, dtype=torch.float64)
    f = pliant.from_torch(lambda x: x * outside)
    assert_array_equal(f(np.ones(3)), np.ones(3))
    outside.fill_(2.0)
    assert_array_equal(f(np.ones(3)), 2 * np.ones(3))


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.round()

    @staticmethod
    def backward(ctx: Any, ct: Any) -> Any:
        return ct


REFUSED = {
    "derivative": (lambda x: Straight.apply(x), UnsupportedError, "Straight has its own derivative"),
    "operator": (lambda x: F.adaptive_max_pool1d(x, 2), UnsupportedError, r"aten\.adaptive_max_pool\w* has no translation"),
    "strides": (lambda x: x[0].T.as_strided((2, 2), (1, 2)), UnsupportedError, r"as_strided of a part of an array"),
    "dropout": (lambda x: F.dropout(x), UnsupportedError, r"from_torch: aten\.\w+ .*"),
    "random": (lambda x: x + torch.rand(8), UnsupportedError, r"aten\.rand\w* has no translation"),
    "write": (lambda x: x.add_(1), UnsupportedError, "writes to its arguments"),
    "error": (lambda x: x.reshape(7, 7, 7), ArgumentError, "PyTorch cannot record the function"),
    "bfloat16": (lambda x: x.bfloat16() * 2, DTypeError, "bfloat16"),
    "classes": (lambda x: F.one_hot(x.long()), TracedValueError, "number of classes"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_translation_is_refused(name: str) -> None:
    g, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        pliant.from_torch(g)(X.abs().numpy())


def test_the_error_shows_the_users_line() -> None:
    def g(x: Any) -> Any:
        return F.adaptive_max_pool1d(x, 2)

    with pytest.raises(PliantError, match=r"test_of_torch\.py:\d+, in g\n.*adaptive_max_pool1d\(x, 2\)"):
        pliant.from_torch(g)(X.numpy())


def set_data(m: Any, x: Any) -> None:
    m.weight.data = x


def set_parameter(m: Any, x: Any) -> None:
    m.weight = nn.Parameter(x)


SETTINGS = {
    "double": (lambda m, x: m.double(), "replaces what a tensor or parameter holds"),
    "to": (lambda m, x: m.to(torch.float64), "replaces what a tensor or parameter holds"),
    "data": (set_data, "replaces what a tensor or parameter holds"),
    "parameter": (set_parameter, "replaces weight, a parameter or buffer of Linear"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_function_that_replaces_parameters_is_refused(name: str) -> None:
    change, text = SETTINGS[name]
    layer = nn.Linear(3, 3)
    weight = layer.weight.detach().clone()

    def g(x: Any) -> Any:
        change(layer, x)
        return layer(x)

    with pytest.raises(UnsupportedError, match=rf"{text}\n.*test_of_torch\.py:\d+, in "):
        pliant.from_torch(g)(np.ones((3, 3)))
    assert layer.weight.dtype == torch.float32
    assert_array_equal(layer.weight.detach(), weight)
    assert pliant.from_torch(lambda x: layer.float()(x))(np.ones((3, 3), np.float32)).shape == (3, 3)


def turns(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def normal(x: Any) -> Any:
    return torch.distributions.Normal(x, 1.0).log_prob(x)


LINES = {
    "branch": (turns, r"looks at numbers while it is recorded\n.*\d+, in turns\n +return x if x.sum"),
    "item": (lambda x: x * x.sum().item(), r"looks at numbers while it is recorded\n.*, in <lambda>"),
    "numpy": (lambda x: x.numpy(), r"looks at numbers(.|\n)*hint: PyTorch's functions inside"),
    "function of numpy": (lambda x: np.sin(x), "looks at numbers"),
    "list": (lambda x: x.tolist(), "looks at numbers"),
    "distribution": (normal, r"looks at numbers(.|\n)*, in normal\n(.|\n)*validate_args=False"),
    "mask": (lambda x: x[x > 0], r"the shape of what aten\.index makes depends on numbers\n.*test_of_torch"),
    "name": (lambda x: x.foo(), r"AttributeError: 'Tensor' object has no attribute 'foo'\n.*test_of_torch"),
    "shapes": (lambda x: x[0] @ x[0], r"RuntimeError: a and b must(.|\n)*test_of_torch"),
    "dropout": (nn.Dropout(), r"no translation(.|\n)*test_of_torch(.|\n)*hint: call module\.eval\(\)"),
}


@pytest.mark.parametrize("name", LINES)
def test_errors_say_where(name: str, capfd: Any) -> None:
    g, text = LINES[name]
    with pytest.raises(PliantError, match=text):
        pliant.from_torch(g)(X.numpy())
    assert not capfd.readouterr().err


def test_numbers_that_the_function_makes_may_be_looked_at() -> None:
    f = pliant.from_torch(lambda x: x * torch.tensor(3).item() if bool(torch.tensor(True)) else x)
    assert_array_equal(f(np.ones(2)), [3.0, 3.0])


def test_training_that_changes_a_module_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"eval\(\)"):
        pliant.from_torch(nn.BatchNorm1d(5).double())(X.numpy())


def test_functional_wants_a_module() -> None:
    with pytest.raises(ArgumentError, match="functional=True wants a module"):
        pliant.from_torch(torch.sin, functional=True)({}, np.ones(3))


def test_settings_of_pytorch_are_left_as_they_were() -> None:
    fast, apply = torch.backends.mha.get_fastpath_enabled(), torch.autograd.Function.apply
    pliant.from_torch(torch.sin)(np.ones(3))
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert torch.autograd.Function.apply == apply
    x = torch.ones(3, requires_grad=True)
    Straight.apply(x).sum().backward()
    assert_array_equal(x.grad, np.ones(3))


@pytest.mark.parametrize("f", [lambda x: torch.tensor(x), lambda x: torch.as_tensor([x[0], x[1]]), torch.from_numpy])
def test_tensors_are_not_made_of_arrays_that_are_traced(f: Any) -> None:
    words = r"torch\.\w+ is a function of Python's that needs numbers(.|\n)*test_of_torch(.|\n)*pliant.from_torch"
    with pytest.raises(pliant.errors.TracedValueError, match=words):
        pliant.jit(lambda x: f(x))(np.arange(3.0))
