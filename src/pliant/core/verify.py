"""Check the invariants of a program: every operand is in scope, every type is what `infer` says."""

from __future__ import annotations

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Param
from pliant.errors import PliantError, VerifyError


def verify(fn: Function, blame: str = "") -> Function:
    """`fn` unchanged, or VerifyError naming the pass `blame` and what is wrong. What was right stays right: a function
    that passes leave as it was is looked at once."""
    if verify not in fn.answers:
        _check(fn, blame)
        fn.answers[verify] = True
    return fn


def _check(fn: Function, blame: str) -> None:
    after = f" after pass {blame!r}" if blame else ""
    params = set(fn.params)
    if len(params) != len(fn.params):
        raise VerifyError(f"@{fn.name}{after}: a parameter occurs twice")
    for node in fn.nodes:
        if isinstance(node.op, Param):
            if node.values[0] not in params:
                raise VerifyError(f"@{fn.name}{after}: parameter {node.op.hint!r} is not in scope")
            continue
        try:
            types = node.op.infer(*(a.type for a in node.args))
        except PliantError as error:
            raise VerifyError(f"@{fn.name}{after}: {error.message}").at(("made here", node.origin)) from error
        if (types if isinstance(types, tuple) else (types,)) != node.types:
            raise VerifyError(f"@{fn.name}{after}: {node.op.name} has types {node.types}, infers {types}").at(
                ("made here", node.origin)
            )
        for inner in functions_of(node.op).values():
            verify(inner, blame)
