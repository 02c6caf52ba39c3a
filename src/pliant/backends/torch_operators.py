"""PyTorch's operators: how they are decomposed, which promote nothing, and the user's line that called one."""

from __future__ import annotations

import inspect
import linecache
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from types import FrameType
from typing import Any

from pliant.backends.torch_namespace import torch
from pliant.errors import DTypeError

decompositions: Any = import_module("torch._decomp")

MORE = (
    "upsample_bilinear2d", "upsample_nearest2d", "native_dropout", "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell",
    "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "std", "std_mean", "norm", "aminmax", "index_fill", "index_copy",
)  # fmt: skip
WHOLE = frozenset({"detach", "mv", "select_scatter"})
"""Operators that stay as they are: their decompositions promote, which they do not, or lose what they mean."""

SAME_DTYPES = frozenset({
    "mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "native_layer_norm", "native_group_norm",
    "native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training",
    "index_put", "_unsafe_index_put", "index_add", "index_copy", "lerp", "binary_cross_entropy", "linalg_cross",
    "_cdist_forward", "_euclidean_dist", "convolution",
})  # fmt: skip
"""Operators that PyTorch promotes nothing for, although its tensors without numbers do."""


@cache
def decomposed() -> Any:
    """PyTorch's decompositions, of operators that there is no rule for."""
    packets = [getattr(torch.ops.aten, name) for name in MORE if hasattr(torch.ops.aten, name)]
    table = {**decompositions.core_aten_decompositions(), **decompositions.get_decompositions(packets)}
    kept = {op: f for op, f in table.items() if packet_of(op) not in WHOLE}
    return {op: _alike(op, f) if packet_of(op) in SAME_DTYPES else f for op, f in kept.items()}


def packet_of(op: Any) -> str:
    """The name of an operator, without that of its variant."""
    return str(getattr(op, "overloadpacket", op)).rpartition(".")[2]


def _alike(op: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """A decomposition, of operands that have one dtype."""

    def run(*args: Any, **kwargs: Any) -> Any:
        check_dtypes(packet_of(op), args, users_line(inspect.currentframe()))
        return f(*args, **kwargs)

    return run


def check_dtypes(name: str, args: Sequence[Any], line: str) -> None:
    """Refuse tensors of several dtypes; places, in a list or after an axis, do not count."""
    places = 2 if name in ("index_add", "index_copy") else -1
    found = [str(x.dtype) for n, x in enumerate(args) if n != places and isinstance(x, torch.Tensor)]
    several = sorted({dtype.rpartition(".")[2] for dtype in found})
    if len(several) > 1 and not (name.endswith(("_norm", "_training", "_legit")) and "float16" in several):
        raise DTypeError(
            f"from_torch: {name} of {' and '.join(several)}, which PyTorch does not promote"
            + (f"\n{line}" if line else ""),
            hint="module.double(), or x.astype(np.float32) of the arrays",
        )


def users_line(frame: FrameType | None) -> str:
    """The line outside of PyTorch and Pliant that a frame was called from."""
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_USERS):
        frame = frame.f_back
    if frame is None:
        return ""
    name, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(name, line).strip()
    return f"  --> {os.path.basename(name)}:{line}, in {frame.f_code.co_name}\n      {text}"


_NOT_USERS = (os.path.dirname(torch.__file__), os.path.dirname(os.path.dirname(__file__)))

__all__ = ["SAME_DTYPES", "check_dtypes", "decomposed", "packet_of", "users_line"]
