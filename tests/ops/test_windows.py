"""Windows that slide, and the sums over those that an element lies in."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose

import pliant
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.windows import Skew, Windows
from pliant.testing import check_primitive

RNG = np.random.default_rng(0)


SOME = (
    ((7,), (0,), (3,)), ((3, 5), (1,), (2,)), ((5, 4), (0, 1), (2, 3)), ((6, 2, 5), (2, 0), (1, 4)),
    ((9,), (0, 0), (2, 3)), ((4,), (0,), (4,)), ((6,), (0,), (5,)), ((2, 7), (1, 0), (3, 2)), ((3,), (0,), (0,)),
)  # fmt: skip


@pytest.mark.parametrize(("shape", "axes", "extents"), SOME)
def test_windows_are_numpys_and_obey_the_laws(shape, axes, extents):
    check_primitive(Windows(axes, extents), Type("f64", shape), oracle=lambda x: sliding_window_view(x, extents, axes))


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("shape", "axes"), [((5, 3), (0,)), ((5, 4, 2, 3), (0, 1)), ((2, 6, 3, 2), (1, 1))])
def test_skewed_arrays_obey_the_laws(shape, axes, back):
    def skewed(x):
        count, last = x.ndim - len(axes), x.shape[x.ndim - len(axes) :]
        y = np.empty(Skew(axes, back).infer(Type("f64", x.shape)).shape)
        for place in np.ndindex(y.shape):
            at = list(place)
            for axis, j, extent in zip(axes, place[count:], last, strict=True):
                at[axis] += extent - 1 - j if back else j
            y[place] = x[tuple(at)]
        return y

    check_primitive(Skew(axes, back), Type("f64", shape), oracle=skewed)


def test_arrays_that_are_too_small_are_refused():
    with pytest.raises(ShapeError, match="has none of extents"):
        Windows((0,), (5,)).infer(Type("f64", (3,)))
    with pytest.raises(ShapeError, match="too small to be skewed"):
        Skew((0,), back=True).infer(Type("f64", (2, 3)))


@pytest.mark.parametrize("extents", [(2, 3), (1, 9), (9, 1), (6, 6), (10, 12)])
def test_convolutions_in_the_plane_and_both_their_gradients(extents):
    def convolved(x, k):
        return (sliding_window_view(x, k.shape) * k).sum((-1, -2))

    x, k = RNG.normal(size=(10, 12)), RNG.normal(size=extents)
    made = pliant.jit(convolved)(x, k)
    assert_allclose(made, convolved(x, k), rtol=1e-12)
    ct = RNG.normal(size=made.shape)
    dx, dk = pliant.grad(lambda x, k: (convolved(x, k) * ct).sum(), (0, 1))(x, k)
    wanted = np.zeros_like(x)
    for i, j in np.ndindex(ct.shape):
        wanted[i : i + k.shape[0], j : j + k.shape[1]] += ct[i, j] * k
    assert_allclose(dx, wanted, rtol=1e-12, atol=1e-12)
    assert_allclose(dk, (sliding_window_view(x, ct.shape) * ct).sum((-1, -2)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "convolved",
    [
        lambda x, k: (sliding_window_view(x, k.shape) * k).sum((-1, -2)),
        lambda x, k: np.einsum("ijkl,kl->ij", sliding_window_view(x, k.shape), k),
    ],
)
def test_windows_are_read_where_they_lie_and_sums_are_made_side_by_side(convolved):
    explained = str(pliant.explain(convolved, np.ones((200, 200)), np.ones((9, 9))))
    assert "nest over 192 × 9 × 9 × 192" in explained
    assert "workspace: 64 bytes" in explained
