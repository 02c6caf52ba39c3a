"""Complex numbers and their parts. On real values each function here is the obvious one.

Transposes are adjoints under Re⟨a, b⟩, so that the gradient of |z|² is 2z.
"""

from __future__ import annotations

from typing import Any, final

from pliant.core.ir import Namespace, Tangents, Value, const
from pliant.core.types import COMPLEX_OF, Type
from pliant.errors import DTypeError
from pliant.ops.base import Elementwise, Linear, Unary, common_shape, fit, unfit
from pliant.rewrite.rule import rewrite, rule


@final
class Conj(Linear, Unary):
    """The complex conjugate: `c[…] → c[…]`."""

    domain = "c"

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (self(ct),)

    def support(self, find: Any, x: Value) -> Value | None:
        return find(x)


@final
class Real(Linear, Unary):
    """The real part: `c[…] → f[…]`."""

    domain = "c"
    makes = "real"

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (complex(ct, const(0, ct.dtype)),)

    def support(self, find: Any, x: Value) -> Value | None:
        return find(x)


@final
class Imag(Linear, Unary):
    """The imaginary part: `c[…] → f[…]`."""

    domain = "c"
    makes = "real"

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (complex(const(0, ct.dtype), ct),)

    def support(self, find: Any, x: Value) -> Value | None:
        return find(x)


@final
class Complex(Linear, Elementwise):
    """re + i·im: `f[…], f[…] → c[…]`."""

    domain = "f"
    linear = (0, 1)

    def infer(self, re: Type, im: Type) -> Type:
        if re.dtype != im.dtype or re.dtype not in ("f32", "f64"):
            raise DTypeError(f"complex: wants two f32 or two f64, got {re} and {im}")
        return Type(COMPLEX_OF[re.dtype], common_shape(self.name, (re, im)))

    def array(self, xp: Namespace, re: Any, im: Any) -> Any:
        dtype = xp.complex64 if str(re.dtype).endswith("32") else xp.complex128
        y = xp.empty(xp.broadcast_shapes(re.shape, im.shape), dtype=dtype)
        y.real, y.imag = re, im  # re + 1j·im would make NaN of an infinite part
        return y

    def jax(self, jnp: Namespace, re: Any, im: Any) -> Any:
        parts = jnp.stack(jnp.broadcast_arrays(re, im), axis=-1)
        return parts.view(jnp.complex64 if str(re.dtype).endswith("32") else jnp.complex128)[..., 0]

    def torch(self, torch: Namespace, re: Any, im: Any) -> Any:
        return torch.complex(*torch.broadcast_tensors(re, im))

    def transpose(self, ct: Value, re: Value | Type, im: Value | Type) -> Tangents:
        return (
            unfit(Real()(ct), re) if isinstance(re, Type) else None,
            unfit(Imag()(ct), im) if isinstance(im, Type) else None,
        )


def conj(x: Any) -> Any:
    """The complex conjugate; a real value unchanged."""
    return Conj()(x) if isinstance(x, Value) and x.dtype[0] == "c" else x


def real(x: Value) -> Value:
    """The real part; a real value unchanged."""
    return Real()(x) if x.dtype[0] == "c" else x


def imag(x: Value) -> Value:
    """The imaginary part; zeros for a real value."""
    return Imag()(x) if x.dtype[0] == "c" else fit(const(0, x.dtype), x.type)


complex = Complex()


@rule
def conj_of_conj(z: Any) -> tuple[Any, Any]:
    """conj(conj z) → z."""
    return Conj()(Conj()(z)), z


@rule
def real_of_conj(z: Any) -> tuple[Any, Any]:
    """Re(conj z) → Re z."""
    return Real()(Conj()(z)), Real()(z)


@rewrite(Real, reads=(Complex,))
def real_of_complex(value: Value) -> Value | None:
    """Re(x + i·y) → x."""
    part = value.args[0].args[0]
    return fit(part, value.type)


@rewrite(Imag, reads=(Complex,))
def imag_of_complex(value: Value) -> Value | None:
    """Im(x + i·y) → y."""
    part = value.args[0].args[1]
    return fit(part, value.type)


@rule
def complex_of_parts(z: Any) -> tuple[Any, Any]:
    """Re z + i·Im z → z."""
    return complex(Real()(z), Imag()(z)), z


RULES = (conj_of_conj, real_of_conj, real_of_complex, imag_of_complex, complex_of_parts)
