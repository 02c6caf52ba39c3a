"""Programs whose plan of memory has been verified; one that fails is made again with nothing shared."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence

from pliant.core.ir import Function
from pliant.errors import PlanWarning, VerifyError
from pliant.kernel.build import build
from pliant.kernel.check import check
from pliant.kernel.fuse import Calls, Can, no_routine
from pliant.kernel.ir import Program
from pliant.kernel.nested import Pairs
from pliant.kernel.poison import poison


def build_verified(
    fn: Function,
    can: Can,
    calls: Calls = no_routine,
    *,
    owned: Pairs = (),
    free: Sequence[int] = (),
    sharing: bool = True,
) -> Program:
    """As `build`, with `owned` results where they must be.

    If the verifier finds a load that would not find its array, warns, and builds without sharing. With
    PLIANT_SHARING=0 nothing shares memory; with PLIANT_POISON=1 memory that holds nothing is NaN.
    """
    sharing = sharing and os.environ.get("PLIANT_SHARING", "1") != "0"
    is_poisoned = os.environ.get("PLIANT_POISON", "0") not in ("", "0")

    def build_checked(*, sharing: bool) -> Program:
        program = build(fn, can, calls, owned=owned, must=True, free=free, sharing=sharing)
        if is_poisoned:
            poison(program, [program.params[n] for n in free])
        check(program, owned=owned, free=free)
        return program

    if not sharing:
        return build_checked(sharing=False)
    try:
        return build_checked(sharing=True)
    except VerifyError as error:
        warnings.warn(
            f"{error}\nThe function runs without shared memory: right, but with copies. Please report this.",
            PlanWarning,
            stacklevel=2,
        )
        program = build_checked(sharing=False)
        program.fault = str(error)
        return program
