"""What Pliant does to large programs alone, done to small ones: each threshold may be lowered for a random program.

What is worth it only for megabytes, or for a thousand steps, is wrong on five elements if it is wrong at all. So every
constant that decides whether something is worth it may be set such that it always is, or as often as it can be.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any, Final
from unittest import mock

import pliant
from pliant.backends.llvm import (
    accumulator,
    emit,
    nested,
    nests,
    partition,
    products,
    small_matrices,
    stacks,
    tape,
    tapes,
)
from pliant.kernel import blocks, carries, cost, fuse, lanes, overlap, pack, product, rows, split, stacked, thin
from pliant.ops import update
from pliant.passes import ahead, at_once, boxes, columns, fewer_rows, hoist, row_flow, sink

WAYS: Final[dict[str, tuple[tuple[Any, str, Any], ...]]] = {
    "blocks": (
        (cost, "FAR", 1), (blocks, "FAR", 1), (fuse, "FAR", 1), (blocks, "GRAIN", 1), (cost, "BLOCK", 200), (cost, "LONGEST_ROW", 1 << 12),
    ),
    "parts": tuple([(split, name, value) for name, value in (("LEAST", 0), ("PART", 1), ("GRAIN", 1), ("BLOCK", 1), ("STRIP", 1))]),
    "rows": ((rows, "LEAST_ROW", 1), (rows, "LEAST_SIZE", 0)),
    "kept": ((cost, "is_kept", lambda *_: True), (fuse, "is_kept", lambda *_: True)),
    "made again": ((cost, "is_kept", lambda *_: False), (fuse, "is_kept", lambda *_: False)),
    "delays": ((overlap, "PART", 1),),
    "packs": ((pack, "LEAST_LENGTH", 1), (pack, "LEAST_TURNS", 1), (pack, "UNROLLED", 1)),
    "stacks of products": ((stacked, "LARGE", 0),),
    "thin products": ((thin, "LARGE", 1), (thin, "WORTH", 0), (thin, "SHORT", 1 << 20)),
    "BLAS": ((product, "SMALLEST", 0), (product, "FEWEST", 0), (product, "LEAST", 0)),
    "no BLAS": ((product, "SMALLEST", 1 << 40),),
    "products": ((products, "DEEPEST", 0),),
    "lanes": ((lanes, "SHORT", 64), (lanes, "LONG", 0)),
    "sums in short blocks": tuple([(module, "BLOCK", 16) for module in (accumulator, emit, nests)]),
    "nothing unrolled": ((emit, "UNROLLED", 0), (nests, "UNROLLED", 0), (products, "UNROLLED", 0), (fuse, "SHORT_FOLD", 0)),
    "matrices side by side": ((small_matrices, "FEWEST", 8),),
    "stacks": ((stacks, "DISTANT", 1), (stacks, "LONGEST", 256), (stacks, "MOST", 1024)),
    "tiles": ((nests, "TILE", 8), (nests, "fits", lambda *_: False)),
    "large carries": ((carries, "SMALL", 0),),
    "calls": ((nested, "LONGEST_INLINE", 0), (nested, "SMALL_ARENA", 0)),
    "short tapes": ((tapes, "FIRST", 8), (tape, "SECOND", 8)),
    "short nests": ((fuse, "LONGEST_NEST", 8), (fuse, "LONGEST_SCALAR_NEST", 8), (fuse, "LONGEST_CONE", 4)),
    "ahead": ((ahead, "SHORTEST", 1),),
    "at once": ((at_once, "LEAST", 1), (at_once, "SHORT", 1 << 20), (at_once, "GROWTH", 1 << 20)),
    "boxes": ((boxes, "LEAST", 2), (boxes, "LEAST_SIZE", 1)),
    "columns": ((columns, "SHORTEST", 1), (columns, "WORTH", 0)),
    "fewer rows": ((fewer_rows, "FEWER", 1),),
    "hoisted": ((hoist, "GROWTH", 1 << 20),),
    "sunk": ((sink, "HEAVY", 0),),
    "not stacked": ((row_flow, "SMALLER", 0), (row_flow, "LARGE", 0), (row_flow, "MOST", 100), (row_flow, "WIDE", 1 << 20)),
    "updates": ((update, "LARGE", 1),),
    "modules": ((partition, "FEWEST", 1), (partition, "MOST", 8)),
}  # fmt: skip
"""Names of what is forced, and the constants that do it."""
OPPOSITES: Final = ({"kept", "made again"}, {"BLAS", "no BLAS"})


def ways_of(seed: int) -> tuple[str, ...]:
    """What is forced for the program of a seed: about a third of all."""
    draw = Random(f"ways {seed}")
    chosen = {name for name in WAYS if draw.random() < 0.3}
    for pair in OPPOSITES:
        if pair <= chosen:
            chosen -= {draw.choice(sorted(pair))}
    return tuple([name for name in WAYS if name in chosen])


@contextmanager
def forced(ways: tuple[str, ...], threads: int = 1) -> Iterator[None]:
    """Programs made inside are made these ways, and run by so many threads; the cache on disk is not used."""
    before = pliant.threads()
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {"PLIANT_CACHE": ""} if ways else {}))
        for way in ways:
            for module, name, value in WAYS[way]:
                stack.enter_context(mock.patch.object(module, name, value))
        try:
            pliant.threads(threads)
            yield
        finally:
            pliant.threads(before)
