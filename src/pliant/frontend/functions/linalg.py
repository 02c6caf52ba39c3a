"""numpy.linalg: solutions, factorisations and decompositions of stacked matrices."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import DomainError, DTypeError, MatrixError, PliantError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import (
    as_traced,
    axes_of,
    broadcast_shapes,
    broadcast_value,
    integer_of,
    result_dtype,
    value_of,
)
from pliant.frontend.decided import truth_of
from pliant.frontend.functions import caught
from pliant.frontend.functions.common import NO_VALUE, known, one_of, solid, unsupported
from pliant.ops import least_squares, solve, spectral, triangular
from pliant.ops.compare import equal, greater, not_equal
from pliant.ops.complex import conj, imag
from pliant.ops.einsum import matmul
from pliant.ops.elementwise import convert, mul
from pliant.ops.matrix import adjoint, columns, eye, real_part
from pliant.ops.reduce import reduce_and, reduce_max, reduce_or, reduce_sum
from pliant.ops.shape import permute, reshape

EPSILON: Final = {"f32": float(np.finfo("f4").eps), "f64": float(np.finfo("f8").eps)}


class EighResult(NamedTuple):
    """What np.linalg.eigh returns."""

    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    """What np.linalg.eig returns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """What np.linalg.qr returns."""

    Q: Any
    R: Any


class SlogdetResult(NamedTuple):
    """What np.linalg.slogdet returns."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """What np.linalg.svd returns."""

    U: Any
    S: Any
    Vh: Any


def floating(*xs: Any) -> tuple[Value, ...]:
    """Values of the one dtype that linear algebra computes with: integers as f64."""
    arrays = [solid(x) for x in xs]
    dtype = result_dtype(*arrays)
    if dtype == "f16":
        raise DTypeError("array type float16 is unsupported in linalg", hint="use .astype(np.float32)").at(
            ("here", here())
        )
    dtype = dtype if dtype[0] in "fc" else "f64"
    return tuple(value_of(x, dtype) for x in arrays)


def matrices(name: str, a: Any, *, square: bool = False) -> Value:
    """A stack of matrices, or MatrixError."""
    (x,) = floating(a)
    _check_matrices(name, x, square=square)
    return x


def _check_matrices(name: str, x: Value, *, square: bool) -> None:
    if x.type.rank < 2:
        raise MatrixError(f"np.linalg.{name}: {x.type} is no matrix: it has less than two axes").at(("here", here()))
    if square and x.shape[-1] != x.shape[-2]:
        raise MatrixError(f"np.linalg.{name}: {x.type} is not square in its last two axes").at(("here", here()))


def _cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """np.linalg.cholesky; its gradient is Hermitian."""
    return fresh(triangular.cholesky(caught.definite(matrices("cholesky", a, square=True)), upper=bool(upper)))


def _qr(a: Any, mode: str = "reduced") -> Any:
    """np.linalg.qr, but for mode="raw"."""
    if one_of(("reduced", "complete", "r", "raw"), mode, "np.linalg.qr: mode") == "raw":
        raise unsupported("np.linalg.qr: mode 'raw' is not supported", "use 'reduced', 'complete' or 'r'")
    q, r = triangular.qr(matrices("qr", a), complete=mode == "complete")
    return fresh(r) if mode == "r" else QRResult(fresh(q), fresh(r))


def _inv(a: Any) -> Any:
    """np.linalg.inv."""
    return fresh(solve.inv(caught.regular(matrices("inv", a, square=True))))


def _det(a: Any) -> Any:
    """np.linalg.det."""
    return fresh(solve.det(matrices("det", a, square=True)))


def _slogdet(a: Any) -> Any:
    """np.linalg.slogdet."""
    sign, logabsdet = solve.slogdet(matrices("slogdet", a, square=True))
    return SlogdetResult(fresh(sign), fresh(logabsdet))


def _solve(a: Any, b: Any) -> Any:
    """np.linalg.solve."""
    x, y = floating(a, b)
    matrices("solve", a, square=True)
    is_vector = y.type.rank == 1
    return fresh(solve_values(x, columns(y) if is_vector else y, is_vector=is_vector))


def solve_values(a: Value, b: Value, *, is_vector: bool = False) -> Value:
    """a⁻¹·b, the leading axes broadcast; one matrix is factored once, whatever b's leading axes are."""
    a = caught.regular(a)
    try:
        lead = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        m, k = b.shape[-2:]
        b = broadcast_value(b, (*lead, m, k))
        if a.type.rank == 2 and lead:
            n = math.prod(lead)
            y = solve.Solve().batch(n, (False, True), a, reshape(b, (n, m, k)))
            y = reshape(y, (*lead, m, k))
        else:
            y = solve.solve(broadcast_value(a, (*lead, *a.shape[-2:])), b)
    except PliantError as error:
        raise error.at(("here", here())) from None
    return reshape(y, y.shape[:-1]) if is_vector else y


