"""Small programs of lists of which one, by a place known only at run time, is read and changed; x: f64[9], n: int."""

from __future__ import annotations

from typing import Any

import numpy as np


def buckets(x: Any, n: int) -> Any:
    made: Any = [[] for _ in range(2)]
    for i, v in enumerate(x):
        k = 0
        if v > 0:
            k = 1
        made[k].append(i)
    return len(made[0]), x[made[1]].sum()


def means(x: Any, n: int) -> Any:
    points, centres = np.sin(x[:8].reshape(4, 2) * [1.0, 1.37]), np.array([[-1.1, 0.13], [0.9, 1.07]])
    for _ in range(30):
        clusters: Any = [[] for _ in centres]
        for i, p in enumerate(points):
            clusters[np.argmin(((centres - p) ** 2 * [1.0, 0.61]).sum(1))].append(i)
        before = centres.copy()
        for j, c in enumerate(clusters):
            if len(c) > 0:
                centres[j] = points[c].mean(axis=0)
        if np.abs(centres - before).max() < 1e-9:
            break
    return centres


def forever(x: Any, n: int) -> Any:
    made: Any = [[], [], []]
    i = 0
    while True:
        if i >= len(x):
            break
        made[int(x[i]) % 3].append(x[i] * i)
        i += 1
    return [len(c) for c in made], sum(made[1])


def by_key(x: Any, n: int) -> Any:
    made: Any = {"few": 0, 2: [], 3: [], 5: []}
    made.pop("few")
    for v in x:
        k = 2
        if v > 0:
            k = 3
        if v > 1:
            k = 5
        made[k].append(v)
    return [len(c) for c in made.values()], sum(made[3])


def slices(x: Any, n: int) -> Any:
    made: Any = [[x[0], x[1], x[2]], [x[3], x[4], x[5]]]
    for v in x:
        made[int(v > 0)][:2] = [v, 2 * v]
        made[int(v > 1)][::2] = (v * w for w in (3.0, 4.0))
    made[int(x[0] > 0)][1:2] = [x[6], x[7], x[8]]
    return [len(c) for c in made], [sum(c) for c in made]


def all_that_changes(x: Any, n: int) -> Any:
    made: Any = [[x[0]], [], [x[1], x[2]]]
    total = 0.0
    for i, v in enumerate(x):
        k = (i * n) % 3 if v > 0.5 else int(v) % 3 - 1
        made[k].append(v)
        made[k] += [v * v]
        made[k][-1] = made[k][0] + v
        if len(made[k]) > 4:
            total += made[k].pop() - made[k].pop(0)
            made[k].reverse()
        made[k].insert(0, 2.0 * v)
        made[k][0] *= v
        del made[k][0]
    return total, [len(c) for c in made], [sum(c) for c in made]


def alike_at_first(x: Any, n: int) -> Any:
    made = [[0.0], [1.0]]
    for v in x:
        if v > 0.2:
            made[int(v > 1)].append(v)
        made[int(v) % 2][-1] += v
    return [len(c) for c in made], sum(made[0]), sum(made[1])


def of_rows(x: Any, n: int) -> Any:
    rows, made = x.reshape(3, 3), [[x[:3]], [x[3:6]]]
    for row in rows:
        made[np.argmax(row) % 2].append(row)
    return [len(c) for c in made], sum(made[0]) * 1.0, np.array(made[1]).sum()


def of_pairs(x: Any, n: int) -> Any:
    made: Any = [[] for _ in range(3)]
    for i, v in enumerate(x):
        made[int(v) % 3].append((i, v))
    return [sum([i * v for i, v in c]) for c in made]


def held(x: Any, n: int) -> Any:
    made: Any = [[], [x[0]], []]
    total = 0.0
    for v in x:
        c = made[int(v) % 3]
        c.append(v)
        if v > 0:
            c.append(2 * v)
        for w in x[:2]:
            c.append(w * v)
        total += sum(c) + len(c)
    return total, [len(c) for c in made], sum(made[1])


def handed_on(x: Any, n: int) -> Any:
    def put(bucket: Any, v: Any) -> None:
        bucket.append(v)
        bucket.append(np.sin(v))

    made: Any = [[], []]
    for v in x:
        put(made[int(v > 0)], v)
    return [len(c) for c in made], sum(made[1])


def extended(x: Any, n: int) -> Any:
    made: Any = [[], [x[1]], [x[0], x[2]]]
    k = int(x[0] > 0)
    for v in x:
        k = 2 - int(v) % 3
        made[k].extend(v * i for i in range(2))
    made[k - 1] += (w * 2.0 for w in x)
    made[k] += made[k - 1]
    made[k].extend(x)
    made[k].sort(reverse=True)
    return [len(c) for c in made], [c[-1] for c in made[1:]], made[k][0]


def of_two_names(x: Any, n: int) -> Any:
    first: Any = []
    made: Any = [first, [], first]
    for v in x:
        made[int(v) % 3].append(v)
    return len(first), len(made[1]), sum(made[2])


def sorted_by_buckets(x: Any, n: int) -> Any:
    made: Any = [[] for _ in range(n)]
    for v in np.abs(x):
        made[min(int(v * 2), n - 1)].append(v)
    out: Any = []
    for c in made:
        c.sort()
        out += c
    return np.array(out) * np.arange(1, 10)


def out_of_range(x: Any, n: int) -> Any:
    made: Any = [[], [], []]
    for v in x:
        made[int(np.floor(v))].append(v)
    return [len(c) for c in made], sum(made[0])


def neighbours(x: Any, n: int) -> Any:
    linked: Any = [[] for _ in range(n)]
    for i in range(8):
        a, b = int(x[i] * 3) % n, int(x[i + 1] * 3) % n
        linked[a].append(b)
        linked[b].append(a)
    seen, todo, total = [False] * n, [0], 0.0
    while todo:
        u = todo.pop()
        if seen[u]:
            continue
        seen[u] = True
        total += x[u]
        todo.extend([w for w in linked[u] if not seen[w]])
    return total, [len(c) for c in linked]


def which(x: Any, n: int) -> Any:
    made: Any = [[], [x[0]]]
    k = int(x[3] > 0)
    c = made[k]
    c.append(x[1])
    return c is made[0], c is made[1], c is made[k], len(c), sum(c)


ONES = [
    buckets, means, forever, by_key, all_that_changes, alike_at_first, of_rows, of_pairs, held, handed_on, extended,
    of_two_names, slices, sorted_by_buckets, out_of_range, neighbours, which,
]  # fmt: skip
