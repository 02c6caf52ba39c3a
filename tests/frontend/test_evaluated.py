"""`eval` and `exec` see the names that Python's see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

SCALE, TABLE = 2.5, np.array([1.0, -1.0, 0.5])
NAMES = {"np": np, "t": 3.0}


def doubled(v: Any) -> Any:
    return v * 2


def of_the_module(x: Any) -> Any:
    window = "hanning"
    return x * eval("np." + window + "(len(x) + 2)").sum() + eval("SCALE * TABLE") + eval("doubled(x)")


def beside_statements(x: Any) -> Any:
    if len(x) < 2:
        return x
    for _ in range(2):
        x = eval("np.sin(x)")
    return x


def in_scopes_inside(x: Any) -> Any:
    return eval("sum([doubled(v) for v in (SCALE, 2.0)]) + np.sum(x)") + (lambda y: eval("y + SCALE"))(x)


def of_given_names(x: Any) -> Any:
    y = eval("np.cos(a) * t", NAMES | {"a": x}) + eval("a + np.size(b)", {"np": np, "b": 1}, {"a": x})
    return y + eval("SCALE", globals()) + eval("SCALE * q", globals(), {"q": x}) + eval("x + SCALE", None, {"x": 1.0})


def of_code(x: Any) -> Any:
    return eval(compile("np.tanh(x) * SCALE", "<text>", "eval"))


def by_exec(x: Any) -> Any:
    made: dict[str, Any] = {"x": x}
    exec("y = np.exp(x) * SCALE\nz = y + TABLE", globals(), made)
    exec("w = x + z", made)
    return made["y"] + made["z"] + made["w"]


def of_another_name(x: Any) -> Any:
    def eval(text: str) -> float:
        return len(text) * 1.0

    return x * eval("np")


def of_no_name(x: Any) -> Any:
    return x * eval("nowhere")


def scaled(x: Any) -> Any:
    return x * eval("SCALE")


@pytest.mark.parametrize("f", [
    of_the_module, beside_statements, in_scopes_inside, of_given_names, of_code, by_exec, of_another_name,
])  # fmt: skip
def test_texts_have_the_values_that_python_gives_them(f: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(pliant.jit(f)(TABLE * 3), f(TABLE * 3), rtol=1e-13)


def test_a_name_that_is_there_in_no_scope() -> None:
    with pytest.raises(NameError, match="nowhere"):
        pliant.jit(of_no_name)(TABLE)


def test_what_a_text_reads_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = pliant.jit(scaled)
    assert compiled(1.5) == 1.5 * 2.5
    monkeypatch.setitem(globals(), "SCALE", 4.0)
    assert compiled(1.5) == 6.0
