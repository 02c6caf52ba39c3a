"""Primitives for tests: functions of decompositions that have derivatives along every direction.

Cholesky and Eigh read one triangle but are differentiated along Hermitian matrices, and vectors are
determined only up to a factor. These compositions depend on neither choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from pliant.core.build import trace
from pliant.core.ir import Op, Value, Values
from pliant.core.types import Type
from pliant.ops.complex import conj
from pliant.ops.matrix import adjoint, corner, eye, part, products, real_part, scale_columns
from pliant.ops.spectral import Eig, Eigh, Eigvalsh, Svd
from pliant.ops.triangular import Cholesky


def positive(x: Value) -> Value:
    """A Hermitian matrix that is positive definite: x·xᴴ + 1."""
    return products(x, adjoint(x)) + eye(x.shape[-2], x.dtype, x.shape[:-2])


class Composed(Op):
    """A primitive that is only what it expands to."""

    def infer(self, x: Type) -> Any:
        types = tuple(y.type for y in trace(self.expand, x).results)
        return types if len(types) > 1 else types[0]


@final
@dataclass(frozen=True)
class CholeskyOfPositive(Composed):
    """The factor of x·xᴴ + 1."""

    def expand(self, x: Value) -> Value:
        return Cholesky()(positive(x))


@final
@dataclass(frozen=True)
class CubeByEigh(Composed):
    """The eigenvalues of x·xᴴ + 1, and its third power made from vectors."""

    def expand(self, x: Value) -> Values:
        w, v = Eigh().apply(positive(x))
        return w, products(scale_columns(v, w * w * w), adjoint(v))


@final
@dataclass(frozen=True)
class EigvalshOfPositive(Composed):
    """The eigenvalues of x·xᴴ + 1."""

    def expand(self, x: Value) -> Value:
        return Eigvalsh()(positive(x))


@final
@dataclass(frozen=True)
class SquaresByEig(Composed):
    """The squared eigenvalues, and the sizes of the elements of the vectors."""

    def expand(self, x: Value) -> Values:
        w, v = Eig().apply(x)
        return w * w, real_part(conj(v) * v)


@final
@dataclass(frozen=True)
class CubeBySvd(Composed):
    """Σ uᵢ·sᵢ³·vᵢᴴ, and the projections on the vectors that a full decomposition adds."""

    full: bool

    def expand(self, x: Value) -> Values:
        u, s, vh = Svd(self.full).apply(x)
        (m, n), k = x.shape[-2:], s.shape[-1]
        cube = products(scale_columns(corner(u, m, k), s * s * s), corner(vh, k, n))
        extra_u = part(u, (0, m), (k, u.shape[-1]))
        extra_v = adjoint(part(vh, (k, vh.shape[-2]), (0, n)))
        return (s, cube, *(products(e, adjoint(e)) for e in (extra_u, extra_v) if e.shape[-1]))
