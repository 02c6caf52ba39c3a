"""How many threads a large kernel may use."""

from __future__ import annotations

from importlib import import_module

from pliant.errors import ArgumentError


def threads(count: int | None = None) -> int:
    """The number of threads that large kernels use; `count` from now on, if it is given.

    At first that is the number of cores that the process may use, or what PLIANT_THREADS says. What a
    function computes does not depend on it, bit for bit. Small kernels always use one thread, and so
    does a call while another thread's call has the others. Matrix products use NumPy's threads.

    >>> import pliant
    >>> before = pliant.threads()
    >>> pliant.threads(1)
    1
    >>> pliant.threads(before) == before
    True
    """
    if count is not None and (not isinstance(count, int) or count < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"threads: expected a count of at least 1, got {count!r}")
    return import_module("pliant.backends.llvm.pool").threads(count)
