"""A case by numba: the same source, in which the namespace is a global name, since numba passes no modules."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from pliant.tools.bench.case import Case, Function

NAMESPACE: Final = "xp"


def by_numba(case: Case) -> Callable[[], Any] | None:
    """Compiled by numba on one thread, without fastmath; None where numba takes the source not as it is."""
    fn = case.own.get("numba", case.fn)
    if case.kind != "value" or fn is None or not all([isinstance(a, np.ndarray) for a in case.args]):
        return None
    compiled = compiled_by_numba(fn)
    try:
        made = compiled(*case.args)
    except import_module("numba.core.errors").NumbaError:
        return None
    return None if is_inexact(case, made) else lambda: compiled(*case.args)


def is_inexact(case: Case, made: Any) -> bool:
    """Whether a sum has lost half of its digits: numba adds up long arrays of float32 one by one."""
    if case.dtype != "float32" or np.size(made) > 1:
        return False
    wide = [a.astype(np.float64) for a in case.args]
    return not np.allclose(made, case.fn(np, *wide), rtol=1e-3)


@lru_cache
def compiled_by_numba(fn: Function) -> Function:
    """A function, and the functions of its module that it calls, by numba."""
    numba = import_module("numba")
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.args.args = [a for a in definition.args.args if a.arg != NAMESPACE]
    known = {name: numba.njit(f) if inspect.isfunction(f) else f for name, f in vars(inspect.getmodule(fn)).items()}
    known[NAMESPACE] = np
    exec(compile(tree, inspect.getfile(fn), "exec"), known)
    return numba.njit(known[fn.__name__])
