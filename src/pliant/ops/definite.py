"""Whether matrices have a Cholesky factor."""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Namespace, Tangents, Values
from pliant.core.types import Type
from pliant.ops.matrix import Matrices


@final
class Definite(Matrices):
    """Whether each matrix has a Cholesky factor: `t[…, n, n] → bool[…]`. Reads the lower triangle."""

    def infer(self, a: Type) -> Type:
        lead, _, _ = self.matrices(a, square=True)
        return Type("bool", lead)

    def numpy(self, np: Namespace, a: Any) -> Any:
        found = np.ones(a.shape[:-2], bool)
        for place in np.ndindex(*found.shape):
            try:
                np.linalg.cholesky(a[place])
            except np.linalg.LinAlgError:
                found[place] = False
        return found

    def jax(self, jnp: Namespace, a: Any) -> Any:
        return jnp.all(jnp.isfinite(jnp.linalg.cholesky(a, symmetrize_input=False)), axis=(-2, -1))

    def torch(self, torch: Namespace, a: Any) -> Any:
        return torch.linalg.cholesky_ex(a).info == 0

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return (self(*xs),), (None,)
