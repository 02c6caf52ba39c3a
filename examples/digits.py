"""Learn to read handwritten digits from a loss in plain NumPy: `python examples/digits.py`.

A network with one hidden layer, trained by Adam on minibatches of scikit-learn's bundled digits (1797 images of 8×8).
Nothing in the model or the loss comes from Pliant; `pliant.value_and_grad` is the only thing asked of it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import pliant

Array = Any
Weights = dict[str, Array]
Data = tuple[Array, Array]  # images f64[n, 64] in [0, 1], labels i64[n]


def scores(w: Weights, X: Array) -> Array:
    """One score per digit for every image."""
    hidden = np.maximum(X @ w["hidden"] + w["hidden_bias"], 0)
    return hidden @ w["out"] + w["out_bias"]


def loss(w: Weights, X: Array, hot: Array) -> Array:
    """Mean cross-entropy against one-hot labels, and a little weight decay."""
    s = scores(w, X)
    s = s - s.max(axis=1, keepdims=True)
    entropy = np.log(np.exp(s).sum(axis=1)) - (hot * s).sum(axis=1)
    return entropy.mean() + 1e-4 * ((w["hidden"] ** 2).sum() + (w["out"] ** 2).sum())


def initial(rng: np.random.Generator, hidden: int = 64) -> Weights:
    """Random weights of the usual size."""
    return {
        "hidden": rng.standard_normal((64, hidden)) * np.sqrt(2 / 64),
        "hidden_bias": np.zeros(hidden),
        "out": rng.standard_normal((hidden, 10)) * np.sqrt(1 / hidden),
        "out_bias": np.zeros(10),
    }


def adam(w: Weights, gradient: Weights, moments: dict[str, Data], step: int, rate: float = 3e-3) -> None:
    """One step of Adam, in place."""
    for name, g in gradient.items():
        m, v = moments.setdefault(name, (np.zeros_like(g), np.zeros_like(g)))
        m += 0.1 * (g - m)
        v += 0.001 * (g * g - v)
        w[name] -= rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)


def load(rng: np.random.Generator) -> tuple[Data, Data]:
    """The digits, shuffled: four fifths to train on, one fifth to test."""
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    X, y = digits.data[order] / 16, digits.target[order]
    n = len(y) * 4 // 5
    return (X[:n], y[:n]), (X[n:], y[n:])


def accuracy(w: Weights, data: Data) -> float:
    """The share of images whose highest score is that of their label."""
    X, y = data
    return float((scores(w, X).argmax(axis=1) == y).mean())


def train(w: Weights, data: Data, test: Data, rng: np.random.Generator, epochs: int) -> list[tuple[float, float]]:
    """Train in place; mean loss and test accuracy after every epoch, shown as they come."""
    X, y = data
    hot = np.eye(10)[y]
    step_of = pliant.value_and_grad(loss)
    moments: dict[str, Data] = {}
    history: list[tuple[float, float]] = []
    step, batch = 0, 64
    for epoch in range(1, epochs + 1):
        total = 0.0
        order = rng.permutation(len(y))
        batches = order[: len(y) // batch * batch].reshape(-1, batch)
        for rows in batches:
            step += 1
            value, gradient = step_of(w, X[rows], hot[rows])
            adam(w, gradient, moments, step)
            total += float(value)
        history.append((total / len(batches), accuracy(w, test)))
        if epoch == 1 or epoch % 5 == 0 or epoch == epochs:
            print(f"epoch {epoch:3d}   loss {history[-1][0]:.4f}   test accuracy {history[-1][1]:.4f}")
    return history


def best_times(fns: list[Callable[[], Any]], rounds: int = 100) -> list[float]:
    """Seconds of the fastest of several calls of each function; they take turns."""
    best = [float("inf")] * len(fns)
    for _ in range(rounds):
        for n, fn in enumerate(fns):
            start = time.perf_counter()
            fn()
            best[n] = min(best[n], time.perf_counter() - start)
    return best


def compare(w: Weights, data: Data) -> None:
    """Print what one pass over the training images takes, compiled and with NumPy alone."""
    args = (w, data[0], np.eye(10)[data[1]])
    sides = [loss, pliant.jit(loss), pliant.value_and_grad(loss)]
    alone, forward, both = (t * 1e3 for t in best_times([partial(side, *args) for side in sides]))
    print(f"loss of {len(data[1])} images: {forward:.2f} ms compiled, {alone:.2f} ms with NumPy alone;", end=" ")
    print(f"{both:.2f} ms with its gradient")


def plot(w: Weights, history: list[tuple[float, float]], test: Data, path: Path) -> None:
    """Curves of the training, and some test images with what the network reads in them."""
    X, y = test
    read = scores(w, X).argmax(axis=1)
    wrong = np.flatnonzero(read != y)
    shown = np.concatenate([wrong[:8], np.flatnonzero(read == y)])[:24]
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.3))
    axes = left.subplots(2, 1, sharex=True)
    for axis, values, label in zip(axes, zip(*history, strict=True), ("loss", "test accuracy"), strict=True):
        axis.plot(range(1, len(values) + 1), values)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[1].set_xlabel("epoch")
    right.suptitle("Test images and what is read (mistakes first, in red)", fontsize=10)
    for axis, i in zip(right.subplots(3, 8).flat, shown, strict=False):
        axis.imshow(X[i].reshape(8, 8), cmap="gray_r")
        axis.set_title(str(read[i]), color="black" if read[i] == y[i] else "red", fontsize=10)
        axis.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(epochs: int = 30, out: Path = Path("out/digits.png")) -> float:
    """Train, report, plot; the test accuracy."""
    rng = np.random.default_rng(0)
    data, test = load(rng)
    w = initial(rng)
    print(f"{len(data[0])} images to train on, {len(test[0])} to test, {sum(a.size for a in w.values())} weights")
    start = time.perf_counter()
    history = train(w, data, test, rng, epochs)
    print(f"trained in {time.perf_counter() - start:.1f} s, tracing and compiling included")
    compare(w, data)
    plot(w, history, test, out)
    print(f"test accuracy {accuracy(w, test):.4f}; plot in {out}")
    return accuracy(w, test)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Learn to read digits from a loss in plain NumPy.")
    parser.add_argument("--epochs", type=int, default=30)
    main(parser.parse_args().epochs)
