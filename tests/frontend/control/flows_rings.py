"""Small programs of lists that are emptied from the front while they are filled at the back; x: f64[9], n: int."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np


def around_often(x: Any, n: int) -> Any:
    queue, made = [x[0], x[1]], np.zeros(40)
    for i in range(40):
        first = queue.pop(0)
        made[i] = first
        if len(queue) < 3:
            queue.append(np.sin(first + x[i % 9]))
        if x[i % 9] > 0.5 and len(queue) < 5:
            queue.append(first * 0.5)
        if not queue:
            queue.append(x[2])
    return made, np.array(queue).sum(), len(queue)


def flooded(x: Any, n: int) -> Any:
    steps, queue = np.full((3, 3), -1), deque([(1, 1)])
    height, total = x.reshape(3, 3), 0.0
    steps[1, 1] = 0
    while queue:
        i, j = queue.popleft()
        total += height[i, j] * (steps[i, j] + 1)
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < 3 and 0 <= b < 3 and steps[a, b] < 0 and abs(height[a, b] - height[i, j]) < 1.0:
                steps[a, b] = steps[i, j] + 1
                queue.append((a, b))
    return steps, total


def all_that_lists_do(x: Any, n: int) -> Any:
    queue, total = [x[0]], 0.0
    for i, v in enumerate(x):
        queue.append(v)
        if v * x[0] > 0:
            queue.append(v * v)
        total += queue.pop(0)
        if len(queue) > 1:
            total += queue[0] - 2 * queue[-1] + queue[len(queue) // 2] + sum(queue) + max(queue)
        total += np.array(queue).sum() + len([w for w in queue if w > 0])
        if i % 3 == 1 and len(queue) > 2:
            queue[1] = queue[1] * 0.5
            queue[-1] = queue[0] + 1
    return total, len(queue), queue[0], sorted(queue)[0], sum(queue[1:]), sum(queue[::-1][:1])


def from_one_branch(x: Any, n: int) -> Any:
    queue, taken = [], 0.0
    for v in x:
        queue.append(v * 2)
        if v > 0:
            taken = taken * 0.5 + queue.pop(0)
        elif v < -0.5:
            taken -= queue.pop()
        else:
            queue.insert(0, v)
    return taken, len(queue), sum([w * k for k, w in enumerate(queue)])


def window_of_vectors(x: Any, n: int) -> Any:
    rows, total = [], np.zeros(3)
    for i in range(7):
        rows.append((x[i : i + 3] * x[0], i))
        while len(rows) > 2 or (rows and rows[0][0].sum() < -1):
            row, k = rows.pop(0)
            total += row * k
    return total, len(rows)


def served_in_turn(x: Any, n: int) -> Any:
    work, done = deque[Any]([(v, k) for k, v in enumerate(np.abs(x))]), []
    for _ in range(40):
        if not work:
            break
        left, k = work.popleft()
        if left > 0.7:
            work.append((left - 0.7, k))
        else:
            done.append((k, left))
    return [k for k, _ in done], sum([left * (i + 1) for i, (_, left) in enumerate(done)]), len(work)


def emptied_and_asked(x: Any, n: int) -> Any:
    queue = [v for v in x if v > 0]
    total = 0.0
    while len(queue) > 1:
        a, b = queue.pop(0), queue.pop(0)
        total += a * b
        queue.append(np.sqrt(a + b))
        if len(queue) > 3:
            queue.remove(queue[-1])
    return total, queue.pop(0)


def put_together(x: Any, n: int) -> Any:
    one, two = [x[0]], [x[1], x[2]]
    for v in x:
        one.append(v)
        if v > 0.2:
            one.append(two.pop(0))
            two.append(v * 0.5)
    three = one + two
    three.extend(two)
    return len(three), sum([w * (k + 1) for k, w in enumerate(three)]), one == two, x[0] in one


def rings_of_rings(x: Any, n: int) -> Any:
    outer, total = deque([x[0], x[1]]), 0.0
    for i in range(4):
        inner = deque(outer)
        while len(inner) > 1:
            total += inner.popleft() * (i + 1)
            if total > 3:
                inner.pop()
            if not inner:
                break
        outer.append(np.cos(total) + x[i])
        if x[i] > -0.8:
            outer.popleft()
    return total, sum(list(outer)), len(outer)


RINGS = [
    around_often, flooded, all_that_lists_do, from_one_branch, window_of_vectors, served_in_turn, emptied_and_asked,
    put_together, rings_of_rings,
]  # fmt: skip