def _triangle(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ShapeError(f"np.linalg.eigh: UPLO is 'L' or 'U', not {UPLO!r}").at(("here", here()))
    return UPLO.upper() == "U"


def _eigh(a: Any, UPLO: str = "L") -> Any:
    """np.linalg.eigh; its gradient is Hermitian, and that of vectors holds where values differ."""
    x = caught.finite(matrices("eigh", a, square=True), "Eigenvalues did not converge")
    w, v = spectral.eigh(x, upper=_triangle(UPLO))
    return EighResult(fresh(w), fresh(v))


def _eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """np.linalg.eigvalsh."""
    x = caught.finite(matrices("eigvalsh", a, square=True), "Eigenvalues did not converge")
    return fresh(spectral.Eigvalsh()(adjoint(x) if _triangle(UPLO) else x))


def _eig(a: Any) -> Any:
    """np.linalg.eig; complex, too, of real eigenvalues where data cannot decide that they are real."""
    a = matrices("eig", a, square=True)
    are_real = _are_real(a)
    w, v = spectral.Eig().apply(caught.finite(a, "Array must not contain infs or NaNs"))
    return EigResult(fresh(real_part(w)), fresh(real_part(v))) if are_real else EigResult(fresh(w), fresh(v))


def _eigvals(a: Any) -> Any:
    """np.linalg.eigvals."""
    return _eig(a).eigenvalues


def _are_real(a: Value) -> bool:
    """Whether the matrices are real and have real eigenvalues alone, as far as data decide it: then NumPy's results are
    real."""
    if a.dtype[0] == "c":
        return False
    parts = imag(spectral.Eigvals()(a))
    is_zero = equal(parts, const(0, parts.dtype))
    return bool(truth_of(reduce_and(is_zero, tuple(range(parts.type.rank))), "whether eigenvalues are real"))


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """np.linalg.svd; its gradient holds where singular values differ."""
    x = caught.finite(matrices("svd", a), "SVD did not converge")
    if not compute_uv:
        return fresh(spectral.SingularValues()(x))
    u, s, vh = spectral.svd(x, full=bool(full_matrices))
    return SVDResult(fresh(u), fresh(s), fresh(vh))


def _svdvals(x: Any, /) -> Any:
    """np.linalg.svdvals."""
    return fresh(spectral.SingularValues()(caught.finite(matrices("svdvals", x), "SVD did not converge")))


def _cutoff(name: str, x: Value, given: Any) -> float:
    """The relative size below which singular values count as 0; max(m, n)·ε by default."""
    number = known(given, f"the tolerance of np.linalg.{name}")
    return max(x.shape[-2:], default=0) * EPSILON[real_part(x).dtype] if number is None else float(number)


def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Any:
    """np.linalg.pinv; the tolerance must be one number known while tracing."""
    x = caught.finite(matrices("pinv", a), "SVD did not converge")
    if rcond is None:
        rcond = 1e-15 if rtol is NO_VALUE else rtol
    return fresh(least_squares.pinv(x, cutoff=_cutoff("pinv", x, rcond)))


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """np.linalg.lstsq; there are residuals if a has more rows than columns: full rank is taken for granted."""
    x, y = floating(a, b)
    if x.type.rank != 2 or y.type.rank not in (1, 2) or x.shape[0] != y.shape[0]:
        raise MatrixError(f"np.linalg.lstsq: {x.type} and {y.type} do not fit together").at(("here", here()))
    x = caught.finite(x, "SVD did not converge in Linear Least Squares")
    m, n = x.shape
    cutoff = EPSILON[real_part(x).dtype] if rcond == -1 else _cutoff("lstsq", x, rcond)
    right = columns(y) if y.type.rank == 1 else y
    solution = least_squares.lstsq(x, right, cutoff=cutoff)
    missed = right - matmul(x, solution)
    squares = reduce_sum(real_part(mul(missed, conj(missed))), (0,))
    residuals = squares if m > n else broadcast_value(const(0, squares.dtype), (0,))
    s = spectral.SingularValues()(x)
    shape = solution.shape[:1] if y.type.rank == 1 else solution.shape
    return (
        fresh(reshape(solution, shape)),
        fresh(residuals),
        fresh(convert(_rank(s, cutoff), "i32")),
        fresh(s),
    )


def _rank(s: Value, cutoff: float) -> Value:
    """How many singular values exceed `cutoff` times the largest: `real t[…, k] → i64[…]`."""
    axis = s.type.rank - 1
    if not s.shape[-1]:
        return broadcast_value(const(0, "i64"), s.shape[:-1])
    limit = cutoff * reduce_max(s, (axis,))
    limit = permute(broadcast_value(limit, (s.shape[-1], *limit.shape)), (*range(1, s.type.rank), 0))
    return reduce_sum(convert(greater(s, limit), "i64"), (axis,))


def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """np.linalg.matrix_rank; `rtol` must be one number known while tracing."""
    (x,) = floating(A)
    if x.type.rank < 2:
        return fresh(convert(reduce_or(not_equal(x, const(0, x.dtype))), "i64"))
    s = spectral.SingularValues()(x)
    if tol is None:
        return fresh(_rank(s, _cutoff("matrix_rank", x, rtol)))
    limit = broadcast_value(columns(value_of(tol, s.dtype)), s.shape)
    return fresh(reduce_sum(convert(greater(s, limit), "i64"), (s.type.rank - 1,)))


def _matrix_power(a: Any, n: Any) -> Any:
    """np.linalg.matrix_power; n must be known while tracing. Integers stay integers."""
    count = integer_of(known(n, "the exponent of np.linalg.matrix_power"))
    x = as_traced(a).value if count >= 0 else floating(a)[0]
    _check_matrices("matrix_power", x, square=True)
    if count == 0:
        return fresh(eye(x.shape[-1], x.dtype, x.shape[:-2]))
    if count < 0:
        x, count = solve.inv(caught.regular(x)), -count
    if count == 3:  # as NumPy does: by squares it would be x @ (x @ x)
        return fresh(matmul(matmul(x, x), x))
    result: Value | None = None
    while count:
        if count & 1:
            result = x if result is None else matmul(result, x)
        count >>= 1
        x = matmul(x, x) if count else x
    assert result is not None
    return fresh(result)


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """np.linalg.tensorsolve."""
    x, y = floating(a, b)
    if axes is not None:
        moved = axes_of(axes, x.type.rank)
        x = permute(x, (*(i for i in range(x.type.rank) if i not in moved), *moved))
    shape = x.shape[y.type.rank :]
    n = y.type.size
    if math.prod(shape) != n or x.type.size != n * n:
        raise MatrixError(f"np.linalg.tensorsolve: {x.type} and {y.type} make no square system").at(("here", here()))
    return fresh(reshape(solve_values(reshape(x, (n, n)), reshape(y, (n, 1))), shape))


def _tensorinv(a: Any, ind: int = 2) -> Any:
    """np.linalg.tensorinv."""
    (x,) = floating(a)
    first, last = x.shape[:ind], x.shape[ind:]
    if ind <= 0:
        raise DomainError(f"np.linalg.tensorinv: invalid ind argument {ind}").at(("here", here()))
    if math.prod(first) != math.prod(last):
        raise MatrixError(f"np.linalg.tensorinv: {x.type} with ind={ind} makes no square matrix").at(("here", here()))
    square = caught.regular(reshape(x, (math.prod(first), math.prod(last))))
    return fresh(reshape(solve.inv(square), (*last, *first)))


def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """np.linalg.trace."""
    return np.trace(x, offset, -2, -1, dtype)


def _diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """np.linalg.diagonal."""
    return np.diagonal(x, offset, -2, -1)


def _matrix_transpose(x: TracedArray, /) -> Any:
    """np.linalg.matrix_transpose."""
    if as_traced(x).type.rank < 2:
        raise ShapeError(f"matrix_transpose: {as_traced(x).type} has less than two axes").at(("here", here()))
    return np.swapaxes(x, -1, -2)  # type: ignore[call-overload]


FUNCTIONS: Final[dict[Any, Any]] = {
    np.linalg.cholesky: _cholesky,
    np.linalg.qr: _qr,
    np.linalg.inv: _inv,
    np.linalg.det: _det,
    np.linalg.slogdet: _slogdet,
    np.linalg.solve: _solve,
    np.linalg.eigh: _eigh,
    np.linalg.eigvalsh: _eigvalsh,
    np.linalg.eig: _eig,
    np.linalg.eigvals: _eigvals,
    np.linalg.svd: _svd,
    np.linalg.svdvals: _svdvals,
    np.linalg.pinv: _pinv,
    np.linalg.lstsq: _lstsq,
    np.linalg.matrix_rank: _matrix_rank,
    np.linalg.matrix_power: _matrix_power,
    np.linalg.tensorsolve: _tensorsolve,
    np.linalg.tensorinv: _tensorinv,
    np.linalg.trace: _trace,
    np.linalg.diagonal: _diagonal,
    np.linalg.matrix_transpose: _matrix_transpose,
}
