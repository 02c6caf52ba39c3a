"""Products named by axis labels: einsum, and NumPy's other products written with it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pliant.core.ir import Value, const
from pliant.errors import ShapeError
from pliant.ops.complex import conj
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Mul
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import broadcast, concatenate, permute, reshape, slice_axis

Labels: TypeAlias = "tuple[str, ...]"
Labelled: TypeAlias = "tuple[Value, Labels]"

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def contract_labels(x: Value, of_x: Labels, y: Value, of_y: Labels, out: Labels) -> Value:
    """Product of two arrays whose axes carry labels, summed over the labels that `out` lacks.

    No label occurs twice in one operand; every label of `out` occurs in one of them.
    """
    x, of_x = _sum_lone(x, of_x, {*of_y, *out})
    y, of_y = _sum_lone(y, of_y, {*of_x, *out})
    shared = [a for a in of_x if a in of_y]
    summed = [a for a in shared if a not in out]
    batch = [a for a in shared if a in out]
    free = [a for a in (*of_x, *of_y) if a not in shared]
    if not summed or (batch and not free and x.dtype != "bool"):
        # Nothing to gain from a matrix product: a product of broadcasts fuses with what is around it.
        extents = dict(zip((*of_x, *of_y), (*x.shape, *y.shape), strict=True))
        labels = (*out, *summed)
        full = tuple(extents[a] for a in labels)
        product = Mul()(_place(x, of_x, labels, full), _place(y, of_y, labels, full))
        return reduce_sum(product, range(len(out), len(labels))) if summed else product
    contract = tuple(map(of_x.index, summed)), tuple(map(of_y.index, summed))
    pairs = tuple(map(of_x.index, batch)), tuple(map(of_y.index, batch))
    made = (*batch, *(a for a in of_x if a not in shared), *(a for a in of_y if a not in shared))
    return permute(Dot(contract, pairs)(x, y), [made.index(a) for a in out])


def _sum_lone(x: Value, labels: Labels, kept: set[str]) -> Labelled:
    """`x` summed over the axes whose label is not among `kept`."""
    lone = tuple(i for i, a in enumerate(labels) if a not in kept)
    if not lone:
        return x, labels
    if x.dtype == "bool":  # whether any is true, as a contraction
        true = broadcast(const(True, "bool"), tuple(x.shape[i] for i in lone), ())
        total = Dot((lone, tuple(range(len(lone)))), ((), ()))(x, true)
    else:
        total = reduce_sum(x, lone)
    return total, tuple(a for a in labels if a in kept)


def _place(x: Value, labels: Labels, target: Labels, shape: tuple[int, ...]) -> Value:
    """`x` with its axes in the order of `target`, repeated along those it lacks."""
    order = sorted(range(len(labels)), key=lambda i: target.index(labels[i]))
    return broadcast(permute(x, order), shape, tuple(target.index(labels[i]) for i in order))


def diagonal(x: Value, axis1: int, axis2: int) -> Value:
    """The elements whose indices along two axes agree; that axis comes last.

    `t[n, a, n]`, axes 0 and 2 → `t[a, n]`.
    """
    n = x.shape[axis1]
    if x.shape[axis2] != n:
        raise ShapeError(f"diagonal: axes {axis1} and {axis2} of {x.type} have different extents")
    rest = [a for a in range(x.type.rank) if a not in (axis1, axis2)]
    flat = reshape(permute(x, (*rest, axis1, axis2)), (*(x.shape[a] for a in rest), n * n))
    return slice_axis(flat, len(rest), 0, n, n + 1)


def einsum(subscripts: str, *xs: Value) -> Value:
    """NumPy's `einsum` in its string form, contracting the pair that leaves least behind first.

    Operands share one dtype. Raises ShapeError if the subscripts are malformed or do not fit.
    """
    inputs, output = parse_subscripts(subscripts, [x.type.rank for x in xs])
    return einsum_labels(inputs, output, xs)


def einsum_labels(inputs: Sequence[Labels], output: Labels, xs: Sequence[Value]) -> Value:
    """`einsum` for parsed subscripts, one tuple of labels per operand."""
    extents = _extents(inputs, xs)
    operands = [_distinct(x, labels, extents) for x, labels in zip(xs, inputs, strict=True)]
    while len(operands) > 1:
        i, j = _cheapest_pair(operands, output, extents)
        (y, of_y), (x, of_x) = operands.pop(j), operands.pop(i)
        kept = {*output, *(a for _, labels in operands for a in labels)}
        merged = tuple(dict.fromkeys(a for a in (*of_x, *of_y) if a in kept))
        last = merged if operands else output
        operands.append((contract_labels(x, of_x, y, of_y, last), last))
    ((x, labels),) = operands
    x, labels = _sum_lone(x, labels, set(output))
    return permute(x, [labels.index(a) for a in output])


def _extents(inputs: Sequence[Labels], xs: Sequence[Value]) -> dict[str, int]:
    """The extent of each label: extents of 1 fit any other, as in NumPy."""
    extents: dict[str, int] = {}
    for labels, x in zip(inputs, xs, strict=True):
        for label, n in zip(labels, x.shape, strict=True):
            if extents.setdefault(label, n) == 1:
                extents[label] = n
            if n not in (1, extents[label]):
                raise ShapeError(f"einsum: axis {label!r} has extent {n} in {x.type} but {extents[label]} before")
    return extents


def _distinct(x: Value, labels: Labels, extents: dict[str, int]) -> Labelled:
    """`x` with every label at most once: diagonals taken, repeated axes of extent 1 dropped."""
    kept = [i for i, a in enumerate(labels) if x.shape[i] == extents[a]]
    x, labels = reshape(x, [x.shape[i] for i in kept]), tuple(labels[i] for i in kept)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, first, second)
            labels = (*(a for i, a in enumerate(labels) if i not in (first, second)), label)
    return x, labels


def _cheapest_pair(operands: Sequence[Labelled], output: Labels, extents: dict[str, int]) -> tuple[int, int]:
    """The pair whose product is smallest against what it replaces, then cheapest to make."""

    def size(labels: Iterable[str]) -> int:
        return math.prod(extents[a] for a in labels)

    counts: dict[str, int] = dict.fromkeys(output, 1)
    for _, labels in operands:
        for a in labels:
            counts[a] = counts.get(a, 0) + 1

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        of_x, of_y = operands[pair[0]][1], operands[pair[1]][1]
        both = {*of_x, *of_y}
        left = [a for a in both if counts[a] > (a in of_x) + (a in of_y)]
        return size(left) - size(of_x) - size(of_y), size(both)

    return min(((i, j) for i in range(len(operands)) for j in range(i + 1, len(operands))), key=cost)


def parse_subscripts(subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Labels of each operand and of the result. An ellipsis stands for labels "-1", "-2", … from the right."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ShapeError(f"einsum: {subscripts!r} names {len(terms)} operands, got {len(ranks)}")
    inputs = [_term_labels(t, rank, subscripts) for t, rank in zip(terms, ranks, strict=True)]
    hidden = max((sum(a not in LETTERS for a in labels) for labels in inputs), default=0)
    spread = tuple(str(i) for i in range(-hidden, 0))
    if not arrow:
        once = sorted(a for a in set(left) if a in LETTERS and left.count(a) == 1)
        return inputs, (*spread, *once)
    before, dots, after = right.partition("...")
    output = (*before, *(spread if dots else ()), *after)
    named = {a for labels in inputs for a in labels}
    if len(set(output)) != len(output) or not named.issuperset(output):
        raise ShapeError(f"einsum: the result of {subscripts!r} names an axis twice, or one that no operand has")
    if hidden and not dots:
        raise ShapeError(f"einsum: {subscripts!r} drops the axes behind its ellipsis", hint="write '...' after '->'")
    return inputs, output


def _term_labels(term: str, rank: int, subscripts: str) -> Labels:
    """The labels of one operand."""
    before, dots, after = term.partition("...")
    hidden = rank - len(before) - len(after)
    if not all(a in LETTERS for a in before + after) or hidden < 0 or (hidden and not dots):
        raise ShapeError(f"einsum: {term!r} in {subscripts!r} does not name the {rank} axes of its operand")
    return (*before, *(str(i) for i in range(-hidden, 0)), *after)


def matmul(x: Value, y: Value) -> Value:
    """NumPy's `x @ y`: matrices on the last two axes, the leading ones broadcast; vectors are 1-D."""
    if not x.shape or not y.shape:
        raise ShapeError(f"matmul: {x.type} and {y.type}: operands must have at least one axis", hint="use *")
    lead_x, lead_y = max(x.type.rank - 2, 0), max(y.type.rank - 2, 0)
    last_x, last_y = ("m", "k")[-min(x.type.rank, 2) :], ("k", "n")[: min(y.type.rank, 2)]
    of_x = (*(str(i) for i in range(-lead_x, 0)), *last_x)
    of_y = (*(str(i) for i in range(-lead_y, 0)), *last_y)
    if x.shape[of_x.index("k")] != y.shape[of_y.index("k")]:
        raise ShapeError(
            f"matmul: {x.type} and {y.type} do not fit together: their inner extents differ",
            hint="x @ y goes over the last axis of x and the last but one of y, or a vector's only one",
        )
    lead = tuple(str(i) for i in range(-max(lead_x, lead_y), 0))
    return einsum_labels((of_x, of_y), (*lead, *last_x[:-1], *last_y[1:]), (x, y))


