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
    while frame is not None and not _is_users(frame):
        frame = frame.f_back
    return "" if frame is None else _shown(frame, frame.f_lineno)


def line_of(error: BaseException) -> str:
    """The innermost line outside of PyTorch and Pliant that an error passed."""
    line, entry = "", error.__traceback__
    while entry is not None:
        line = _shown(entry.tb_frame, entry.tb_lineno) if _is_users(entry.tb_frame) else line
        entry = entry.tb_next
    return line


def _is_users(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    is_made = name.startswith("<eval_with_key") or (
        name == "<string>" and frame.f_globals.get("__name__") != "__main__"
    )
    return not is_made and not name.startswith(_NOT_USERS)


def _shown(frame: FrameType, number: int) -> str:
    name = frame.f_code.co_filename
    text = linecache.getline(name, number).strip()
    where = f"  --> {os.path.basename(name)}:{number}, in {frame.f_code.co_name}"
    return f"{where}\n      {text}" if text else where


_NOT_USERS = (os.path.dirname(torch.__file__), os.path.dirname(os.path.dirname(__file__)))

__all__ = ["SAME_DTYPES", "check_dtypes", "decomposed", "line_of", "packet_of", "users_line"]
