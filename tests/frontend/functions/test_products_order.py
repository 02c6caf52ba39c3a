"""How the results of `np.einsum` lie in memory, and its dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

EXTENTS = {"i": 3, "j": 2, "k": 4, "l": 1, "b": 2}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    "subscripts",
    ["ij,ij->ji", "ij,jk->ki", "ijk,ijk->kji", "ijk,kl->lji", "bij,bjk->kbi", "ij,kl->ljik", "ij,j->ji", "ij,jk,kl->li",
     "iik,j->kji", "ij,ij", "ji,kj->ik", "ij->ji"],
)  # fmt: skip
def test_products_lie_in_memory_as_numpys(subscripts: str, turned: bool) -> None:
    shapes = [[EXTENTS[label] for label in term] for term in subscripts.partition("->")[0].split(",")]
    arrays = [np.cos(np.arange(float(np.prod(s)))).reshape(s[::-1] if turned else s) for s in shapes]
    given = [a.T for a in arrays] if turned else arrays

    def f(*xs: Any) -> Any:
        made = np.einsum(subscripts, *xs)
        return made, made.ravel("K")

    for made, wanted in zip(pliant.jit(f)(*given), f(*given), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-14)


@pytest.mark.parametrize(("dtype", "casting"), [("f4", "same_kind"), ("f4", "safe"), ("i8", "unsafe"), ("c16", "safe")])
@pytest.mark.parametrize("subscripts", ["i,i->", "i,i->i", "i->i"])
def test_products_of_a_dtype_are_numpys(subscripts: str, dtype: str, casting: Any) -> None:
    x = np.array([1.5, 2.5])

    def f(x: Any) -> Any:
        return np.einsum(subscripts, *[x] * subscripts.count("i,"), x, dtype=dtype, casting=casting)

    try:
        wanted = f(x)
    except TypeError:
        with pytest.raises(TypeError, match="cannot cast"):
            pliant.jit(f)(x)
        return
    made = pliant.jit(f)(x)
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, rtol=1e-6)
