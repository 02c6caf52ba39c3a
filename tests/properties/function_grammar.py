"""The functions of NumPy that no other line of a random program holds: templates as in `grammar`.

Methods of ufuncs are drawn for each ufunc that is supported; where NumPy takes no such dtypes, the line is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pliant.frontend.functions import ACCUMULATIONS, AT, PARTS, REDUCTIONS

UFUNCS = """
np.bitwise_and({biu}, {=}) | np.bitwise_or({biu}, {=}) | np.bitwise_xor({biu}, {=}) | np.left_shift({iu}, 2) | np.right_shift({iu}, {n}) | np.not_equal({any}, {=}) | np.greater({real}, {=}) | np.greater_equal({real}, {=})
np.less({real}, {=}) | np.less_equal({real}, {=}) | ~np.subtract({num}, {=}) | ~np.deg2rad({f}) | ~np.rad2deg({f}) | np.frexp({f})[0] | np.frexp({f})[1] | np.ldexp({f}, {n}) | ~np.matvec({num 2+}, {num 1}) | ~np.vecdot({num 1+}, {=}) | ~np.vecmat({num 1}, {num 2+})
~np.add({num}, {=}, dtype=complex) | ~np.multiply({iuf}, {=}, dtype=float) | ~np.divide({f}, {=}, where={b}, out=np.ones(⟦0⟧.shape)) | ~np.add({f}, {=}, where={b}, out=np.zeros(⟦0⟧.shape)) | ~np.exp({f}, where=⟦0⟧ < 1, out=np.zeros_like(⟦0⟧))
~special.erf({f}) | ~special.erfc({f}) | ~special.expm1({f}) | ~special.log1p(np.abs({f})) | ~special.expit({f}) | ~special.gammaln(np.abs({f}) + 0.5) | ~special.psi(np.abs({f}) + 0.5) | ~special.xlogy({f}, np.abs({=}) + 0.1) | ~special.xlog1py({f}, np.abs({=})) | ~special.entr(np.abs({f}))
~special.ndtr({f}) | ~special.logit(0.3 * np.tanh({f}) + 0.5) | ~special.log_expit({f}) | ~special.exp10({f})
~special.log_ndtr({f}) | ~special.ndtri(0.3 * np.tanh({f}) + 0.5) | ~special.erfinv(0.9 * np.tanh({f})) | ~special.erfcinv(0.9 * np.tanh({f}) + 1) | ~special.gamma(np.abs({f}) + 0.5) | ~special.loggamma(np.abs({f}) + 0.5) | ~special.rgamma(np.abs({f}) + 0.5)
~special.beta(np.abs({f}) + 0.5, np.abs({=}) + 0.5) | ~special.betaln(np.abs({f}) + 0.5, np.abs({=}) + 0.5) | ~special.binom(np.abs({f}) + np.abs({=}) + 1, np.abs(⟦0⟧) + 0.5) | ~special.rel_entr(np.abs({f}) + 0.1, np.abs({=}) + 0.1) | ~special.kl_div(np.abs({f}) + 0.1, np.abs({=}) + 0.1)
~special.huber(np.abs({f}) + 0.1, {=}) | ~special.pseudo_huber(np.abs({f}) + 0.1, {=}) | ~special.boxcox(np.abs({f}) + 0.1, np.tanh({=}) + 2) | ~special.inv_boxcox(np.abs({f}), np.tanh({=}) + 2) | ~special.exprel({f}) | ~special.i0({f}) | ~special.cbrt({f}) | ~special.exp2({f})
"""

PIECES = """
np.apply_along_axis(arr={num 1+}, axis={axis}, func1d=np.sort) | ~np.apply_along_axis(lambda r: r * r[::-1], 0, {num 1+}) | ~np.apply_over_axes(np.sum, {num 2+}, [0]) | np.array_equiv({any}, {=}) | np.astype({num}, {dtype}) | np.atleast_3d({any})
np.broadcast_arrays({any}, {=})[0] | np.compress([True, False], {any 1+}) | np.compress([False, True], {any 1+}, axis={axis}) | {any 1+}.compress([True, False], 0) | np.extract([True, False], {any 1}) | np.copy({any}) | np.diagflat({any 1}) | np.dsplit({any 3+}, [1])[0]
np.hsplit({any 2+}, [1])[1] | np.vsplit({any 2+}, [1])[0] | np.dsplit({any 3+}, 1)[0] | {any 2+}[np.ix_([0], [0, -1])] | np.matrix_transpose({any 2+}) | np.lib.stride_tricks.sliding_window_view({any 1}, 2) | np.lib.stride_tricks.sliding_window_view({any 2+}, 2, axis={axis})
np.take({any 1+}, [7, -9, 0], mode="wrap") | np.take({any 1+}, [[0, 9]], axis={axis}, mode="clip") | np.roll({any 2+}, ({n}, {n}), axis=(0, 1)) | np.repeat({any 1}, [1, 0, 2]) | np.repeat({any 2+}, [2, 1], axis={axis}) | np.tile({any 1+}, (2, 1, 2)) | np.rot90({any 2+}, {n}) | np.rot90({any 3+}, 1, (1, 2))
np.flip({any 2+}, (0, 1)) | np.insert({any 1+}, [0, 1], 2, axis={axis}) | np.insert({num 1}, [1, 0], {sc}) | np.delete({any 1+}, [0, -1], axis={axis}) | np.delete({any 1+}, slice(0, 2), axis={axis}) | np.append({num 2}, {==}, axis=0) | np.transpose({any 3}, (2, 0, 1)) | np.diag({any 1}, {n}) | np.diag({any 2}, {n})
np.diagonal({any 3+}, {n}, 0, 2) | np.tril({any 2+}, {n}) | np.triu({any 1}) | np.ravel({any 2+}, order="F") | {any 2+}.reshape(-1, order="F") | np.squeeze({any 2+}[None], 0) | np.expand_dims({any 1+}, (0, -1)) | np.moveaxis({any 3+}, [0, 1], [-1, 0]) | {any 2+}.flatten("F") | {num 1+}.astype({dtype}).view()
np.pad({num 1+}, ((1, 2),), constant_values=3) if {num 1+}.ndim == 1 else ⟦0⟧ | ~np.pad({num 1+}, 2, mode="linear_ramp", end_values=1) | np.pad({real 1+}, 1, mode="maximum") | np.pad({real 1+}, 1, mode="minimum") | ~np.pad({f 1+}, 2, mode="mean") | np.pad({num 1+}, 2, mode="symmetric")
~np.pad({f 1+}, 1, mode="reflect", reflect_type="odd") | ~np.pad({f 1+}, 3, mode="median") | ~np.pad({f 1+}, 2, mode="symmetric", reflect_type="odd") | np.pad({any 1+}, (0, 2), mode="edge") | np.choose(np.abs({i}) % 2, [{num}, {=}]) | np.choose({i} % 5 - 1, [{num}, {=}], mode="wrap") | np.select([{b}, ⟦0⟧], [{=}, 2.0], {lit})
np.piecewise({f}, [⟦0⟧ < 0], [lambda v: -v, lambda v: v * 2]) | np.piecewise({f 1+}, [⟦0⟧ < 0, ⟦0⟧ > 1], [1.0, np.negative, 3.0]) | np.where({num}, {=}, {lit}) | np.where({real} > 0, ⟦0⟧, {=}) | {any 1+}.take([0, -1, 0], axis={axis}) | {num 1+}.conj() | np.fromfunction(lambda i, j, k: i * k + j, (2, 3), k={sc}) | np.indices((2, 3))[1] * {sc}
np.mgrid[0:2, 0:3][1] + {sc} | np.concatenate([{any}, {any}], axis=None) | np.concatenate([{num 1+}, {==}], dtype=complex) | np.stack([{num 1+}, {==}], axis={axis}) | np.r_[{num 1}, {sc}] | np.c_[{num 1}, {==}] | np.array([{num 1}, {==}]) | np.array([[{sc}, 1], [2, {sc}]]) | np.asarray([{sc}, 2]) | np.array({num}, dtype={dtype})
"""

QUESTIONS = """
np.iscomplex({num}) | np.iscomplexobj({num}) | np.isneginf({f}) | np.isposinf({f}) | np.isreal({num}) | np.isrealobj({num}) | np.shape({any 1+})[0] | np.ndim({any}) | np.size({any}) | np.size({any 1+}, axis={axis}) | np.shares_memory({any 1+}[1:], ⟦0⟧[::-1][:2]) | np.may_share_memory({any 2+}[:1], ⟦0⟧.T[1:])
np.zeros(2, np.result_type({num}, {num})) | np.zeros(2, np.common_type({fc}, {=})) | np.zeros(1, np.min_scalar_type({lit})) | np.can_cast(⟦0⟧.dtype, float) if {num}.ndim else False | np.real_if_close({num}) | np.diag_indices_from({num 2})[0] | np.triu_indices_from({num 2})[1] | {num 2}[np.triu_indices_from(⟦0⟧, 1)]
np.unravel_index(np.abs({i}) % 6, (2, 3))[0] | np.ravel_multi_index((np.abs({i}) % 3, np.abs({=}) % 4), (3, 4)) | len(np.einsum_path("ij,jk->ik", {num 2}, {num 2})[0]) | np.isin({f}, [0.5, {sc}]) | np.isin({i}, {i}, invert=True) | np.isclose({fc}, {=}, equal_nan=True) | np.array_equal({f}, {==}, equal_nan=True)
"""

ORDER = """
np.argwhere({real 1+}).sum() | np.nonzero({num 1+})[0].sum() | {num 1+}.nonzero()[-1].sum() | np.flatnonzero({real 1+}).sum() | np.unique({i 1+}, return_counts=True)[1].max() | ~np.unique({real 1+}).sum() | ~np.union1d({real 1}, {=}).sum() | np.intersect1d({i 1}, {=}).sum() | np.setdiff1d({i 1}, {=}).sum() | np.setxor1d({i 1}, {=}).sum() | np.trim_zeros({i 1}).sum()
np.amax({real 1+}, axis={axis}) | np.min({real}) | np.min({real 1+}, axis={axis}, initial=1) | np.take_along_axis(⟦0⟧, np.argpartition({real 1+}, 1), -1)[..., 1] | np.partition({real 1+}, 1)[..., 1] | np.partition({real 2+}, 0, axis=0)[0] | ⟦0⟧.reshape(-1)[{real}.argpartition(0, axis=None)[0]]
np.lexsort(({real 1}, {==})) | np.lexsort({real 2}) | np.sort({num 1+}, axis=None) | np.sort({num 1+}, kind="stable", axis={axis}) | np.sort_complex({num 1}) | np.argsort({num 1+}, axis=None, kind="stable") | {num 1+}.argsort(axis={axis}, kind="stable") | np.argmax({real 2+}, axis={axis}, keepdims=True)
np.nanargmax({f 1+}) | np.nanargmin({f 1+}, axis={axis}) | np.nanmedian({f 1+}) | ~np.nanmedian({f 1+}, axis={axis}) | ~np.nanpercentile({f 1+}, 30) | ~np.nanquantile({f 1+}, [0.2, 0.7], axis={axis}) | ~np.nanprod({f 1+}) | ~np.nancumsum({f 1+}) | ~np.nancumprod({f 1}) | ~np.nanstd({f 1+}) | ~np.nanvar({f 1+}, axis={axis})
~np.nanvar({f 1+}, ddof=1) | np.nanmax({f 1+}, axis={axis}, keepdims=True) | np.nan_to_num({fc}, nan=1, posinf=2, neginf=-2) | np.clip({real}, None, 1) | np.clip({num}, {=}, None) | np.clip({iu}, 0, 2, out=⟦0⟧.copy()) | np.searchsorted(np.sort({real 1}), {real}, side="right") | np.searchsorted({f 1}, {sc}, sorter=np.argsort(⟦0⟧, kind="stable"))
np.digitize({f}, [1.0, 0.0, -1.0], right=True) | ~np.quantile({f 1+}, 0.4, method="lower") | ~np.quantile({f 1+}, 0.35, method="hazen", axis={axis}) | ~np.percentile({f 1+}, [10, 90], method="midpoint") | ~np.quantile({f 1+}, 0.6, axis={axis}, keepdims=True) | np.quantile({f 1+}, 0.3, method="inverted_cdf") | ~np.median({f 2+}, axis=(0, 1))
np.bincount(np.abs({i 1}) % 4, minlength=4) | ~np.bincount(np.abs({i 1}) % 4, {==}, minlength=4) | np.histogram({f}, 3, (-2, 2))[0] | np.histogram2d({f 1}, {==}, 2, ((-2, 2), (-3, 3)))[0] | np.histogramdd({f 2}[:, :2], 3, ((-2, 2), (-3, 3)))[0] | ~np.histogram({f 1}, [-2.0, 0.0, 2.0], weights={==})[0] | ~np.histogram_bin_edges({f}, 3) | ~np.histogram({f 1}, 4, (-3, 3), density=True)[0] | np.maximum.accumulate({real 2+}, axis={axis})
np.ptp({real 2+}, axis={axis}) | np.take_along_axis({num 2+}, np.argmax(np.real(⟦0⟧), axis=0, keepdims=True), axis=0) | np.unwrap({f 2+}, axis={axis}) | ~np.unwrap({f 1+}, period=2.0) | np.max({real 2+}, axis={axes}, where=⟦0⟧ < 1, initial=-5) | np.all({any 1+}, axis={axes}, keepdims=True) | np.sort({c 1+}, axis={axis}) | np.sort({c}, axis=None)
"""

SUMS = """
~np.corrcoef({f 2}) | ~np.cov({f 1}, {==}) | ~np.cov({f 2}, rowvar=False, ddof=0) | ~np.correlate({num 1}, {num 1}) | ~np.correlate({num 1}, {num 1}, "full") | ~np.convolve({num 1}, {num 1}, "same") | ~np.convolve({num 1}, {num 1}, "valid") | ~np.cumulative_sum({num 1}, include_initial=True) | ~np.cumulative_sum({num 2+}, axis={axis})
~np.cumulative_prod({num 1}) | ~np.cumprod({num 2+}, axis={axis}) | ~np.cumsum({num 1+}, dtype=float) | ~np.cumsum({num 2+}) | ~np.prod({num}, axis={axes}, keepdims=True) | ~np.sum({num}, axis={axes}, keepdims=True, initial=2) | ~np.mean({num 1+}, axis={axis}, where=np.real(⟦0⟧) < 1) | ~np.var({num 1+}, axis={axes}, keepdims=True)
~np.std({fc 1+}, axis={axis}, mean=np.mean(⟦0⟧)) | ~np.trace({num 3+}, {n}, 0, 2) | ~np.gradient({f 1+}, 0.5, axis={axis}) | ~np.gradient({f 1}, edge_order=2) | ~np.gradient({f 1}, np.arange(float(⟦0⟧.size)) ** 2) | ~np.gradient({f 2})[1] | ~np.trapezoid({f 1+}, dx=0.5, axis={axis}) | ~np.trapezoid({f 1}, {==})
~np.diff({num 1+}, 2) | ~np.diff({num 1+}, prepend=0, axis={axis}) | ~np.diff({num 1}, append={num 1}) | np.diff({b 1+}) | np.packbits({b 1+}) | np.packbits({b 1+}, axis={axis}) | np.unpackbits(np.packbits({b 1+}))[:5] | ~np.ediff1d({num}, to_begin=1, to_end=[2, 3]) | ~np.interp({f}, [0.0, 1.0, 3.0], {f 1}[:3], left=-1, right=5) | ~np.interp({f}, [0.0, 1.0, 3.0], [1.0, 2.0, 0.5], period=4) | ~np.average({f 1}, weights=np.abs({==}) + 0.1)
~np.average({f 2+}, axis=0, weights=np.arange(1.0, 1 + len(⟦0⟧))) | ~np.geomspace(1.0, 2.0 + np.abs({sc}), 4) | ~np.logspace({sc}, 1.0, 3) | ~np.linspace({f 1}, {==}, 3) | ~np.linspace({sc}, 1, 4, endpoint=False) | ~np.poly({f 1}) | ~np.polyadd({num 1}, {num 1}) | ~np.polysub({num 1}, {num 1}) | ~np.polyder({num 1}) | ~np.polyint({f 1})
~np.polyfit(np.arange(float({f 1}.size)), ⟦0⟧, 1) | ~np.polyval({f 1}, {f}) | ~np.vander({num 1}, increasing=True) | ~np.vander({num 1}, 2) | ~np.sum({num}, dtype=complex) | ~np.mean({iu}, dtype=np.float32) | ~{num 1+}.prod(axis={axis}) | ~{f 1+}.var(axis={axis}, ddof=1) | ~{num 2+}.trace() | ~{num 1+}.cumprod() | ~{f 1+}.std() | ~np.sinc({f 1+}) | ~np.i0({f 1+})
"""

PRODUCTS = """
~np.einsum("ij,ij->", {num 2}, {==}) | ~np.einsum("ii->i", np.multiply.outer({num 1}, {==})) | ~np.einsum("ii", np.multiply.outer({num 1}, {==})) | ~np.einsum("ij,j->i", {num 2}, {num 1}) | ~np.einsum("ijk->kj", {num 3}) | ~np.einsum("i,i,i->i", {num 1}, {==}, {==}) | ~np.einsum("ij,jk,kl", {num 2}, {num 2}, {num 2}) | ~np.einsum("...ij,...j->...i", {num 2+}, {num 1}) | ~np.einsum("bij,bjk->bik", {num 3}, {num 3})
~np.einsum({num 2}, [0, 1], {num 2}, [1, 2], [0, 2]) | ~np.einsum("ij,kj->ik", {num 2}, {num 2}, optimize=True) | ~np.tensordot({num 2+}, {==}, axes=([0], [0])) | ~np.tensordot({num 2}, {==}, axes=2) | ~np.dot({num 3}, {num 2}) | ~np.dot({num 2}, {num 3}) | ~np.inner({num 2}, {num 2}) | ~np.kron({num 2}, {num 1}) | ~np.cross({num 2}, {num 1}) | ~np.outer({num 2}, {num 1}) | ~{num 2}.dot({num 1+})
~np.fft.fftn({fc 1+}) | ~np.fft.ifftn({fc 1+}) | ~np.fft.ifft2({fc 2+}) | ~np.fft.hfft({fc 1+}) | ~np.fft.ihfft({f 1+}) | ~np.fft.irfft2({fc 2+}) | ~np.fft.irfftn({fc 1+}) | ~np.fft.rfft2({f 2+}) | ~np.fft.rfftn({f 1+}) | np.fft.ifftshift({num 1+}, axes={axis}) | ~np.fft.fft({fc 1+}, 5, axis={axis}) | ~np.fft.rfft({f 1+}, 3, axis={axis}, norm="ortho")
~np.fft.irfft({fc 1+}, 5) | ~np.fft.ifft({fc 1+}, 2, norm="forward") | ~np.fft.fft2({fc 2+}, s=(3, 2)) | ~np.fft.fftn({fc 3+}, axes=(0, 2)) | np.fft.fftfreq({num 1}.size) | ~np.fft.hfft({fc 1+}, 4)
~np.linalg.cond({f 2} + 5 * np.eye(⟦0⟧.shape[0])) | ~np.linalg.cross({f 1+}, {==}) | ~np.linalg.diagonal({num 2+}) | ~np.sort(np.linalg.eig({f 2} + 5 * np.eye(⟦0⟧.shape[0]))[0].real) | ~np.sort(np.linalg.eigvals({f 2+}).real) | ~np.linalg.eigh({f 2} + ⟦0⟧.T)[0] | ~np.linalg.lstsq({f 2}, np.arange(float(⟦0⟧.shape[0])))[0]
~np.linalg.matmul({num 2+}, {num 2}) | ~np.linalg.matrix_norm({fc 2+}) | ~np.linalg.matrix_norm({f 2+}, ord=np.inf) | np.linalg.matrix_rank({f 2} + 5 * np.eye(⟦0⟧.shape[0])) | np.linalg.matrix_transpose({num 2+}) | ~np.linalg.multi_dot([{f 2}, ⟦0⟧.T, ⟦0⟧]) | ~np.linalg.outer({num 1}, {num 1}) | ~np.abs(np.linalg.qr({f 2} + 5 * np.eye(⟦0⟧.shape[0]))[1])
~np.linalg.svdvals({fc 2+}) | ~np.linalg.tensordot({num 2}, {num 2}, axes=1) | ~np.linalg.tensorinv(({f 2} + 5 * np.eye(⟦0⟧.shape[0])).reshape(*⟦0⟧.shape, 1), ind=1) | ~np.linalg.tensorsolve({f 2} + 5 * np.eye(⟦0⟧.shape[0]), {f 1}) | ~np.linalg.trace({num 2+}, offset={n}) | ~np.linalg.vecdot({fc 1+}, {==}) | ~np.linalg.vector_norm({fc 1+}, axis={axis})
~np.linalg.vector_norm({f 1+}, ord=3) | ~np.linalg.norm({f 1+}, 3, {axis}) | ~np.linalg.norm({f 1}, np.inf) | ~np.linalg.norm({f 1}, 1) | ~np.linalg.norm({f 2}, "nuc") | ~np.linalg.norm({f 2}, 2) | ~np.linalg.norm({fc 2+}, axis=(0, 1), keepdims=True) | ~np.linalg.matrix_power({f 2} + 5 * np.eye(⟦0⟧.shape[0]), -2) | ~np.linalg.matrix_power({num 2}, 3) | ~np.linalg.solve({f 3+} + 9 * np.eye(⟦0⟧.shape[-1]), ⟦0⟧)
~np.linalg.pinv({fc 2} + 5 * np.eye(⟦0⟧.shape[0])) | ~np.linalg.slogdet({f 3+} + 9 * np.eye(⟦0⟧.shape[-1]))[1] | ~np.linalg.inv({c 2} + 9 * np.eye(⟦0⟧.shape[0])) | ~np.linalg.eigvalsh({c 2} + ⟦0⟧.conj().T) | ~np.linalg.cholesky({c 2} @ ⟦0⟧.conj().T + np.eye(⟦0⟧.shape[0]))
"""

WRITES = """
np.clip({w real}, -1, 1, out=$0) | {w real 1+}.partition(0) ; $n = $0[..., 0] ; $0.sort() | np.copyto($w, {any}, casting="unsafe") | ~np.add({f}, {=}, out=$w, where={b}) | ~np.cumsum({w f 2+}, axis=0, out=$0) | ~np.matmul({num 2}, {num 2}, out=$w) | ~np.mean({f 2+}, axis={axis}, out=$w)
~np.dot({num 2}, {num 2}, out=$w) | ~np.maximum.accumulate({w real 1+}, out=$0) | ~np.add.reduce({num 2+}, axis={axis}, out=$w) | {w num 1+}.sort(kind="stable") | {w num 2}.T.sort() | ~{w fc 1+}[...] = np.fft.ifft(np.fft.fft(⟦0⟧)).real | {w any 1+}[{key}], $n = {lit}, {any}
np.put({w any 1+}, {ints}, {fits}) | np.put_along_axis({w num 1+}, np.argsort(np.real(⟦0⟧), axis=0, kind="stable"), {lit}, axis=0) | np.putmask({w num 1+}, ⟦0⟧ > 0, [1, 2, 3]) | np.fill_diagonal({w num 2}, [1, 2]) | {w num 1+}.setflags() | {w any 2+}[{fancy}], $n = {lit}, {any}
"""


VALUES: Final = ((UFUNCS, 2.0), (PIECES, 3.0), (QUESTIONS, 0.7), (ORDER, 3.0), (SUMS, 3.0), (PRODUCTS, 3.0))
"""Tables of values, and how often they are drawn."""


MISTAKEN = (
    "power",
    "arctan2",
)  # which NumPy 2.4 folds wrongly on processors with AVX-512, if along more than two elements


def of_methods() -> Iterator[str]:
    """A value for each method of each ufunc that makes one."""
    for method, ufuncs, keys in (
        ("reduce", REDUCTIONS, ""),
        ("accumulate", ACCUMULATIONS, ""),
        ("reduceat", PARTS, "[0, 2, 1], "),
    ):
        for name in [u.__name__ for u in ufuncs]:
            if method != "accumulate" and name in MISTAKEN:
                yield f"~np.{name}.{method}({{any 1+}}[:2], {'[0, 1], ' if keys else ''}axis=0)"
            else:
                yield f"~np.{name}.{method}({{any 1+}}, {keys}axis={{axis}})"
    yield from [f"~np.{u.__name__}.outer({{any}}, {{any 1}})" for u in REDUCTIONS]


def in_place() -> Iterator[str]:
    """A statement for each ufunc that works in place at given indices."""
    for ufunc in AT:
        yield f"~np.{ufunc.__name__}.at({{w any 1+}}, {{ints}}{', {lit}' if ufunc.nin == 2 else ''})"
