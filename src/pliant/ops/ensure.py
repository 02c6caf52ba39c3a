"""A value that exists only if a number is 0: what else may go wrong at run time than an index, and the error then."""

from __future__ import annotations

from typing import Any, final

from pliant.core.data import frozen
from pliant.core.ir import Const, Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import DTypeError, failed
from pliant.ops.base import Elementwise, Safe, can_be_read, common_shape, fit
from pliant.ops.select import Find
from pliant.rewrite.rule import rewrite


@final
@frozen
class Ensure(Elementwise):
    """x where its code is 0; elsewhere the error of that code: `t[…], i64[…] → t[…]`, any of rank 0.

    `failure` names the errors, one for each code, among those of `errors.FAILURES`.
    """

    failure: str
    domain = "biufc"

    def infer(self, x: Type, code: Type) -> Type:
        if code.dtype != "i64":
            raise DTypeError(f"ensure: a code is {code}, expected i64")
        return Type(x.dtype, common_shape(self.name, (x, code)))

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """The code, and the one at which there is no error."""
        return {1: 0}

    def array(self, xp: Namespace, x: Any, code: Any) -> Any:
        return xp.where(code == 0, x, x)

    def numpy(self, np: Namespace, x: Any, code: Any) -> Any:
        bad = code[code != 0]  # of one axis
        if len(bad):
            raise failed(self.failure, int(bad[0]))
        return self.array(np, x, code)

    def torch(self, torch: Namespace, x: Any, code: Any) -> Any:
        return (self.numpy if can_be_read(torch, code) else self.array)(torch, x, code)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        y = self(*xs)
        return (y,), (None if dxs[0] is None else fit(dxs[0], y.type),)

    def support(self, find: Find, x: Value, code: Value) -> Value | None:
        return find(x)

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        x, code = [x(i if x.type.shape else ()) for x in xs]
        return k.ensured(x, code, self.failure)


def ensure(x: Value, code: Value, failure: str) -> Value:
    """`Ensure` as a function."""
    return Ensure(failure)(x, code)


@rewrite(Ensure, reads=(Const,))
def ensure_of_sure(value: Value) -> Value | None:
    """What has no error is there."""
    x, code = value.args
    return fit(x, value.type) if isinstance(code.op, Const) and code.op.value == 0 else None


RULES = (ensure_of_sure,)
