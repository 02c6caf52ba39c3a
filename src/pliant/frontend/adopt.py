"""What NumPy makes inside a traced function of what is known: arrays become traced ones that know their content."""

from __future__ import annotations

from collections import deque
from typing import Any, cast

import numpy as np

from pliant.frontend.array import TracedArray, fresh_concrete
from pliant.frontend.kinds import is_array, is_sequence
from pliant.frontend.objects import ObjectArray


def adopt(made: Any) -> Any:
    """What NumPy made inside a traced function: arrays become traced ones that know their content."""
    if is_array(made):
        return ObjectArray(made) if made.dtype == object else fresh_concrete(made)
    if is_sequence(made) and any(isinstance(m, np.ndarray) for m in made):
        parts = [adopt(m) for m in made]
        return cast("Any", type(made))(*parts) if hasattr(made, "_fields") else type(made)(parts)
    return made


def has_traced(xs: Any, depth: int = 4) -> bool:
    """Whether a traced array is among the arguments, inside nested sequences too."""
    for x in xs:
        if type(x) is TracedArray or hasattr(x, "__traced__"):
            return True
        if isinstance(x, list | tuple | deque) and depth and has_traced(x, depth - 1):
            return True
    return False