def tensordot(x: Value, y: Value, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> Value:
    """Sum of products over pairs of axes; then the other axes of x, then those of y."""
    return Dot(axes, ((), ()))(x, y)


def dot(x: Value, y: Value) -> Value:
    """NumPy's `dot`: the last axis of x with the last but one of y; a scalar multiplies."""
    if not x.shape or not y.shape:
        return Mul()(x, y)
    return tensordot(x, y, ((x.type.rank - 1,), (max(y.type.rank - 2, 0),)))


def inner(x: Value, y: Value) -> Value:
    """The last axis of x with the last axis of y; a scalar multiplies."""
    if not x.shape or not y.shape:
        return Mul()(x, y)
    return tensordot(x, y, ((x.type.rank - 1,), (y.type.rank - 1,)))


def vdot(x: Value, y: Value) -> Value:
    """Σ conj(x)·y over all elements in row-major order."""
    return tensordot(conj(reshape(x, (x.type.size,))), reshape(y, (y.type.size,)), ((0,), (0,)))


def outer(x: Value, y: Value) -> Value:
    """Every element of x times every element of y: `t[…], t[…] → t[size of x, size of y]`."""
    return contract_labels(reshape(x, (x.type.size,)), ("i",), reshape(y, (y.type.size,)), ("j",), ("i", "j"))


def kron(x: Value, y: Value) -> Value:
    """The Kronecker product; the shorter shape gets ones in front."""
    rank = max(x.type.rank, y.type.rank)
    x, y = (reshape(v, (*(1,) * (rank - v.type.rank), *v.shape)) for v in (x, y))
    of_x, of_y = (tuple(f"{name}{i}" for i in range(rank)) for name in "xy")
    out = tuple(a for pair in zip(of_x, of_y, strict=True) for a in pair)
    blocks = contract_labels(x, of_x, y, of_y, out)
    return reshape(blocks, [m * n for m, n in zip(x.shape, y.shape, strict=True)])


def cross(x: Value, y: Value) -> Value:
    """The vector product along the last axis, of extent 3: `t[…, 3], t[…, 3] → t[…, 3]`."""
    axis = x.type.rank - 1
    xs, ys = ([slice_axis(v, axis, n, 1) for n in range(3)] for v in (x, y))
    ahead = ((1, 2), (2, 0), (0, 1))
    return concatenate(tuple([xs[i] * ys[j] - xs[j] * ys[i] for i, j in ahead]), axis)
